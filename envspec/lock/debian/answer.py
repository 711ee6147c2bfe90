"""Reading what apt in a container printed. Nothing in it is trusted: each field has one shape."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from envspec.lock.model import Deb

_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]{1,127}")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+~:-]{0,127}")
_ARCHITECTURE = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_POOL = re.compile(r"(?:[A-Za-z0-9_+~%][A-Za-z0-9._+~%-]*/)+[A-Za-z0-9_+~%][A-Za-z0-9._+~%-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SIZE = re.compile(r"[1-9][0-9]{0,11}")
_SUITE = re.compile(r"[a-z0-9][a-z0-9./-]{0,63}")
_DATE = re.compile(
    r"[A-Z][a-z]{2}, {1,2}\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:UTC|GMT|\+0000)"
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


class OddAnswerError(ValueError):
    """The container printed something that apt does not."""


def read_debs(lines: list[str], wanted: list[tuple[str, str, str]]) -> tuple[Deb, ...]:
    """The packages ``wanted`` (name, version, architecture) among stanzas of `apt-cache show`."""
    found: dict[tuple[str, str, str], Deb] = {}
    fields: dict[str, str] = {}
    for line in [*lines, ""]:
        if line:
            key, _, value = line.partition(": ")
            fields[key] = value
            continue
        if "Filename" in fields:
            deb = _deb(fields)
            found.setdefault((deb.name, deb.version, deb.architecture), deb)
        fields = {}
    missing = [key for key in wanted if key not in found]
    if missing:
        raise OddAnswerError(f"no hash of {missing[0][0]!a}")
    return tuple(found[key] for key in sorted(set(wanted), key=lambda k: (k[0], k[2])))


def read_install(line: str) -> tuple[str, str, str]:
    """(name, version, architecture) of a line `Inst NAME [OLD] (VERSION … [ARCH])`."""
    match = re.match(r"Inst (\S+) (?:\[\S+\] )?\((\S+) .*\[(\S+)\]\)", line)
    if not match:
        raise OddAnswerError(f"{line[:80]!a}")
    name, version, architecture = match.groups()
    return name.partition(":")[0], version, architecture


def read_suites(lines: list[str]) -> tuple[tuple[str, str], ...]:
    """(suite, moment) of each list, from its Release file's fields."""
    suites = set()
    fields: dict[str, str] = {}
    for line in [*lines, ""]:
        if line:
            key, _, value = line.partition(": ")
            fields.setdefault(key, value)
            continue
        suite, code = fields.get("Suite", ""), fields.get("Codename", "")
        name = suite if not code or suite.startswith(f"{code}-") else code
        if fields:
            suites.add((_fit(_SUITE, name), _moment(fields.get("Date", ""))))
        fields = {}
    if not suites:
        raise OddAnswerError("no list has a date")
    return tuple(sorted(suites))


def _deb(fields: dict[str, str]) -> Deb:
    name = _fit(_NAME, fields.get("Package", ""))
    version = _fit(_VERSION, fields.get("Version", ""))
    architecture = _fit(_ARCHITECTURE, fields.get("Architecture", ""))
    pool = _fit(_POOL, fields.get("Filename", "").removeprefix("./"))
    file = f"{name}_{version.replace(':', '%3a')}_{architecture}.deb"
    size = int(_fit(_SIZE, fields.get("Size", "")))
    sha256 = _fit(_SHA256, fields.get("SHA256", ""))
    return Deb(name, version, architecture, file, pool, sha256, size)


def _fit(shape: re.Pattern[str], text: str) -> str:
    if not shape.fullmatch(text):
        raise OddAnswerError(f"{text[:80]!a}")
    return text


def _moment(text: str) -> str:
    day, month, year, clock = _fit(_DATE, text).split()[1:5]
    try:
        hour, minute, second = map(int, clock.split(":"))
        number = _MONTHS.index(month) + 1
        moment = datetime(int(year), number, int(day), hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        raise OddAnswerError(f"{text!a}") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
