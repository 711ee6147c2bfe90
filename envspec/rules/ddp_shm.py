"""W0344: several processes without a size for `/dev/shm`.

NCCL and the workers of data loaders exchange buffers there, and a container has 64 MiB of it
unless somebody asks for more. What does not fit ends in `Bus error` or a hang.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Fix, Label
from envspec.facts.build_memory import GIB
from envspec.rules.shared.places import add_block, add_line
from envspec.rules.view import View

CODE = "W0344"
_MOST = 16


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for all entries, at the first."""
    spec = view.spec
    entries = [e for e in spec.entries if e.level == "c4" or e.processes > 1]
    if spec.resources.shm or not entries:
        return
    first = entries[0]
    size = _size(max(2, *(e.processes for e in entries)), spec.resources.memory)
    yield Diagnostic(
        CODE,
        f"entry `{first.name}` runs several processes, and `resources` has no `shm`",
        view.source,
        tuple(Label(e.span, "several processes") for e in entries[:5]),
        cause="NCCL and the workers of data loaders exchange buffers in `/dev/shm`, and a "
        "container has 64 MiB of it unless more is asked for",
        hint=f"write `shm {size}` in `resources`",
        fix=_fix(view, size),
        severity=WARNING,
    )


def _size(processes: int, memory: int) -> str:
    """1 GiB a process, as NVIDIA advises for NCCL; at most half of the memory, where stated."""
    wanted = min(processes, _MOST) * GIB
    if memory:
        wanted = min(wanted, max(1 << 20, memory // 2))
    return f"{wanted >> 20}MiB" if wanted % GIB else f"{wanted // GIB}GiB"


def _fix(view: View, size: str) -> Fix | None:
    spec, source = view.spec, view.source
    line = f"shm {size}"
    if spec.resources.span.end:
        edit = add_line(source, spec.resources.span, line)
    else:
        accelerator = spec.accelerator.span
        after = accelerator if accelerator.end else spec.platform.span
        edit = add_block(source, after, f"resources {{\n  {line}\n}}")
    return Fix(f"add `{line}`", (edit,)) if edit else None
