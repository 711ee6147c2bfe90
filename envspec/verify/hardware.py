"""What this machine has: how many GPUs a container could be given."""

from __future__ import annotations

import re
from pathlib import Path

_NODE = re.compile(r"nvidia\d+")


def gpu_count(devices: Path = Path("/dev")) -> int:
    """GPUs whose device nodes the driver has made; 0 without a driver."""
    try:
        return sum(_NODE.fullmatch(p.name) is not None for p in devices.iterdir())
    except OSError:
        return 0
