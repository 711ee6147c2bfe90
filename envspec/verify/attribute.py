"""Whose fault a failed entry is: the environment's, the repository's, or the world's.

Reads what the entry probe saw (exit status, the last traceback, which file the innermost frame
is in) and nothing else. Where the evidence does not tell, the answer is `environment`: that is
what the spec is responsible for.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from envspec.verify.verdicts import ASSET, ENVIRONMENT, HARDWARE, NETWORK, REPOSITORY


class Attribution(NamedTuple):
    """A cause and the sentence that gives the evidence."""

    cause: str
    reason: str


_NETWORK = re.compile(
    r"ConnectionError|ConnectTimeout|NewConnectionError|Max retries exceeded|gaierror|URLError"
    r"|Temporary failure in name resolution|Network is unreachable|LocalEntryNotFoundError"
    r"|OfflineModeIsEnabled|couldn't connect to"
)
_GATED = re.compile(r"GatedRepoError|401 Client Error|403 Client Error|RepositoryNotFoundError")
_GPU = re.compile(
    r"Found no NVIDIA driver|No CUDA GPUs are available|CUDA driver version is insufficient"
    r"|no CUDA-capable device"
)
_LIBRARY = re.compile(
    r"cannot open shared object file|undefined symbol|GLIBC(?:XX)?_\d|invalid ELF header"
)
# An attribute that a module or class does not have means a version that does not fit.
_VERSIONED = {"AttributeError", "ImportError"}


def attribute(observed: dict[str, Any], own: frozenset[str]) -> Attribution:
    """The cause of an entry that did not end well.

    ``observed`` is the observation of the entry probe, see probes/README.md; ``own`` are the
    top-level packages of the repository itself.
    """
    if observed.get("timed_out"):
        seconds = observed.get("seconds") or 0
        return Attribution(ENVIRONMENT, f"the entry did not end within {seconds:.0f} s")
    exception = observed.get("exception") or {}
    kind, message = str(exception.get("type", "")), str(exception.get("message", ""))
    said = f"{kind}: {message}" if message else kind
    shown = said[:300]
    tail = f"{said}\n{str(observed.get('stderr', ''))[-4000:]}"
    signal = observed.get("signal")
    if observed.get("start_error"):
        why = str((observed["start_error"] or {}).get("message"))[:300]
        return Attribution(ENVIRONMENT, f"the entry could not be started: {why}")
    if observed.get("oom_kills"):
        return Attribution(ENVIRONMENT, "the entry ran out of memory")
    if observed.get("killed"):
        return Attribution(ENVIRONMENT, "the entry was killed, most likely out of memory")
    if signal:
        return Attribution(ENVIRONMENT, f"the entry crashed with signal {signal}")
    missing = observed.get("missing_module")
    if missing:
        return _missing(str(missing), own)
    for pattern, cause in ((_GATED, ASSET), (_NETWORK, NETWORK), (_GPU, HARDWARE)):
        match = pattern.search(tail)
        if match:
            return Attribution(cause, shown or match.group())
    if _LIBRARY.search(tail):
        return Attribution(ENVIRONMENT, shown)
    if not kind:
        status = observed.get("exit_code")
        return Attribution(ENVIRONMENT, f"the entry ended with status {status} and no traceback")
    return _by_frame(observed, kind, shown)


def _missing(module: str, own: frozenset[str]) -> Attribution:
    if "." in module and module.split(".", 1)[0] in own:
        return Attribution(REPOSITORY, f"the repository has no module `{module}`")
    return Attribution(ENVIRONMENT, f"module `{module}` is not installed")


def _by_frame(observed: dict[str, Any], kind: str, shown: str) -> Attribution:
    innermost = observed.get("innermost")
    bare = kind.rsplit(".", 1)[-1]
    call = observed.get("call_error") or {}
    if call.get("callee_in_source") is not None:
        # Who calls something wrongly is at fault where both sides are the repository's own;
        # where the callee is a library's, its version does not fit.
        return Attribution(REPOSITORY if call["callee_in_source"] else ENVIRONMENT, shown)
    if bare in _VERSIONED:
        return Attribution(ENVIRONMENT, shown)
    return Attribution(REPOSITORY if innermost == "repository" else ENVIRONMENT, shown)
