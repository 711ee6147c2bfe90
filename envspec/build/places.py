"""Where the logical paths of a run stand on this machine, and the environment it sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envspec.build.isolate import SCRATCH
from envspec.build.protocol import Built, Invocation
from envspec.plan.model import PREFIX

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class Places:
    """The mapping of one run. ``scratch`` stands for ``/tmp``; None where that is its own."""

    def __init__(self, built: Built, invocation: Invocation, scratch: Path | None) -> None:
        mounts = [(m.inside.rstrip("/"), str(m.host.absolute())) for m in invocation.mounts]
        # The longest first: a mount may lie inside another one, or inside a root.
        mounts.sort(key=lambda pair: -len(pair[0]))
        own = [(SCRATCH, str(scratch))] if scratch is not None else []
        self._pairs = (*mounts, *built.roots, *own)

    def real(self, text: str) -> str:
        """A path as it is on this machine; any other text as it is."""
        for logical, real in self._pairs:
            if text == logical or text.startswith(logical + "/"):
                return real + text[len(logical) :]
        return text

    def environment(self, what: dict[str, Any], invocation: Invocation) -> dict[str, str]:
        """Nothing of ours but the locale; the plan's own variables (from the marker ``what``),
        then the caller's. Without ``gpus`` none is shown, as in a container."""
        logical: dict[str, str] = {
            "PATH": f"{PREFIX}/bin:{SYSTEM_PATH}",
            "HOME": SCRATCH,
            "TMPDIR": SCRATCH,
            "LANG": "C.UTF-8",
            "PYTHONPATH": ":".join(what["import_roots"]),
            **({} if invocation.gpus else {"CUDA_VISIBLE_DEVICES": ""}),
            **dict(what["environment"]),
            **dict(invocation.environment),
        }
        return {
            name: ":".join(self.real(part) for part in value.split(":"))
            for name, value in logical.items()
        }
