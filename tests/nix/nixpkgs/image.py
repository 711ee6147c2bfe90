"""A Docker archive of one layer, at $out: the closure of `contents`, links to what they hold."""

import datetime as dt
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

name, tag, settings_path, *contents = sys.argv[1:]
settings = json.loads(Path(settings_path).read_text())
created = settings["created"]
moment = int(dt.datetime.fromisoformat(created.replace("Z", "+00:00")).timestamp())
paths = set()
for graph in sorted(Path().glob("graph-*")):
    paths |= {
        line
        for line in graph.read_text().splitlines()
        if line.startswith("/") and not line.endswith(".drv")
    }
root = Path("root")
root.mkdir()
for content in contents:
    for path in sorted(Path(content).rglob("*")):
        target = root / path.relative_to(content)
        if path.is_dir() and not path.is_symlink():
            target.mkdir(parents=True, exist_ok=True)
        elif not target.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
subprocess.run(["bash", "-ec", os.environ["extraCommands"]], cwd=root, check=True)  # noqa: SIM112


def add(archive, source, inside):
    entry = archive.gettarinfo(str(source), inside)
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = moment
    if entry.isreg():
        with Path(source).open("rb") as stream:
            archive.addfile(entry, stream)
    else:
        archive.addfile(entry)


with tarfile.open("layer.tar", "w") as layer:
    for top in sorted(paths):
        add(layer, top, top.lstrip("/"))
        if Path(top).is_dir() and not Path(top).is_symlink():
            for path in sorted(Path(top).rglob("*")):
                add(layer, path, str(path).lstrip("/"))
    for path in sorted(root.rglob("*")):
        add(layer, path, str(path.relative_to(root)))
digest = hashlib.sha256(Path("layer.tar").read_bytes()).hexdigest()
config = json.dumps(
    {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": settings["config"],
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
).encode()
manifest = [{"Config": "config.json", "RepoTags": [f"{name}:{tag}"], "Layers": ["layer.tar"]}]
with (
    gzip.GzipFile(os.environ["out"], "wb", 1, mtime=0) as packed,  # noqa: SIM112
    tarfile.open(fileobj=packed, mode="w") as archive,
):
    for file, content in (
        ("config.json", config),
        ("manifest.json", json.dumps(manifest).encode()),
    ):
        entry = tarfile.TarInfo(file)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    add(archive, "layer.tar", "layer.tar")
