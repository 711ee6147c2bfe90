"""What must not change while code under test runs: its source, and the set of packages.

Asked before the first entry and after the last; the host compares the two answers.
"""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import sys
from typing import Any, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _protocol import ProbeError, need, printable, serve

FILES = 20_000
_GENERATED = ("__pycache__",)


def observe(config: Dict[str, Any]) -> Dict[str, Any]:
    """See README.md, `state`."""
    source, prefix = need(config, "source", str), need(config, "prefix", str)
    if not os.path.isdir(source):
        raise ProbeError("NoSource", "%s is not a folder" % printable(source, 300))
    digest, files = hashlib.sha256(), {}
    count = 0
    for path in _walk(source):
        count += 1
        name, said = printable(os.path.relpath(path, source), 300), _digest(path)
        digest.update(("%s %s\n" % (said, name)).encode("utf-8"))
        if count <= FILES:
            files[name] = said[:16]
    return {
        "files": files if len(files) <= 5000 else {},
        "count": count,
        "source_digest": digest.hexdigest(),
        "packages_digest": _packages(prefix),
    }


def _walk(root: str) -> List[str]:
    found: List[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _GENERATED)
        found.extend(os.path.join(folder, name) for name in sorted(names))
    return found


def _digest(path: str) -> str:
    """Content and mode of a file; the target of a link; the kind of anything else."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()
    if not stat.S_ISREG(status.st_mode):
        return "special-%o" % stat.S_IFMT(status.st_mode)
    digest = hashlib.sha256(b"%o " % (status.st_mode & 0o111))
    with open(path, "rb") as handle:
        for block in iter(lambda: handle.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _packages(prefix: str) -> str:
    """One digest over the records of everything installed."""
    digest = hashlib.sha256()
    pattern = os.path.join(glob.escape(prefix), "lib", "python3*", "site-packages", "*-info")
    for folder in sorted(glob.glob(pattern)):
        digest.update(os.fsencode(os.path.basename(folder)) + b"\n")
        record = os.path.join(folder, "RECORD")
        if os.path.isfile(record):
            digest.update(_digest(record).encode("ascii"))
    return digest.hexdigest()


if __name__ == "__main__":
    serve(["state"], observe)
