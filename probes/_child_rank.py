"""Runs under the environment's interpreter: one rank of an all-reduce with torch.

argv: descriptor, rank, number of ranks, port on the loopback, backend, seconds. One JSON
object a line: ``{"stage": …}`` as each stage begins, then ``{"value": …}`` or ``{"error": …}``.
"""

from __future__ import annotations

import datetime as dt
import importlib
import json
import os
import sys
from typing import Any

report = os.fdopen(int(sys.argv[1]), "w", encoding="ascii")
os.set_inheritable(report.fileno(), False)
rank, world, port = (int(word) for word in sys.argv[2:5])
backend, seconds = sys.argv[5], float(sys.argv[6])


def say(**message: Any) -> None:
    """One line to the parent, at once: the next step may be the last."""
    report.write(json.dumps(message) + "\n")
    report.flush()


try:
    say(stage="import")
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    say(version=torch.__version__)
    device = "cpu"
    if backend == "nccl":
        say(stage="device")
        device = "cuda:%d" % rank
        torch.cuda.set_device(rank)
        say(device_name=torch.cuda.get_device_name(rank))
    say(stage="init")
    distributed.init_process_group(
        backend,
        init_method="tcp://127.0.0.1:%d" % port,
        rank=rank,
        world_size=world,
        timeout=dt.timedelta(seconds=seconds),
    )
    say(stage="all_reduce")
    tensor = torch.full((1024,), float(rank + 1), device=device)
    distributed.all_reduce(tensor)
    values = tensor.to("cpu").unique().tolist()
    say(stage="destroy")
    distributed.destroy_process_group()
    say(value=values[0] if len(values) == 1 else None)
except BaseException as exc:  # a rank that ends early must say why
    say(error={"type": type(exc).__name__[:200], "message": str(exc)[:2000]})
os._exit(0)
