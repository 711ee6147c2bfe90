"""E0345: a distributed entry with one process, or with more processes than claimed GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.model import UNSTATED, Entry
from envspec.rules.shared.places import add_after, line_of, value_of
from envspec.rules.view import View

CODE = "E0345"
_LAUNCHER = re.compile(r"--nproc[-_]per[-_]node(?:=(.*))?|--num[-_]?(?:processes|gpus)(?:=(.*))?")
_COUNT = re.compile(r"[1-9]\d{0,3}", re.ASCII)


def check(view: View) -> Iterator[Diagnostic]:
    """One finding an entry of level c4."""
    claims = {c.name: c for c in view.spec.claims if c.value != UNSTATED}
    stated_c4 = next((c.value for c in view.spec.claims if c.name == "c4"), "")
    count = claims.get("gpu_count")
    for entry in view.spec.entries:
        if entry.level != "c4":
            continue
        at = line_of(view.source, entry.span, "processes")
        if entry.processes < 2:
            yield _alone(view, entry)
        # A count of 0, or a C4 that nobody claims, is what an author without the GPUs can say.
        elif count and 1 <= int(count.value) < entry.processes and stated_c4 not in _MODEST:
            if stated_c4 == "pass" and count.value == "1":
                continue  # W0301 says it of the claims
            yield Diagnostic(
                CODE,
                f"entry `{entry.name}` starts {entry.processes} processes, and "
                f"`gpu_count {count.value}` is claimed",
                view.source,
                (Label(at, "processes"), Label(count.span, "claimed here")),
                cause="each process of a collective takes a GPU of its own; NCCL refuses two "
                "on one",
                hint=f"write `processes {count.value}`"
                if count.value != "1"
                else f"claim `gpu_count {entry.processes}`, or leave the claim out",
            )


_MODEST = {UNSTATED, "fail"}


def _alone(view: View, entry: Entry) -> Diagnostic:
    started = _started(entry.argv)
    processes = started if started > 1 else 2
    line = f"processes {processes}"
    at = value_of(view.source, entry.span, "processes")
    fix = None
    if started != 1 and at:
        fix = Fix.replace(at, str(processes), f"write `{line}`")
    elif started != 1:
        edit = add_after(view.source, entry.span, "level", line)
        fix = Fix(f"add `{line}`", (edit,)) if edit else None
    said = f"; its launcher starts {started}" if started > 1 else ""
    return Diagnostic(
        CODE,
        f"entry `{entry.name}` is distributed, and starts one process",
        view.source,
        (
            Label(
                line_of(view.source, entry.span, "processes" if at else "level"),
                "one process" if at else "distributed; without `processes` there is one",
            ),
        ),
        cause=f"level `c4` shows that a collective runs, which takes at least two processes{said}",
        hint="start at least two processes, and write their number as `processes`"
        if started == 1
        else f"write `{line}`, or another level",
        fix=fix,
    )


def _started(argv: tuple[str, ...]) -> int:
    """Processes that the launcher is told to start, 0 where nothing tells."""
    for word, following in zip(argv, (*argv[1:], ""), strict=True):
        match = _LAUNCHER.fullmatch(word)
        if match:
            value = next((g for g in match.groups() if g is not None), following)
            return int(value) if _COUNT.fullmatch(value) else 0
    return 0
