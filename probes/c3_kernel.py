"""C3: whether a kernel runs. Each stage stands alone, so a failure names its layer."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _children import CHANNEL, run_child
from _protocol import ProbeError, environment, need, printable, serve

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_child_kernel.py")
STAGES = ("import", "context", "matmul", "backward")


def observe(config: Dict[str, Any]) -> Dict[str, Any]:
    """See README.md, `c3_kernel`."""
    device = config.get("device", 0)
    if device != "cpu" and (not isinstance(device, int) or isinstance(device, bool)):
        raise ProbeError("BadConfig", 'device: expected an index or "cpu"')
    argv = [need(config, "python", str), "-I", "-B", CHILD, CHANNEL, str(device)]
    run = run_child(argv, environment(config), None, need(config, "seconds", float), 16384)
    messages = _messages(run["channel"])
    stages = _stages(run, messages)
    facts = {key: value for message in messages for key, value in message.items()}
    return {
        "device": device,
        "framework": facts.get("framework"),
        "version": facts.get("version"),
        "device_name": facts.get("device_name"),
        "capability": facts.get("capability"),
        "stages": stages,
        "ok": all(stage["ok"] for stage in stages.values()),
        "run": {key: value for key, value in run.items() if key != "channel"},
    }


def _messages(channel: bytes) -> List[Dict[str, Any]]:
    messages = []
    for line in channel.splitlines():
        try:
            message = json.loads(line.decode("ascii"))
        except ValueError:
            continue  # cut off by a crash
        if isinstance(message, dict):
            messages.append(message)
    return messages


def _stages(run: Dict[str, Any], messages: List[Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
    """Each stage's outcome; the one that began and never ended bears how the child ended."""
    ended = {str(m.get("stage")): m for m in messages if "ok" in m}
    stages: Dict[str, Dict[str, Any]] = {}
    blamed = False
    for stage in STAGES:
        message = ended.get(stage)
        error = None
        if message is None:
            error = {"type": "NotReached", "message": "an earlier stage failed"}
            if not blamed:
                error = _ending(run)
            blamed = True
        elif message["ok"] is not True:
            text = printable(str(message.get("message")))
            error = {"type": str(message.get("type")), "message": text}
            blamed = True
        stages[stage] = {"ok": error is None, "error": error}
        if message is not None and "difference" in message:
            stages[stage]["difference"] = message["difference"]
    return stages


def _ending(run: Dict[str, Any]) -> Dict[str, str]:
    if run["start_error"]:
        return dict(run["start_error"])
    if run["timed_out"]:
        return {"type": "Timeout", "message": "no end after %s s" % run["seconds"]}
    if run["signal"] is not None:
        return {"type": "Crash", "message": "ended by signal %d" % run["signal"]}
    return {"type": "Exit", "message": "ended with code %s" % run["exit_code"]}


if __name__ == "__main__":
    serve(["c3_kernel"], observe)
