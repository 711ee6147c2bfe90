"""The claims that a verification allows: what it saw, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from envspec.plan.model import Claim
from envspec.verify.claims.judge import ALWAYS, judge
from envspec.verify.claims.model import CONFIRMED, UNSTATED, Judgement, Seen

_WHERE_THEY_SHOW = (
    *("python_abi", "glibc", "jax_version", "tf_version", "torch_cuda", "driver_min"),
    "c4_processes",
)
"""Stated where they are confirmed, and else left out: their silence says nothing."""


class Forms(NamedTuple):
    """What the language says of claims: ``tried`` has some value for each name, in the order of
    the language, and ``fits`` says whether a name can take a value."""

    tried: Mapping[str, str]
    fits: Callable[[str, str], bool]


def honest(seen: Seen, forms: Forms) -> tuple[Claim, ...]:
    """A claim for everything a spec is asked to state: the value that was seen where it is
    confirmed by the same judge, and `unstated`, with the reason, where it could not be.

    Each claim is first put to its judge with any value, which tells what was seen, and then with
    that. So nothing can be stated here that the next verification would call an overclaim.
    """
    names = [name for name in forms.tried if name in {*ALWAYS, *_WHERE_THEY_SHOW}]
    found = [claim for name in names for claim in _stated(name, "", seen, forms)]
    entries = (c for name in _entries(seen) for c in _stated("entry", name, seen, forms))
    return (*found, *entries)


def _stated(name: str, subject: str, seen: Seen, forms: Forms) -> Iterator[Claim]:
    first = _judged(Claim(name, forms.tried[name], "", 0, subject), seen)
    value = first.observed
    if value and forms.fits(name, value):
        second = _judged(Claim(name, value, "", 0, subject), seen)
        if second.verdict == CONFIRMED:
            yield Claim(name, value, "", 0, subject)
            return
    if name in ALWAYS:
        yield Claim(name, UNSTATED, first.note or "it could not be seen", 0, subject)


def _judged(claim: Claim, seen: Seen) -> Judgement:
    title = f"{claim.name} {claim.subject}".rstrip()
    return next(j for j in judge((claim,), seen) if j.name == title)


def _entries(seen: Seen) -> list[str]:
    records = [r for rung in seen.rungs.values() for r in rung.details.get("entries") or []]
    return list(dict.fromkeys(str(r.get("name")) for r in records))
