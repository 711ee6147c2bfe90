"""The logs beside a report: read with limits, and held against the digests of the report."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from envspec.verify.results import Observation

WHOLE, CHANGED, ABSENT = "whole", "changed", "absent"
LARGEST = 8 << 20
LINES = 40
WIDEST = 400


class Log(NamedTuple):
    """``state`` is `whole`, `absent`, or `changed` where the file is not the one that the report
    has the digest of; ``tail`` is the end of what the program said, empty where it is not whole."""

    state: str
    tail: str


def logs(report: Mapping[str, Any], folder: Path) -> dict[str, Log]:
    """The log of every probe run, by its id. No link is followed."""
    return {e["id"]: _log(folder / e["log"], e["log_sha256"]) for e in report["evidence"]}


def observation(path: Path, sha256: str) -> tuple[str, Observation | None]:
    """The state of a log, and where it is whole what the probe saw."""
    state, data = _read(path, sha256)
    if state != WHOLE:
        return state, None
    try:
        value = json.loads(data.decode("utf-8"))
        probe, observed, error = (value[key] for key in ("probe", "observed", "error"))
    except (ValueError, LookupError, TypeError, RecursionError):
        return state, None
    if not (isinstance(probe, str) and isinstance(observed, dict) and isinstance(error, str)):
        return state, None
    return state, Observation(probe, observed, error)


def _log(path: Path, sha256: str) -> Log:
    state, data = _read(path, sha256)
    return Log(state, _tail(data.decode("utf-8", "replace")) if state == WHOLE else "")


def _read(path: Path, sha256: str) -> tuple[str, bytes]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return ABSENT, b""
            data = stream.read(LARGEST + 1)
    except (OSError, ValueError):  # a name that no file can have
        return ABSENT, b""
    if len(data) > LARGEST or hashlib.sha256(data).hexdigest() != sha256:
        return CHANGED, b""
    return WHOLE, data


def _tail(text: str) -> str:
    """The end of what the program under test printed, or of the probe's own words."""
    try:
        value = json.loads(text)
        observed = value.get("observed") or {}
        said = [observed.get("stdout"), observed.get("stderr"), value.get("stderr")]
        words = "\n".join(s.rstrip("\n") for s in said if isinstance(s, str) and s.strip())
    except (ValueError, AttributeError, RecursionError):
        words = text
    lines = words.split("\n")[-LINES:]
    return "\n".join(line if len(line) <= WIDEST else line[:WIDEST] + "…" for line in lines)
