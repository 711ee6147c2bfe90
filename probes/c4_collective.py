"""C4: whether processes find each other. An all-reduce over the loopback, one child a rank.

With ``gloo`` it is the rehearsal on CPU, never C4 itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _children import CHANNEL, kill_stragglers, run_child
from _protocol import ProbeError, environment, need, printable, serve

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_child_rank.py")
_PATIENCE = 5.0  # for the other ranks, once one has failed


def observe(config: Dict[str, Any]) -> Dict[str, Any]:
    """See README.md, `c4_collective`."""
    python = need(config, "python", str)
    seconds = float(need(config, "seconds", float))
    world = int(config.get("processes", 2))
    backend = need(config, "backend", str)
    if backend not in ("nccl", "gloo") or not 1 <= world <= 64:
        raise ProbeError("BadConfig", "backend: nccl or gloo; processes: 1 to 64")
    port = _free_port()
    env = environment(config)
    env.update(GLOO_SOCKET_IFNAME="lo", NCCL_SOCKET_IFNAME="lo")
    stop = threading.Event()

    def one(rank: int) -> Dict[str, Any]:
        words = [CHANNEL, *map(str, (rank, world, port)), backend, str(seconds)]
        argv = [python, "-I", "-B", CHILD, *words]
        run = run_child(argv, env, None, seconds, 4096, exclusive=False, stop=stop)
        outcome = _outcome(rank, run, world * (world + 1) / 2)
        if not outcome["ok"] and not stop.is_set():
            timer = threading.Timer(_PATIENCE, stop.set)  # the others wait for this one in vain
            timer.daemon = True
            timer.start()
        return outcome

    with ThreadPoolExecutor(world) as pool:
        ranks = list(pool.map(one, range(world)))
    kill_stragglers()
    return {
        "backend": backend,
        "processes": world,
        "expected": world * (world + 1) / 2,
        "ranks": ranks,
        "hung": [r["rank"] for r in ranks if r["error"] and r["error"]["type"] == "Timeout"],
        "ok": all(r["ok"] for r in ranks),
    }


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _outcome(rank: int, run: Dict[str, Any], expected: float) -> Dict[str, Any]:
    facts: Dict[str, Any] = {}
    for line in run["channel"].splitlines():
        try:
            facts.update(json.loads(line.decode("ascii")))
        except (ValueError, TypeError):
            continue  # cut off by a crash
    stage = facts.get("stage")
    error = facts.get("error")
    if error is None and facts.get("value") != expected:
        error = _ending(run, facts)
    elif isinstance(error, dict):
        error = {key: printable(str(error.get(key))) for key in ("type", "message")}
    outcome = {"rank": rank, "ok": error is None, "value": facts.get("value"), "error": error}
    outcome.update(stage=stage, seconds=run["seconds"], version=facts.get("version"))
    outcome.update(device_name=facts.get("device_name"), stderr=printable(run["stderr"], 4096))
    return outcome


def _ending(run: Dict[str, Any], facts: Dict[str, Any]) -> Dict[str, str]:
    where = "in stage %s" % facts.get("stage")
    if run["start_error"]:
        return dict(run["start_error"])
    if run["timed_out"]:
        return {"type": "Timeout", "message": "hung %s and was killed" % where}
    if run["stopped"]:
        return {"type": "Stopped", "message": "waited %s for a rank that failed" % where}
    if run["signal"] is not None:
        return {"type": "Crash", "message": "ended by signal %d %s" % (run["signal"], where)}
    if "value" in facts:
        return {"type": "WrongSum", "message": "the sum is %r" % facts["value"]}
    return {"type": "Exit", "message": "ended with code %s %s" % (run["exit_code"], where)}


if __name__ == "__main__":
    serve(["c4_collective"], observe)
