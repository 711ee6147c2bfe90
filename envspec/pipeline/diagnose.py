"""`envspec diagnose`: reading a report or a log, and what a spec would have to say instead.

Nothing that a report names is opened but its logs, plain files in the folder beside it. A change is
offered as an edit only where the spec, read again with it, has nothing more wrong than before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from envspec import fixing, rules
from envspec.diagnose import evidence, log
from envspec.diagnose.cases import Case, Told
from envspec.diagnose.changes import edits
from envspec.diagnose.engine import Diagnosis, diagnose
from envspec.diagnose.evidence import Failure
from envspec.diagnose.mends import Mend, propose
from envspec.diagnostics import ERROR, DiagnosticError, Fix
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.pipeline import fix as fixes
from envspec.pipeline import load
from envspec.pipeline.check import of_text
from envspec.source import SourceFile

STDIN = Path("-")
_LONGEST_LOG = 64 << 20


class Read(NamedTuple):
    """A spec that mends are tried on."""

    path: Path
    source: SourceFile
    spec: Spec


def of_report(path: Path) -> list[Failure]:
    """What failed in a report, by its logs where they lie beside it.

    Raises:
        DiagnosticError: E0850 (cannot be read), E0851 (no report).
    """
    data = _bytes(path, evidence.MOST_BYTES + 1, "the report")
    try:
        report = evidence.parse(data)
    except evidence.Unreadable as error:
        raise DiagnosticError.of(
            "E0851",
            f"`{path}` is no report that can be read",
            source=SourceFile(str(path), ""),
            cause=str(error),
            hint="`envspec verify` writes one; give any other text with `--log`",
        ) from None
    folder = path.with_suffix(".logs")
    texts = {}
    for name, file in evidence.logs(report).items():
        # Without its logs the report alone says less, and still something.
        with suppress(DiagnosticError):
            texts[name] = _bytes(folder / file, evidence.MOST_BYTES, "a log")
    return evidence.failures(report, texts)


def of_log(path: Path, data: bytes | None = None) -> list[Failure]:
    """What a log says went wrong. ``data`` stands for the file, which is then not read.

    Raises:
        DiagnosticError: E0850.
    """
    read = _bytes(path, _LONGEST_LOG, "the log") if data is None else data
    name = "standard input" if path == STDIN else str(path)
    outcome = diagnose(log.read(name, read))
    if outcome.found is None and not outcome.candidates:
        return []
    return [Failure("", "", "", outcome)]


def read_spec(path: Path) -> Read:
    """A spec that changes are to be made in.

    Raises:
        DiagnosticError: E0902, E01.., E02..
    """
    source = load.read_spec(path)
    return Read(path, source, resolve(parse(source), source))


def cases(failures: Sequence[Failure], read: Read | None) -> list[Case]:
    """Each failure with what would mend it."""
    return [Case(f, _mends(f, read), read is not None) for f in failures]


def _mends(failure: Failure, read: Read | None) -> tuple[Told, ...]:
    found = failure.outcome.found
    if found is None:
        return ()
    proposed = propose(found, failure.entry, read.spec if read else None)
    if read is None:
        return tuple(Told(m) for m in proposed)
    told = [tried(m, read) for m in proposed]
    return tuple(told + _by_rules(found, read))


def tried(mend: Mend, read: Read) -> Told:
    """A mend with the text after it; not certain where the spec would not be sound with it."""
    if mend.change is None:
        return Told(mend)
    changed = edits(mend.change, read.spec, read.source)
    if not changed:
        return Told(mend._replace(certain=False, change=None, text=_already(mend)))
    text, _ = fixing.apply(read.source.text, [Fix(mend.text, changed)])
    after = SourceFile(read.source.name, text)
    if text == read.source.text or _errors(after) > _errors(read.source):
        return Told(mend._replace(certain=False))
    return Told(mend, after, fixes.diff(read.source, after))


def _already(mend: Mend) -> str:
    return f"{mend.text} (the spec says so already, or has no place for it)"


def _errors(source: SourceFile) -> int:
    return sum(d.severity == ERROR for d in of_text(source))


def _by_rules(found: Diagnosis, read: Read) -> list[Told]:
    """Findings of `envspec check` that say the same of this spec, with their fixes."""
    wanted = set(found.sign.rules or ())
    if not wanted:
        return []
    told = []
    for d in rules.check(read.spec, read.source, {}):
        if d.code in wanted:
            after, shown = None, ""
            if d.fix is not None:
                text, _ = fixing.apply(read.source.text, [d.fix])
                after = SourceFile(read.source.name, text)
                shown = fixes.diff(read.source, after)
            text = f"{d.code}: {d.title}" + (f"; {d.hint}" if d.hint else "")
            told.append(Told(Mend(text, None, after is not None), after, shown))
    return told


def applied(found: Sequence[Case], read: Read) -> tuple[SourceFile, int]:
    """The spec with every mend that needs no decision, and how many those are. Each is tried on
    what the one before has left."""
    now, count = read, 0
    for case in found:
        certain = [t for t in _mends(case.failure, now) if t.mend.certain and t.after is not None]
        if len(certain) == 1 and certain[0].after is not None:
            source = certain[0].after
            now = Read(read.path, source, resolve(parse(source), source))
            count += 1
    return now.source, count


def write(read: Read, after: SourceFile) -> None:
    """Put the changed text where the spec is; see `envspec.pipeline.fix.write`."""
    fixes.write(read.path, read.source, after)


def _bytes(path: Path, limit: int, what: str) -> bytes:
    """The first bytes of a plain file; of a log its end as well is wanted, so limits are wide."""
    why = ""
    try:
        with open(path, "rb", opener=_open) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                why = "it is not a file"
            else:
                return stream.read(limit)
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or "it cannot be opened").lower()
    raise DiagnosticError.of(
        "E0850",
        f"cannot read {what} `{path}`",
        source=SourceFile(str(path), ""),
        cause=why,
        hint="name a file that is there: `envspec verify` writes report.json and report.logs",
    )


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe must not keep us waiting
