"""OCI archives, made by hand: what is read of them, and what is found to differ."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from envspec.build import oci

FILES = {"a.txt": (b"one", 0o644, 0), "bin/run": (b"two", 0o755, 0)}


def packed(members: dict[str, tuple[bytes, int, int]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, (content, mode, mtime) in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(content), mode, mtime
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def archive(
    path: Path,
    *layers: dict[str, tuple[bytes, int, int]],
    history: list[dict[str, Any]] | None = None,
    label: str = "",
) -> oci.Archive:
    blobs = {}

    def keep(content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return f"sha256:{digest}"

    digests = [keep(packed(layer)) for layer in layers]
    made = [{"created_by": f"RUN step {n} # buildkit"} for n in range(len(layers))]
    settings = {"config": {"Labels": {"x": label}}, "history": history or made}
    config = keep(json.dumps(settings).encode())
    manifest = keep(
        json.dumps(
            {"config": {"digest": config}, "layers": [{"digest": d} for d in digests]}
        ).encode()
    )
    blobs["index.json"] = json.dumps({"manifests": [{"digest": manifest}]}).encode()
    with tarfile.open(path, "w") as tar:
        for name, content in blobs.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return oci.read(path)


def test_the_same_image_differs_in_nothing(tmp_path: Path) -> None:
    one, two = (archive(tmp_path / n, FILES) for n in ("1", "2"))
    assert one.digest == two.digest
    assert oci.compare(one, two) == ()


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"a.txt": (b"ONE", 0o644, 0)}, "content"),
        ({"a.txt": (b"longer", 0o644, 0)}, "size, content"),
        ({"a.txt": (b"one", 0o600, 0)}, "mode"),
        ({"a.txt": (b"one", 0o644, 7)}, "time"),
        ({"new": (b"", 0o644, 0)}, "is in one build only"),
    ],
)
def test_a_difference_names_the_file_and_the_step(
    tmp_path: Path, changed: dict[str, tuple[bytes, int, int]], what: str
) -> None:
    one = archive(tmp_path / "1", FILES, FILES)
    two = archive(tmp_path / "2", FILES, {**FILES, **changed})
    assert one.digest != two.digest
    (found,) = oci.compare(one, two)
    assert found == (next(iter(changed)), what, "RUN step 1 # buildkit")


def test_another_order_is_a_difference_too(tmp_path: Path) -> None:
    one = archive(tmp_path / "1", FILES)
    two = archive(tmp_path / "2", dict(reversed(FILES.items())))
    (found,) = oci.compare(one, two)
    assert found.file == "(the archive itself)"


def test_settings_and_layers_are_compared(tmp_path: Path) -> None:
    one = archive(tmp_path / "1", FILES)
    assert oci.compare(one, archive(tmp_path / "2", FILES, label="other"))[0].file == (
        "(image settings)"
    )
    assert oci.compare(one, archive(tmp_path / "3", FILES, FILES))[0].what == "1 layers, then 2"


def test_layers_of_a_base_without_history_have_no_step(tmp_path: Path) -> None:
    history = [{"created_by": "ENV A=1", "empty_layer": True}, {"created_by": "RUN x"}]
    found = archive(tmp_path / "1", FILES, FILES, history=history)
    assert [layer.made_by for layer in found.layers] == ["", "RUN x"]


def test_what_is_no_archive_of_one_image_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with tarfile.open(path, "w") as tar:
        content = b'{"manifests": []}'
        info = tarfile.TarInfo("index.json")
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    with pytest.raises(ValueError, match="it holds 0"):
        oci.read(path)
