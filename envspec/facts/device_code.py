"""Which GPU runs which device code: NVIDIA's compatibility rules, on SMs by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from envspec.facts.rows import Arch, TorchBuild
from envspec.facts.tables import rows

_SM = re.compile(r"(?:sm_|compute_)?(?:(\d+)\.(\d)|(\d{1,3})(\d))([af]?)", re.ASCII)


class Sm(NamedTuple):
    """A compute capability; ``suffix`` is ``a`` (this chip only), ``f`` (its family) or empty."""

    major: int
    minor: int
    suffix: str = ""


def parse_sm(text: str) -> Sm | None:
    """Read ``9.0a``, ``90a``, ``sm_90a`` or ``compute_90a``; None where it is none of these."""
    match = _SM.fullmatch(text)
    if match is None:
        return None
    return Sm(int(match[1] or match[3]), int(match[2] or match[4]), match[5])


def sm_name(capability: str) -> str:
    """A compute capability as a spec writes it: ``9.0`` is ``sm_90``."""
    return f"sm_{capability.replace('.', '')}"


def capability(sm: str) -> str:
    """An SM as NVIDIA and torch write it: ``sm_90a`` is ``9.0a``; ``""`` where it is none."""
    read = parse_sm(sm)
    return f"{read.major}.{read.minor}{read.suffix}" if read else ""


def arch(sm: str) -> Arch | None:
    """The row of an SM, in any spelling; a suffixed SM has a row of its own or none."""
    asked = parse_sm(sm)
    return next((row for row in rows(Arch) if parse_sm(row.sm) == asked), None) if asked else None


def closest_arch(sm: str) -> Arch | None:
    """The known SM, without a suffix, whose number is nearest; of two the older one."""
    asked = parse_sm(sm)
    if asked is None:
        return None
    number = 10 * asked.major + asked.minor
    known = [(parse_sm(row.sm), row) for row in rows(Arch)]
    near = [(abs(10 * sm.major + sm.minor - number), sm, row) for sm, row in known
            if sm and not sm.suffix and not row.tegra]  # fmt: skip
    return min(near)[2] if near else None


def is_newer_than_known(sm: str) -> bool:
    """Whether an SM has a higher number than every one in the table."""
    asked = parse_sm(sm)
    known = [parse_sm(row.sm) for row in rows(Arch)]
    return asked is not None and all(asked[:2] > k[:2] for k in known if k)


def binary_runs_on(sass: Iterable[str], ptx: Iterable[str] | None, sm: str) -> bool | None:
    """Whether device code runs on a GPU.

    Native code runs on the same major at the same or a higher minor, ``a`` on exactly its chip,
    ``f`` on its family from its own minor up. PTX runs on its SM and every newer one (given a
    driver of its toolkit: `required_driver`). None where nothing decides: ``ptx`` is None (not
    known), a name is not an SM, or only NVIDIA's Tegra parts, without a promise, would match.
    """
    device = parse_sm(sm)
    if device is None:
        return None
    answers = [_sass_runs(parse_sm(name), device) for name in sass]
    answers += [None] if ptx is None else [_ptx_runs(parse_sm(name), device) for name in ptx]
    if True in answers:
        return True
    return None if None in answers else False


def torch_runs_on(row: TorchBuild, sm: str) -> bool | None:
    """Whether a torch build has device code for a GPU; None where the table cannot tell."""
    if row.architectures is None:
        return None
    # torch adds PTX to SMs of its list only, so unknown PTX is at most PTX of all of them.
    most = row.architectures if row.ptx is None else row.ptx
    if binary_runs_on(row.architectures, most, sm) is False:
        return False
    return binary_runs_on(row.architectures, row.ptx, sm)


def _sass_runs(code: Sm | None, device: Sm) -> bool | None:
    if code is None:
        return None
    if code.major != device.major or code.minor > device.minor:
        return False
    if code.minor == device.minor:
        return True
    if code.suffix == "a":
        return False
    return None if _is_tegra(code) or _is_tegra(device) else True


def _ptx_runs(code: Sm | None, device: Sm) -> bool | None:
    if code is None:
        return None
    if code.suffix == "a":
        return code[:2] == device[:2]
    if code.suffix == "f":
        return code.major == device.major and code.minor <= device.minor
    return code[:2] <= device[:2]


def _is_tegra(sm: Sm) -> bool:
    return sm[:2] in _tegra()


@cache
def _tegra() -> frozenset[tuple[int, int]]:
    chips = [parse_sm(row.sm) for row in rows(Arch) if row.tegra]
    return frozenset(chip[:2] for chip in chips if chip)
