"""C0 live: whether each module loads. Every name is imported in a process of its own.

Sees what no resolver can: the shared library that does not load, the dependency nobody
declared, the package that ends the process.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _children import CHANNEL, kill_stragglers, run_child
from _protocol import (
    RESULT_LIMIT,
    ProbeError,
    encode,
    environment,
    need,
    printable,
    serve,
)

_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_child_import.py")
OUTCOMES = ("ok", "missing", "missing_dependency", "error", "exit")
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def observe(config: Dict[str, Any]) -> Dict[str, Any]:
    """See README.md, `c0_live`."""
    names = need(config, "names", list)
    before = list(config.get("before") or [])
    for name in names + before:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ProbeError("BadConfig", "not a module name: %s" % printable(repr(name), 200))
    began = time.monotonic()
    end = began + need(config, "seconds", float)
    each = need(config, "seconds_each", float)
    python = need(config, "python", str)
    cwd = need(config, "cwd", str)
    env = environment(config)
    workers = max(1, min(int(config.get("workers", 2)), 16))

    def one(name: str) -> Dict[str, Any]:
        left = end - time.monotonic()
        if left <= 0:
            message = "not started: the time for all names was up"
            return {"name": name, "outcome": "timeout", "message": message, "seconds": 0.0}
        return {"name": name, **_import(python, [name, *before], env, cwd, min(each, left))}

    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(one, dict.fromkeys(names)))
    observed = {
        "results": results,
        "seconds": round(time.monotonic() - began, 3),
        "descendants_killed": kill_stragglers(),
    }
    if len(encode(observed)) > RESULT_LIMIT - 10_000:
        for result in results:
            result.update(stderr="", message=str(result.get("message", ""))[:100])
    return observed


def _import(
    python: str, names: List[str], env: Dict[str, str], cwd: str, seconds: float
) -> Dict[str, Any]:
    # Compiled modules are left behind only where the host gives a folder for them.
    keep = [] if env.get("PYTHONPYCACHEPREFIX") and not env.get(_NO_BYTECODE) else ["-B"]
    argv = [python, *keep, CHILD, CHANNEL, *names]
    run = run_child(argv, env, cwd, seconds, 2000, exclusive=False)
    if run["start_error"]:
        raise ProbeError("NoInterpreter", run["start_error"]["message"])
    answer = _answer(run)
    answer["seconds"] = run["seconds"]
    answer["stdout_bytes"], answer["stderr_bytes"] = run["stdout_bytes"], run["stderr_bytes"]
    answer["peak_rss_kb"] = run["peak_rss_kb"]
    if answer["outcome"] != "ok":
        answer["stderr"] = printable(run["stderr"], 2000)
    return answer


def _answer(run: Dict[str, Any]) -> Dict[str, Any]:
    """The child's word, unless how it ended says otherwise."""
    if run["timed_out"]:
        return {"outcome": "timeout", "message": "no end after %s s" % run["seconds"]}
    if run["signal"] is not None:
        return {"outcome": "crash", "signal": run["signal"], "message": "killed by a signal"}
    lines = run["channel"].splitlines()
    try:
        said = json.loads(lines[0].decode("ascii")) if len(lines) == 1 else None
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("outcome") not in OUTCOMES or run["exit_code"]:
        code = run["exit_code"]
        message = "ended with code %s before the import returned" % code
        return {"outcome": "exit", "exit_code": code, "message": message}
    keys = ("type", "message", "missing")
    return {
        "outcome": said["outcome"],
        **{key: printable(str(said[key]), 1000) for key in keys if key in said},
    }


if __name__ == "__main__":
    serve(["c0_live"], observe)
