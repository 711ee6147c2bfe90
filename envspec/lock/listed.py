"""Reading a resolver's requirements file: what is pinned, and who asked for it."""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.names import normalise

# The name under which the spec's own packages are handed to a resolver.
PROJECT = "envspec-request"

_PIN = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;\\]+)")
_VIA = re.compile(r"\s+#\s+(?:via(?:\s+|\Z))?(\S.*)?")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?")


class Listed(NamedTuple):
    """A pinned version and the names that require it, ``spec`` for the spec itself."""

    version: str
    parents: tuple[str, ...]


def read_listed(text: str) -> dict[str, Listed]:
    """Pins by name, from requirements with annotations in the split style."""
    versions: dict[str, str] = {}
    parents: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if pin := _PIN.match(line):
            name = normalise(pin[1])
            versions[name] = pin[2]
            parents.setdefault(name, [])
        elif name and (via := _VIA.fullmatch(line)) and via[1]:
            who = via[1].strip()
            if who.startswith((PROJECT, "-r ")):
                parents[name].append("spec")
            elif _NAME.fullmatch(who):
                parents[name].append(normalise(who.partition("[")[0]))
    return {
        name: Listed(version, tuple(dict.fromkeys(parents[name])))
        for name, version in versions.items()
    }
