"""Applying the fixes of findings to a spec, and writing the result.

Nothing is written that has more wrong with it than what was there, over a file that has changed
since it was read, or over one that its owner made read-only.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from envspec import fixing
from envspec.diagnostics import ERROR, Diagnostic, DiagnosticError, Fix
from envspec.emit.publish import unbroken
from envspec.source import SourceFile, Span

MAX_ROUNDS = 10
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
Check = Callable[[SourceFile], tuple[Diagnostic, ...]]


class Fixed(NamedTuple):
    """A text after its fixes: how many of each code were applied, and the findings that remain."""

    source: SourceFile
    counts: tuple[tuple[str, int], ...]
    findings: tuple[Diagnostic, ...]


def fix(source: SourceFile, findings: Sequence[Diagnostic], check: Check) -> Fixed:
    """Apply fixes, check again, and go on until nothing changes. Pure where ``check`` is.

    A round that would leave more wrong than there was is taken fix by fix, without those that do.
    """
    counts: Counter[str] = Counter()
    remaining = tuple(findings)
    refused: set[_Key] = set()
    for _ in range(MAX_ROUNDS):
        wanted = [d for d in remaining if d.source is source and d.fix and _key(d) not in refused]
        if not wanted:
            break
        before = _wrong(remaining)
        step = _step(source, wanted, check)
        # Each fix has to take its own finding away: else one could hide behind the others.
        if step is None or step.wrong > _wrong(d for d in remaining if d not in wanted):
            alone = [(d, _step(source, [d], check)) for d in wanted]
            good = [d for d, one in alone if one is not None and one.wrong <= before]
            refused.update(_key(d) for d in wanted if d not in good)
            step = _step(source, good, check)
            if step is None or step.wrong > before:
                step = _step(source, good[:1], check)
        if step is None:
            break
        source, remaining = step.source, step.findings
        counts.update(step.codes)
    return Fixed(source, tuple(sorted(counts.items())), remaining)


_Key = tuple[str, str, tuple[str, ...]]


def _key(d: Diagnostic) -> _Key:
    """What makes a fix the same in a text that has moved."""
    return d.code, d.title, tuple(e.replacement for e in d.fix.edits) if d.fix else ()


class _Step(NamedTuple):
    """A text after some fixes, what is found in it, how wrong that is, and the codes fixed."""

    source: SourceFile
    findings: tuple[Diagnostic, ...]
    wrong: tuple[int, ...]
    codes: tuple[str, ...]


def _step(source: SourceFile, wanted: Sequence[Diagnostic], check: Check) -> _Step | None:
    """The text after the fixes of some findings; None where that changes nothing."""
    fixes: dict[Fix, str] = {}
    for d in wanted:
        if d.fix is not None:
            fixes.setdefault(_with_its_line_ends(source, d.fix), d.code)
    chosen = fixing.choose(fixes)
    text, _ = fixing.apply(source.text, chosen)
    if text == source.text:
        return None
    changed = SourceFile(source.name, text)
    after = check(changed)
    return _Step(changed, after, _wrong(after), tuple(fixes[f] for f in chosen))


def _with_its_line_ends(source: SourceFile, fix: Fix) -> Fix:
    """The fix with line ends as the file has them."""
    newlines = source.text.count("\n")
    if not newlines or source.text.count("\r\n") < newlines:
        return fix
    edits = (
        e._replace(replacement=e.replacement.replace("\r\n", "\n").replace("\n", "\r\n"))
        for e in fix.edits
    )
    return fix._replace(edits=tuple(edits))


def _wrong(findings: Iterable[Diagnostic]) -> tuple[int, ...]:
    """Errors by phase. Fewer in an early phase outweigh more in a later one, which then sees
    more: a statement whose word is wrong is not read, one that is read can have errors, and a
    package that becomes an extension is looked at as one."""
    codes = [d.code for d in findings if d.severity == ERROR]
    shape = sum(code.startswith("E01") for code in codes)
    words = codes.count("E0201")
    meaning = sum(code.startswith("E02") for code in codes) - words
    misplaced = codes.count("E0340")
    rest = len(codes) - shape - words - meaning - misplaced
    return shape, words, meaning, misplaced, rest


def diff(before: SourceFile, after: SourceFile) -> str:
    """The change as `patch` takes it, ``""`` where there is none."""
    old, new = (_LINE.findall(s.text) for s in (before, after))
    lines = unified_diff(old, new, before.name, before.name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write(path: Path, before: SourceFile, after: SourceFile) -> None:
    """Put the new text where the old one is, whole or not at all. A link stays a link, and the
    file keeps its permissions.

    Raises:
        DiagnosticError: E0603 (read-only, changed meanwhile, cannot be written), E0504.
    """
    try:
        target = Path(os.path.realpath(path, strict=True))  # pathlib's own fails on a loop
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _refused(before, "it is not a file", "fix a file, and put it where it belongs")
        if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise _refused(before, "it is read-only", "make it writable, or use `--diff`")
        with unbroken():
            _replace(target, status, before, after)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DiagnosticError.of(
                "E0504",
                f"no space left to write `{path}`",
                source=before,
                span=Span(0, 0),
                cause="nothing was changed",
                hint="free some space",
            ) from None
        why = (error.strerror or "unknown error").lower()
        raise _refused(before, why, "check the permissions of it and of its folder") from None


def _replace(target: Path, status: os.stat_result, before: SourceFile, after: SourceFile) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(after.text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(OSError):  # only root gives a file away
            os.chown(temporary, status.st_uid, status.st_gid)
        temporary.chmod(stat.S_IMODE(status.st_mode))
        if target.read_bytes() != before.text.encode("utf-8"):
            raise _refused(before, "it has changed since it was read", "run the command again")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _refused(source: SourceFile, why: str, hint: str) -> DiagnosticError:
    return DiagnosticError.of(
        "E0603",
        f"cannot write `{source.name}`: {why}",
        source=source,
        span=Span(0, 0),
        cause="nothing was changed",
        hint=hint,
    )
