"""Claims about drivers and GPUs: what is needed, and what is seen."""

from __future__ import annotations

import re

from envspec.facts.versions import version
from envspec.verify.claims.model import (
    CONFIRMED,
    MISMATCH,
    NONE,
    OVERCLAIM,
    UNDERCLAIM,
    Judge,
    Seen,
    Verdict,
    unknown,
)
from envspec.verify.claims.software import FRAMEWORKS, framework, refused
from envspec.verify.verdicts import PASS

_GIB = 1 << 30
_UNITS = {"MiB": 1 << 20, "GiB": _GIB, "TiB": 1 << 40}
_RESERVED = 0.9
"""Of a card's memory, what programs see at least: the driver keeps some for itself."""


def _timed_out(seen: Seen) -> bool:
    """A slow machine is no evidence against a claim."""
    error = (framework(seen, "torch") or {}).get("error")
    return isinstance(error, dict) and error.get("type") == "Timeout"


def _count(seen: Seen) -> int:
    """How many GPUs a framework sees, the most that one of them does. JAX counts its CPU too."""
    torch, jax, tensorflow = (framework(seen, name) or {} for name in FRAMEWORKS.values())
    counts = [torch.get("device_count") if torch.get("cuda_available") else 0]
    counts.append(jax.get("device_count") if jax.get("backend") == "gpu" else 0)
    counts.append(tensorflow.get("device_count"))
    return max(int(count or 0) for count in counts)


def _why_none(seen: Seen) -> Verdict | str:
    """Where no GPU is seen: the sentence that holds it against a claim, or the verdict that does
    not, since this machine has none to see."""
    torch = framework(seen, "torch")
    if seen.gpu_present:
        return "this machine has a GPU, and no framework sees it"
    if torch:
        if torch.get("cuda"):
            return unknown("torch is a CUDA build, and this machine has no GPU")
        return "torch does not import" if torch.get("error") else "torch is a CPU build"
    if seen.accelerator == "none":
        return "no framework for GPUs is installed"
    return unknown("this machine has no GPU")


def _cuda(claimed: str, seen: Seen) -> Verdict:
    if _timed_out(seen):
        return unknown("torch did not load in the time that the probe has")
    available = _count(seen) > 0
    observed = "true" if available else "false"
    if claimed == observed:
        return Verdict(observed, CONFIRMED)
    if available:
        return Verdict(observed, UNDERCLAIM)
    why = _why_none(seen)
    return Verdict(observed, OVERCLAIM, why) if isinstance(why, str) else why


def _gpu_count(claimed: str, seen: Seen) -> Verdict:
    if _timed_out(seen):
        return unknown("torch did not load in the time that the probe has")
    count = _count(seen)
    if int(claimed) == count:
        return Verdict(str(count), CONFIRMED)
    if count > int(claimed):
        return Verdict(str(count), UNDERCLAIM)
    why = _why_none(seen) if count == 0 else ""
    return Verdict(str(count), OVERCLAIM, why) if isinstance(why, str) else why


def _driver_min(claimed: str, seen: Seen) -> Verdict:
    """An older driver than the floor is an overclaim: it was said to do, and does not."""
    if seen.accelerator == "none":
        return Verdict(NONE, MISMATCH, "the spec says `accelerator none` and needs no driver")
    floor = str(seen.rungs["c2_static"].details.get("driver_floor") or "")
    said, needed = version(claimed), version(floor)
    if said is None or needed is None:
        return unknown("the facts know no driver for this build")
    length = len(said)
    if said == needed[:length]:
        return Verdict(floor, CONFIRMED)
    return Verdict(floor, OVERCLAIM if said < needed else UNDERCLAIM)


def _gpu_arch_min(claimed: str, seen: Seen) -> Verdict:
    """The oldest architecture that torch has code for."""
    torch = framework(seen, "torch")
    wrong = refused(torch, "torch")
    if wrong or torch is None:
        return wrong or unknown("")
    numbers = [int(m[1]) for a in torch.get("arch_list") or [] if (m := _SM.match(str(a)))]
    if not numbers and torch.get("cuda"):
        return unknown("torch is a CUDA build and did not say")
    if not numbers:
        return Verdict(NONE, OVERCLAIM, "torch is a CPU build")
    match = _SM.match(claimed)
    oldest, said = min(numbers), int(match[1]) if match else 0
    if said == oldest:
        return Verdict(f"sm_{oldest}", CONFIRMED)
    return Verdict(f"sm_{oldest}", OVERCLAIM if said < oldest else UNDERCLAIM)


_SM = re.compile(r"(?:sm|compute)_(\d+)")


def _vram_min(claimed: str, seen: Seen) -> Verdict:
    """A run on a card that has no more than what is claimed shows that it is enough."""
    torch = framework(seen, "torch")
    sizes = [int(d.get("total_memory") or 0) for d in (torch or {}).get("devices") or []]
    if not sizes or not all(sizes):
        return unknown("no GPU was seen")
    smallest = min(sizes)
    shown = f"{smallest / _GIB:.0f}GiB"
    if seen.rungs["c3"].verdict != PASS:
        return unknown("C3 did not pass", shown)
    if smallest * _RESERVED <= int(claimed[:-3]) * _UNITS[claimed[-3:]]:
        return Verdict(shown, CONFIRMED)
    return unknown("the GPU here has more, so that less was not tried", shown)


JUDGES: dict[str, Judge] = {
    "driver_min": _driver_min,
    "cuda_available": _cuda,
    "gpu_count": _gpu_count,
    "gpu_arch_min": _gpu_arch_min,
    "vram_min": _vram_min,
}
IDENTITY = tuple(JUDGES)[1:]
"""Those that the identity probe answers."""
