"""C1, and the entries of C3 and C4: whether a program runs to its end, and if not, whose fault.

The host hides or shows the GPUs; to this program the three are the same.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import Any, Dict, List, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _children import OUTPUT_LIMIT, run_child
from _protocol import (
    RESULT_LIMIT,
    ProbeError,
    encode,
    environment,
    need,
    serve,
)
from _traceback import call_error, innermost, last_exception, missing_module

_MEMORY_EVENTS = "/sys/fs/cgroup/memory.events"
_SCRATCH = "/tmp"  # the only folder that code under test can write


def observe(config: Dict[str, Any]) -> Dict[str, Any]:
    """See README.md, `c1_entry`."""
    argv = need(config, "argv", list)
    if not argv or not all(isinstance(word, str) for word in argv):
        raise ProbeError("BadConfig", "argv: expected at least one word")
    cwd = need(config, "cwd", str)
    roots = [str(root) for root in config.get("source_roots", [])]
    limit = int(config.get("output_limit", OUTPUT_LIMIT))
    before = _oom_kills()
    run = run_child(argv, environment(config), cwd, need(config, "seconds", float), limit)
    after = _oom_kills()
    del run["channel"]
    exception = last_exception(run["stderr"])
    texts = [run["stdout"], run["stderr"]]
    kills = after - before if after is not None and before is not None else None
    observed = {
        **run,
        "exception": exception,
        "missing_module": missing_module(run["stderr"], exception),
        "innermost": innermost(exception, roots, cwd),
        "call_error": call_error(exception, roots),
        # A shell in between turns the signal into 128 + 9.
        "killed": run["signal"] == signal.SIGKILL or run["exit_code"] == 128 + signal.SIGKILL,
        "oom_kills": kills,
        # Looked at in here, under the deadline: a pattern can be made to take for ever.
        "files": {path: _left(path) for path in _strings(config, "expect_files")},
        "output": {p: _matches(p, texts) for p in _strings(config, "expect_output")},
    }
    while len(encode(observed)) > RESULT_LIMIT - 10_000:
        for stream in ("stdout", "stderr"):
            observed[stream] = observed[stream][len(observed[stream]) // 4 :]
    return observed


def _strings(config: Dict[str, Any], key: str) -> List[str]:
    values = config.get(key, [])
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise ProbeError("BadConfig", key + ": expected a list of strings")
    return values


def _left(path: str) -> bool:
    return os.path.isfile(os.path.join(_SCRATCH, path))


def _matches(pattern: str, texts: List[str]) -> bool:
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ProbeError("BadConfig", "expect_output: " + str(error)) from error
    return any(compiled.search(text) for text in texts)


def _oom_kills() -> Optional[int]:
    """How often the kernel has killed for memory in this control group; None: not told."""
    try:
        with open(_MEMORY_EVENTS, encoding="ascii") as handle:
            for line in handle:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return None


if __name__ == "__main__":
    serve(["c1_entry", "c3_entry", "c4_entry"], observe)
