"""How an entry is run, for every target that runs entries: devices, memory, variables, names.

It is what `envspec verify` gives an entry. A target runs the command and reports how it ended;
expected files and output are judged by `envspec verify` alone.
"""

from __future__ import annotations

import hashlib
import re

from envspec.plan import model as plan
from envspec.plan.digest import build_digest

USER = 65534
SCRATCH = 4 << 30
PROCESSES = 512
_MEMORY = 8 << 30
_SHM = 1 << 30  # the 64 MiB that engines give by default are too small for data loaders and NCCL
_NOT_LABEL = re.compile(r"[^a-z0-9-]+")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def gpus(value: plan.Plan, entry: plan.Entry) -> int:
    """How many GPUs an entry is shown: c3 one, c4 one for each process."""
    if value.accelerator.kind != "cuda":
        return 0
    return {"c3": 1, "c4": entry.processes}.get(entry.level, 0)


def shm(value: plan.Plan) -> int:
    """The size of /dev/shm in bytes."""
    return value.resources.shm or _SHM


def memory(value: plan.Plan) -> int:
    """The most memory of an entry in bytes."""
    return value.resources.memory or _MEMORY


def environment(value: plan.Plan, entry: plan.Entry) -> dict[str, str]:
    """The variables of an entry beside those of the image, the entry's own last."""
    result = {
        "HOME": "/tmp",  # noqa: S108 - the one folder inside that can be written
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GLOO_SOCKET_IFNAME": "lo",
        "NCCL_SOCKET_IFNAME": "lo",
    }
    if not gpus(value, entry):
        result["CUDA_VISIBLE_DEVICES"] = ""
        if value.accelerator.kind == "cuda":
            # The image asks for every GPU, and a runtime would give them unasked.
            result["NVIDIA_VISIBLE_DEVICES"] = "void"
    return {**result, **dict(value.environment), **dict(entry.environment)}


def label(text: str) -> str:
    """A DNS label that stands for ``text``: itself where it is one, else with a digest behind,
    so that two texts never share a label."""
    if _LABEL.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    plain = _NOT_LABEL.sub("-", text.lower())[:30].strip("-")
    return f"{plain or 'x'}-{digest}"


def image(value: plan.Plan) -> str:
    """``name:tag``; the tag changes when the environment does."""
    return f"{label(value.project)}:{build_digest(value)[:16]}"
