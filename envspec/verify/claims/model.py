"""The words of C5, one judgement, and what claims are held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from envspec.verify.verdicts import Rung

CONFIRMED = "confirmed"
OVERCLAIM = "overclaim"
MISMATCH = "mismatch"
UNDERCLAIM = "underclaim"
INCONCLUSIVE = "inconclusive"
UNSTATED = "unstated"
HALLUCINATIONS = (OVERCLAIM, MISMATCH)

NONE = "none"
"""What is observed where there is nothing: no CUDA in a CPU build, no device code."""


class Judgement(NamedTuple):
    """One claim, what was seen, and the verdict. ``note`` is a sentence, perhaps empty."""

    name: str
    claimed: str
    observed: str
    verdict: str
    note: str
    line: int


class Provenance(NamedTuple):
    """Where the environment comes from, each ``""`` where it has none: a source that is no
    repository has no commit, an engine without images gives no digest of one. Digests are sha256
    in hexadecimal."""

    platform: str = ""
    repo_url: str = ""
    repo_commit: str = ""
    lock_digest: str = ""
    image_digest: str = ""
    flake_lock_digest: str = ""


class Seen(NamedTuple):
    """What claims are held against.

    ``identity`` is the observation of the identity probe (empty where it could not look),
    ``interpreter`` whether the claimed interpreter path is this environment's (the path that it
    is built with, where none is claimed), None where that was not tried. ``modules`` are modules
    that were imported by themselves, and whether they loaded. ``processes`` are how many a
    distributed entry of the spec starts.
    """

    rungs: Mapping[str, Rung]
    identity: Mapping[str, Any]
    interpreter: bool | None
    gpu_present: bool
    accelerator: str
    provenance: Provenance = Provenance()
    modules: Mapping[str, bool] = {}
    processes: int = 0


class Verdict(NamedTuple):
    """What one judge says: what was seen, the word for it, and a sentence where one helps."""

    observed: str
    word: str
    note: str = ""


Judge = Callable[[str, Seen], Verdict]
"""(what is claimed, what was seen) → verdict."""


def unknown(note: str, observed: str = "") -> Verdict:
    """It was not seen, and is held against nobody."""
    return Verdict(observed, INCONCLUSIVE, note)


def same(claimed: str, observed: str, note: str = "") -> Verdict:
    """Of two values that can only be equal or not."""
    return Verdict(observed, CONFIRMED if claimed == observed else MISMATCH, note)
