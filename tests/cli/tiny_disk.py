"""Runs a command where a small disk is mounted, and tells what it left there.

    tiny_disk.py MOUNTPOINT SPARE FOLDER WORD …

In a mount namespace of its own: ``MOUNTPOINT`` becomes a file system into which the content of
``FOLDER`` is copied and that is then filled but for ``SPARE`` blocks; the command is run. Prints
one JSON object.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path


def main() -> None:
    point, spare, folder, *argv = sys.argv[1:]
    mounting = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", point]
    subprocess.run(mounting, check=True, capture_output=True)
    shutil.copytree(folder, point, dirs_exist_ok=True)
    room = os.statvfs(point)
    with Path(point, "ballast").open("wb") as ballast:
        ballast.write(bytes(room.f_bsize * (room.f_bavail - int(spare))))
    before = _files(point)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=200, check=False)
    said = {"returncode": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    print(json.dumps({**said, "before": before, "after": _files(point)}))


def _files(point: str) -> list[list[str | int]]:
    root = Path(point)
    found = [p for p in root.rglob("*") if not p.is_relative_to(root / "cache")]
    return sorted([str(p.relative_to(root)), p.lstat().st_size] for p in found)


main()
