"""Questions about one candidate: does it run on this GPU, this driver, this base? Pure.

Every answer is True, False, or None where the facts do not tell.
"""

from __future__ import annotations

from functools import lru_cache

from envspec.facts import lookup
from envspec.facts.device_code import arch, binary_runs_on, parse_sm, torch_runs_on
from envspec.facts.rows import TorchBuild
from envspec.facts.tables import rows
from envspec.facts.versions import at_least, older, version

Answer = bool | None

_remembered = lru_cache(maxsize=8192)  # what is asked comes from specs, so there is no end of it


def both(*answers: Answer) -> Answer:
    """False where one is, else None where one is."""
    return False if False in answers else None if None in answers else True


@_remembered
def covers(row: TorchBuild, sm: str) -> Answer:
    """Whether a build has code for a GPU.

    Where its architectures were not read, there is still code it cannot have: for GPUs that its
    toolkit does not compile for, and for GPUs older than all that the same build of the release
    before had code for. Architectures are dropped for good.
    """
    if row.architectures is not None:
        return torch_runs_on(row, sm)
    if row.cuda and compiles_for(row.cuda, sm) is False:
        return False
    oldest, asked = _oldest_before(row), parse_sm(sm)
    return False if oldest and asked and asked[:2] < oldest else None


def _oldest_before(row: TorchBuild) -> tuple[int, int] | None:
    """The oldest architecture of the same build in the newest earlier release that was read."""
    at = version(row.release) or ()
    earlier = [
        (version(other.release) or (), other.architectures)
        for other in rows(TorchBuild)
        if (other.build, other.machine) == (row.build, row.machine) and other.architectures
    ]
    before = [one for one in earlier if one[0][:2] < at[:2]]
    if not before:
        return None
    sms = [parse_sm(name) for name in max(before)[1] or ()]
    return min(sm[:2] for sm in sms if sm)


@_remembered
def by_ptx(row: TorchBuild, sm: str) -> bool:
    """Whether a build reaches a GPU through PTX alone."""
    native = row.architectures is not None and binary_runs_on(row.architectures, (), sm)
    return not native and covers(row, sm) is True


@_remembered
def compiles_for(toolkit: str, sm: str) -> Answer:
    """Whether nvcc of a toolkit compiles for a GPU; None for one that the tables lack."""
    row = arch(sm)
    if row is None:
        return None
    parts = (version(toolkit) or ())[:2]
    asked = ".".join(map(str, parts))
    if row.last_toolkit and at_least(row.last_toolkit, asked) is False:
        return False
    return True if row.first_toolkit is None else at_least(asked, row.first_toolkit)


@_remembered
def floor(cuda: str) -> str:
    """Oldest driver for native code of a CUDA release, ``""`` where not known."""
    row = lookup.driver_floor(cuda)
    return row.linux if row else ""


@_remembered
def ptx_driver(cuda: str) -> str:
    """Oldest driver for PTX of a CUDA release, ``""`` where not known."""
    return lookup.required_driver(cuda, relies_on_ptx=True) or ""


def needed_driver(row: TorchBuild, gpus: tuple[str, ...]) -> str:
    """Oldest driver that runs a build on some GPUs, ``""`` where not known."""
    cuda = row.cuda or ""
    wanted = [floor(cuda), *(ptx_driver(cuda) for sm in gpus if by_ptx(row, sm))]
    if not all(wanted):
        return ""
    return max(wanted, key=lambda text: version(text) or ())


@_remembered
def new_enough(driver: str, wanted: str) -> Answer:
    """Whether a driver is at least the one that is wanted. A branch (``525``) is as good as its
    drivers (``525.60.13``)."""
    return not older(driver, wanted) if wanted else None


@_remembered
def python_fits(found: str, lowest: str, highest: str) -> Answer:
    """Whether a Python release is from ``lowest`` to ``highest``, patches aside."""
    asked, first, last = (version(text) for text in (found, lowest, highest))
    if asked is None or first is None or last is None:
        return None
    return first[:2] <= asked[:2] <= last[:2]


@_remembered
def sm_reaches(sm: str, lowest: str) -> Answer:
    """Whether a GPU is of an architecture or newer."""
    have, want = parse_sm(sm), parse_sm(lowest)
    return None if have is None or want is None else have[:2] >= want[:2]


@_remembered
def starts(found: str | None, asked: str) -> Answer:
    """Whether a version is of the release that is asked for: `9.10.2.21` is of `9.10`."""
    if found is None:
        return None
    have, want = version(found), version(asked)
    return None if have is None or want is None else have[: len(want)] == want
