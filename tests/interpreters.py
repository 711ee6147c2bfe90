"""The Python interpreters of this machine, for tests that must hold on each of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


def interpreters(version: str) -> Iterator[str]:
    """Programs named python<version> on PATH that really are that version."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which(f"python{version}", path=folder)
        if found is None:
            continue
        code = "import sys; print('%d.%d %s' % (*sys.version_info[:2], sys.executable))"
        said = subprocess.run([found, "-c", code], capture_output=True, text=True, check=False)
        if said.stdout.startswith(version + " "):
            yield said.stdout.split(" ", 1)[1].strip()
    # A version manager's shims lead to its own folder of versions.
    shim = shutil.which(f"python{version}")
    versions = Path(shim).parents[1] / "versions" if shim else None
    if versions is not None and versions.is_dir():
        yield from sorted(map(str, versions.glob(f"{version}.*/bin/python")))
