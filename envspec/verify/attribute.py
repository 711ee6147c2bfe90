"""Whose fault a failed entry is: the environment's, the repository's, or the world's.

What happened is told by the signs of `envspec.diagnose`, the same as `envspec diagnose` goes by.
Where they do not tell, whose code raised decides, and where that is not known either, the answer is
`environment`: that is what the spec is responsible for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from envspec.diagnose.entry import of_entry
from envspec.verify.verdicts import ENVIRONMENT, REPOSITORY

# An attribute that a module or class does not have means a version that does not fit.
_VERSIONED = {"AttributeError", "ImportError"}


class Attribution(NamedTuple):
    """A cause and the sentence that gives the evidence."""

    cause: str
    reason: str


def attribute(observed: dict[str, Any], own: frozenset[str]) -> Attribution:
    """The cause of an entry that did not end well.

    ``observed`` is the observation of the entry probe, see probes/README.md; ``own`` are the
    top-level packages of the repository itself.
    """
    exception = observed.get("exception") or {}
    kind, message = str(exception.get("type", "")), str(exception.get("message", ""))
    shown = (f"{kind}: {message}" if message else kind)[:300]
    signal = observed.get("signal")
    found = of_entry(observed, own).found
    if signal and (found is None or found.evidence is not None):
        return Attribution(ENVIRONMENT, f"the entry crashed with signal {signal}")
    if found is not None:
        told = found.evidence is None or bool(observed.get("missing_module"))
        stated = told and not observed.get("call_error")
        if not stated and not shown:
            return Attribution(found.cause, found.evidence.text[:300] if found.evidence else "")
        return Attribution(found.cause, found.because if stated else shown)
    if not kind:
        status = observed.get("exit_code")
        return Attribution(ENVIRONMENT, f"the entry ended with status {status} and no traceback")
    if kind.rsplit(".", 1)[-1] in _VERSIONED:
        return Attribution(ENVIRONMENT, shown)
    innermost = observed.get("innermost")
    return Attribution(REPOSITORY if innermost == "repository" else ENVIRONMENT, shown)
