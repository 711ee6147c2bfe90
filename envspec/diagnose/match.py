"""Which signs the lines of a log show: the evidence, before anybody chooses between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from envspec.diagnose.log import Line, Log
from envspec.diagnose.tracebacks import Traceback
from envspec.facts.failure_rows import Sign
from envspec.facts.failures import Compiled, signs

_NEEDLE = "needle"
# Before an error that somebody talks about, prints or raises in source, stand words like these.
_TALK = re.compile(
    r"(?:^|[\s(\"'*_-])(?:i|you|we|they|he|she|if|when|whenever|see|seen|getting|got|gets|such as|"
    r"like|fix|fixes|fixed|about|means|avoid|avoids|error message|because of|prints?|instead of|"
    r"should|would|could|may|might|handle[sd]?|catch|todo|note|hint|mentions?|expects?|"
    r"documents?|explains?|says?|said|reports?|known|search|grep|echo)(?:[\s:,*_]|$)"
    r"|(?:^|\W)(?:raise|assert|print|def|except|logger|logging|match|contains)\W",
    re.IGNORECASE,
)
_REPORTED = re.compile(r"because of the following error")
_IMPORTS = ("ImportError", "ModuleNotFoundError")


class Hit(NamedTuple):
    """A sign that a line shows. ``position`` is that of the line in the log; ``traceback`` that of
    its traceback in ``chain``, -1 for a line outside of them. ``strength`` is the weight of the
    sign, 0 where the program went on."""

    sign: Sign
    position: int
    values: Mapping[str, str]
    strength: int
    chain: int = -1
    traceback: int = -1


class _Where(NamedTuple):
    """What a line is part of."""

    chain: int
    traceback: int
    exceptions: tuple[str, ...]
    files: tuple[str, ...]
    frame: str


_OUTSIDE = _Where(-1, -1, (), (), "")


def hits(log: Log, chains: Sequence[Sequence[Traceback]]) -> list[Hit]:
    """The strongest sign of each line that shows one, in the order of the lines."""
    where = _places(log, chains)
    text = "\n".join(line.body for line in log.lines)
    needed = [c for c in signs() if _possible(c.sign, text)]
    found: list[Hit] = []
    seen: dict[tuple[str, tuple[str, ...]], list[Hit]] = {}
    for position, line in enumerate(log.lines):
        key = (line.body, line.exceptions)
        place = where.get(position, _OUTSIDE)
        if place is _OUTSIDE and key in seen:
            # The same line again says no more: logs repeat themselves, hostile ones a lot.
            found += [h._replace(position=position) for h in seen[key]]
            continue
        best = max(_of_line(line, place, needed), key=lambda h: h.strength, default=None)
        now = [] if best is None else [best._replace(position=position)]
        if place is _OUTSIDE:
            seen[key] = now
        found += now
    return found


def _possible(sign: Sign, text: str) -> bool:
    if sign.needles is None:
        return bool(sign.exceptions)
    return any(needle in text for needle in sign.needles)


def _of_line(line: Line, place: _Where, needed: Sequence[Compiled]) -> Iterator[Hit]:
    exceptions = line.exceptions or place.exceptions
    for sign, pattern in needed:
        if sign.exceptions is not None and not any(e in sign.exceptions for e in exceptions):
            continue
        if sign.frame is not None and sign.frame != place.frame:
            continue
        if sign.within is not None and not any(sign.within in f for f in place.files):
            continue
        values = _values(sign, pattern, line)
        if values is None:
            continue
        survived = line.survived and not sign.warns
        strength = 0 if survived else sign.weight
        yield Hit(sign, -1, values, strength, place.chain, place.traceback)


def _values(sign: Sign, pattern: re.Pattern[str] | None, line: Line) -> dict[str, str] | None:
    """What the pattern captures; None where the line does not show the sign."""
    if sign.needles is None:
        # Known by the name of its exception, which has to be on this very line.
        if not line.exceptions or not any(e in (sign.exceptions or ()) for e in line.exceptions):
            return None
        return {}
    at = -1
    for needle in sign.needles:
        at = line.body.find(needle)
        if at >= 0:
            break
    if at < 0 or pattern is None:
        return None
    if not line.exceptions and _is_talk(line.body[:at]):
        return None
    matched = pattern.match(line.body, at) if sign.at == _NEEDLE else pattern.match(line.message)
    if matched is None:
        return None
    values = {k: v for k, v in matched.groupdict().items() if v}
    if sign.at == _NEEDLE:
        words = line.body[:at].rstrip(": ").split()
        values["before"] = words[-1] if words else "a library"
    return values


def _is_talk(before: str) -> bool:
    """Whether what stands before an error says that somebody only talks about it."""
    if _TALK.search(before) or before.count("`") % 2:
        return True
    quote = before.rstrip()[-1:]
    return quote in {'"', "'"} and before.count(quote) % 2 == 1


def _places(log: Log, chains: Sequence[Sequence[Traceback]]) -> dict[int, _Where]:
    """For the lines of a traceback from its exception on: whose they are."""
    where: dict[int, _Where] = {}
    for number, chain in enumerate(chains):
        for index, traceback in enumerate(chain):
            last = number == len(chains) - 1 and index == len(chain) - 1
            frame = (log.innermost if last else "") or traceback.innermost
            line = log.lines[traceback.end]
            exceptions = line.exceptions
            if _REPORTED.search(line.body):
                exceptions = (*exceptions, *_IMPORTS)
            place = _Where(number, index, exceptions, traceback.files, frame)
            for position in range(traceback.end, traceback.last + 1):
                where[position] = place
    return where
