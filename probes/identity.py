"""Identity: the interpreter, packages, frameworks and driver of the environment."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import sys
import time
from typing import Any, Dict, List, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _children import CHANNEL, run_child
from _protocol import environment, need, printable, serve

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_child_identity.py")
INTERPRETER = (
    "executable",
    "python_version",
    "implementation",
    "cache_tag",
    "prefix",
    "base_prefix",
    "libc",
    "machine",
    "packages",
    "packages_duplicated",
    "packages_unreadable",
)
FRAMEWORKS = {
    "torch": (
        "version",
        "cuda",
        "hip",
        "cuda_available",
        "device_count",
        "devices",
        "arch_list",
        "cxx11_abi",
        "cudnn",
        "nccl",
    ),
    "jax": ("version", "backend", "device_count"),
    "tensorflow": ("version", "built_with_cuda", "device_count"),
}
_NO_DRIVER: Dict[str, Any] = {"driver": None, "driver_source": None, "driver_devices": []}
_DRIVER_FILE = "/proc/driver/nvidia/version"


def observe(config: Dict[str, Any]) -> Dict[str, Any]:
    """See README.md, `identity`."""
    python = need(config, "python", str)
    end = time.monotonic() + need(config, "seconds", float)
    gpus = need(config, "gpus", bool)
    env = environment(config)
    pycache = config.get("pycache")
    cache = ["-X", "pycache_prefix=%s" % pycache] if pycache else ["-B"]

    def ask(subject: str) -> Dict[str, Any]:
        argv = [python, "-I", *cache, CHILD, CHANNEL, subject]
        return _said(run_child(argv, env, None, max(1.0, end - time.monotonic()), 2000))

    answer = ask("interpreter")
    observed: Dict[str, Any] = {key: answer.get(key) for key in INTERPRETER}
    observed["error"] = answer.get("error")
    observed["packages_digest"] = _digest(answer.get("packages"))
    found = answer.get("found") or []
    for name, keys in FRAMEWORKS.items():
        observed[name] = None
        if name in found:
            said = ask(name)
            observed[name] = {key: said.get(key) for key in (*keys, "error")}
    left = max(1.0, end - time.monotonic())
    observed.update(_driver(env, left) if gpus else _NO_DRIVER)
    observed["device_nodes"] = len(glob.glob("/dev/nvidia[0-9]*"))
    return observed


def _said(run: Dict[str, Any]) -> Dict[str, Any]:
    """The child's message; how it ended, where it left none."""
    lines = run["channel"].splitlines()
    if len(lines) == 1 and run["exit_code"] == 0:
        try:
            said = json.loads(lines[0].decode("ascii"))
        except ValueError:
            said = None
        if isinstance(said, dict):
            return said
    kind, message = "Exit", "ended with code %s without an answer" % run["exit_code"]
    if run["start_error"]:
        kind, message = run["start_error"]["type"], run["start_error"]["message"]
    elif run["timed_out"]:
        kind, message = "Timeout", "no answer after %s s" % run["seconds"]
    elif run["signal"] is not None:
        kind, message = "Crash", "ended by signal %d" % run["signal"]
    tail = printable(run["stderr"], 1000)
    return {"error": {"type": kind, "message": message, "signal": run["signal"], "stderr": tail}}


def _digest(packages: Optional[Dict[str, str]]) -> Optional[str]:
    """sha256 over the sorted lines ``name==version``, each ended by a newline."""
    if packages is None:
        return None
    lines = sorted("%s==%s\n" % item for item in packages.items())
    return hashlib.sha256("".join(lines).encode("utf-8", "backslashreplace")).hexdigest()


def _driver(env: Dict[str, str], seconds: float) -> Dict[str, Any]:
    """The driver's version, who told it, and the GPUs that the vendor's tool names."""
    version = None
    source = None
    try:
        with open(_DRIVER_FILE, encoding="utf-8", errors="replace") as handle:
            found = re.search(r"Kernel Module\D*?\s(\d+(?:\.\d+)+)", handle.read(4096))
        if found:
            version, source = found.group(1), _DRIVER_FILE
    except OSError:
        pass
    devices: List[Dict[str, str]] = []
    program = shutil.which("nvidia-smi", path=env.get("PATH"))
    if program is not None:
        query = "--query-gpu=driver_version,name,compute_cap"
        run = run_child([program, query, "--format=csv,noheader"], env, None, min(seconds, 30.0))
        for line in run["stdout"].splitlines() if run["exit_code"] == 0 else ():
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) == 3:
                devices.append({"name": printable(cells[1], 200), "compute_cap": cells[2][:20]})
                if version is None:
                    version, source = printable(cells[0], 50), "nvidia-smi"
    return {"driver": version, "driver_source": source, "driver_devices": devices}


if __name__ == "__main__":
    serve(["identity"], observe)
