"""Libraries that patching ELF files must not ask for, by what is locked.

nixpkgs' autoPatchelfHook refuses a file whose libraries it cannot find. Those of a GPU driver are
on the machine alone, and some wheels hold plugins for hardware and programs that few machines
have. Names that a project with the same wheels would otherwise collect by hand, one failed build
after the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from envspec.plan import model as plan

DRIVER = (
    "libcuda.so.1",
    "libnvidia-ml.so.1",
    "libnvidia-ptxjitcompiler.so.1",
    "libnvidia-nvvm.so.4",
    "libnvcuvid.so.1",
    "libnvidia-encode.so.1",
    "libnvoptix.so.1",
    "libcudadebugger.so.1",
)
_RDMA = ("libibverbs.so.1", "libmlx5.so.1", "librdmacm.so.1")
_FABRICS = (
    "libfabric.so.1",
    "libmpi.so.40",
    "liboshmem.so.40",
    "libpmix.so.2",
    "libucp.so.0",
    "libucs.so.0",
)
# A wheel's name → what its plugins ask for. Names end in the CUDA major, or do not.
_PLUGINS = (
    (re.compile(r"nvidia-cufile(-cu\d+)?"), _RDMA),
    (re.compile(r"nvidia-nvshmem(-cu\d+)?"), (*_RDMA, *_FABRICS)),
    (re.compile(r"numba"), ("libtbb.so.12",)),
)


def absent(value: plan.Plan, wheels: Sequence[plan.Wheel]) -> list[str]:
    """Names of libraries that may be missing when files are patched, sorted."""
    found = set(DRIVER) if value.accelerator.kind == "cuda" else set()
    for wheel in wheels:
        if wheel.name.startswith(("nvidia-", "numba")):
            for pattern, names in _PLUGINS:
                if pattern.fullmatch(wheel.name):
                    found.update(names)
    return sorted(found)
