"""What every probe shares: the configuration, the hardening of the parent, the one result line.

The host starts ``<python> -I -S -B <probe>.py`` with one variable, ``ENVSPEC_PROBE``, holding
the configuration as JSON. The parent (this process) never runs code under test; it starts
children for that (`_children`), and alone writes to its own standard output:

    ENVSPEC-RESULT {"envspec_result": 1, "probe": …, "nonce": …, "observed": {…}}

README.md in this folder is the contract in full.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import types
from typing import Any, Callable, Dict, NoReturn, Optional, Sequence

import _children

VARIABLE = "ENVSPEC_PROBE"
PREFIX = b"ENVSPEC-RESULT "
SCHEMA = 1
EXIT_BROKEN = 70
RESULT_LIMIT = 1_000_000  # the host keeps the last MiB of our output; a cut line would be lost

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


class ProbeError(Exception):
    """The probe cannot observe. ``kind`` is a short stable word, for the host."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def serve(probes: Sequence[str], observe: Callable[[Dict[str, Any]], Dict[str, Any]]) -> NoReturn:
    """Be the parent: read the configuration, harden, observe, write one line, exit.

    ``probes`` are the identifiers this program answers to. Exits 0 with an observation and
    `EXIT_BROKEN` with an error.
    """
    sink = os.dup(1)  # not inheritable: no child can reach it by number
    _silence_standard_output()
    raw = _take_variable()
    parent = {"dumpable": not _prctl(_PR_SET_DUMPABLE, 0), "subreaper": False}
    parent["subreaper"] = _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _interrupted)
    result: Dict[str, Any] = {"envspec_result": SCHEMA, "probe": "", "nonce": ""}
    status = 0
    try:
        line = _answer(raw, probes, observe, parent, result)
    except BaseException as exc:  # whatever breaks here is an answer too, never silence
        status = EXIT_BROKEN
        line = encode({**result, "error": _describe(exc)})
    _children.kill_stragglers()
    _write(sink, PREFIX + line + b"\n")
    os._exit(status)  # a thread that still waits for a child must not hold the answer back


def _answer(
    raw: Optional[str],
    probes: Sequence[str],
    observe: Callable[[Dict[str, Any]], Dict[str, Any]],
    parent: Dict[str, bool],
    result: Dict[str, Any],
) -> bytes:
    config = _parse(raw)
    result["probe"], result["nonce"] = config["probe"], config["nonce"]
    if config["probe"] not in probes:
        raise ProbeError("BadConfig", "this program answers to " + ", ".join(probes))
    observed = {**observe(config), "parent": parent}
    line = encode({**result, "observed": observed})
    if len(line) > RESULT_LIMIT:
        raise ProbeError("ResultTooLarge", "%d bytes" % len(line))
    return line


def encode(value: Any) -> bytes:
    """JSON in ASCII on one line; lone surrogates (file names) become escapes of themselves."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode()


def need(config: Dict[str, Any], key: str, kind: type) -> Any:
    """The value of a required key, checked for its type (an int serves as a float)."""
    value = config.get(key)
    wanted = (int, float) if kind is float else kind
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise ProbeError("BadConfig", "%s: expected %s" % (key, kind.__name__))
    return value


def environment(config: Dict[str, Any]) -> Dict[str, str]:
    """What children see: this process's variables overlaid with the configured ones."""
    merged = dict(os.environ)
    for key, value in config.get("environment", {}).items():
        merged[str(key)] = str(value)
    merged.pop(VARIABLE, None)
    return merged


def printable(text: str, limit: int = 2000) -> str:
    """Valid Unicode of at most ``limit`` characters: lone surrogates are written as escapes."""
    clean = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return clean if len(clean) <= limit else clean[:limit] + "…"


def _parse(raw: Optional[str]) -> Dict[str, Any]:
    if raw is None:
        raise ProbeError("BadConfig", VARIABLE + " is not set")
    try:
        config = json.loads(raw)
    except ValueError as exc:
        raise ProbeError("BadConfig", VARIABLE + " is not JSON") from exc
    if not isinstance(config, dict) or config.get("schema") != SCHEMA:
        raise ProbeError("BadConfig", "expected an object with schema %d" % SCHEMA)
    need(config, "probe", str)
    need(config, "nonce", str)
    variables = config.get("environment", {})
    if not isinstance(variables, dict):
        raise ProbeError("BadConfig", "environment: expected an object")
    return config


def _take_variable() -> Optional[str]:
    """Read the configuration and leave no copy of it where a child could look.

    Deleting it from `os.environ` keeps it from children, but ``/proc/<pid>/environ`` shows the
    block the process was started with: that is overwritten in place.
    """
    raw = os.environ.get(VARIABLE)
    try:
        libc = ctypes.CDLL(None)
        libc.getenv.restype = ctypes.c_void_p
        address = libc.getenv(VARIABLE.encode())
        if address:
            ctypes.memset(address, ord("x"), len(ctypes.string_at(address)))
    except (OSError, AttributeError):
        pass  # no C library to ask: PR_SET_DUMPABLE is the wall then, and `parent` reports it
    os.environ.pop(VARIABLE, None)
    return raw


def _prctl(option: int, value: int) -> bool:
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _silence_standard_output() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def _interrupted(number: int, _frame: Optional[types.FrameType]) -> None:
    for other in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)  # one is enough: cleaning up comes next
    raise ProbeError("Interrupted", "signal %d" % number)


def _describe(exc: BaseException) -> Dict[str, str]:
    kind = exc.kind if isinstance(exc, ProbeError) else type(exc).__name__
    place = ""
    trace = exc.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and not isinstance(exc, ProbeError):
        name = os.path.basename(trace.tb_frame.f_code.co_filename)
        place = " (%s:%d)" % (name, trace.tb_lineno)
    return {"type": kind, "message": printable(str(exc)) + place}


def _write(descriptor: int, data: bytes) -> None:
    sys.stderr.flush()
    while data:
        data = data[os.write(descriptor, data) :]
