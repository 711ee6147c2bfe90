"""Requirements of an archive, as they are for the target. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion

from envspec.lock.request import Request
from envspec.lock.target import machine
from envspec.names import normalise

_LONGEST = 2000
_MOST = 500


class Need(NamedTuple):
    """What is required of a package: its normalised name, extras, and PEP 440 specifier."""

    name: str
    extras: tuple[str, ...]
    specifier: str


class WrongRequirementError(Exception):
    """A requirement that cannot be taken over; ``reason`` is a sentence's end about ``line``."""

    def __init__(self, line: str, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


def needed(lines: Iterable[str], request: Request) -> tuple[Need, ...]:
    """Requirements that hold for the target, in order. Those of extras do not.

    Raises:
        WrongRequirementError: a line that is no requirement, or that names an address: what is
            there may change, and no index vouches for it.
    """
    given = environment(request)
    found: list[Need] = []
    for number, line in enumerate(lines):
        if len(line) > _LONGEST or number >= _MOST:
            raise WrongRequirementError(line[:80], "is more than any package requires")
        try:
            requirement = Requirement(line)
            applies = requirement.marker is None or requirement.marker.evaluate(given)
        except (
            InvalidRequirement, InvalidVersion, UndefinedComparison, UndefinedEnvironmentName
        ):  # fmt: skip
            raise WrongRequirementError(line, "is no requirement of PEP 508") from None
        if not applies:
            continue
        if requirement.url:
            raise WrongRequirementError(line, "names an address in place of a release")
        extras = tuple(sorted(map(normalise, requirement.extras)))
        found.append(Need(normalise(requirement.name), extras, str(requirement.specifier)))
    return tuple(found)


def environment(request: Request) -> dict[str, str]:
    """The variables of PEP 508 for the target. ``X.Y`` stands for its first patch release, as it
    does for the resolvers."""
    full = request.python if request.python.count(".") > 1 else f"{request.python}.0"
    return {
        "implementation_name": "cpython",
        "implementation_version": full,
        "os_name": "posix",
        "platform_machine": machine(request),
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": full,
        "python_version": ".".join(request.python.split(".")[:2]),
        "sys_platform": "linux",
        "extra": "",
    }
