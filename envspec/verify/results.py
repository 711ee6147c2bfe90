"""The strict reader of what a probe wrote.

The code under test shares the sandbox with the probe and can print anything. So: exactly one
result line, the nonce that only the probe's parent process knew, the right probe id, the right
shape. Everything else is an error of the harness and never a pass.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from envspec.build.protocol import Completed

MARK = b"ENVSPEC-RESULT "
SCHEMA = 1


class Observation(NamedTuple):
    """What a probe saw: ``observed`` when it could look, ``error`` (a sentence) when not."""

    probe: str
    observed: dict[str, Any]
    error: str

    @property
    def usable(self) -> bool:
        """True where the probe did its work."""
        return not self.error


def read(completed: Completed, probe: str, nonce: str) -> Observation:
    """The observation in a finished run of a probe; never raises on what the run printed."""
    observed, error = _read(completed, probe, nonce)
    return Observation(probe, observed, error)


def _read(completed: Completed, probe: str, nonce: str) -> tuple[dict[str, Any], str]:
    if completed.timed_out:
        return {}, f"the probe was killed after {completed.seconds:.0f} s"
    if completed.out_of_memory:
        return {}, "the sandbox ran out of memory"
    if completed.signal is not None:
        return {}, f"the probe was killed by signal {completed.signal}"
    marked = [line for line in completed.stdout.splitlines() if line.startswith(MARK)]
    if not marked:
        return {}, f"the probe gave no result (exit {completed.exit_code})"
    if len(marked) > 1:
        return {}, f"{len(marked)} result lines where one is expected: something forged a result"
    try:
        data = json.loads(marked[0][len(MARK) :])
    except (ValueError, RecursionError):
        return {}, "the result line is not JSON"
    if not isinstance(data, dict) or data.get("envspec_result") != SCHEMA:
        return {}, "the result has an unknown shape"
    if data.get("nonce") != nonce or data.get("probe") != probe:
        return {}, "the result is not this probe's: something forged it"
    if completed.exit_code != 0:
        detail = data.get("error")
        text = detail.get("message") if isinstance(detail, dict) else None
        return {}, f"the probe broke: {str(text)[:300]}" if text else "the probe broke"
    observed = data.get("observed")
    if not isinstance(observed, dict):
        return {}, "the result has no observation"
    return observed, ""
