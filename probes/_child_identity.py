"""Runs under the environment's interpreter, with its site-packages: says who it is.

argv: descriptor, subject (``interpreter``, ``torch``, ``jax`` or ``tensorflow``). The message
is one JSON object on one line; imports may print what they like on the usual streams.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, Dict, List, Tuple

FRAMEWORKS = ("torch", "jax", "tensorflow")


def interpreter() -> Dict[str, Any]:
    """The interpreter and what is installed for it, without importing any of it."""
    import importlib.util
    import platform

    packages, duplicates, unreadable = _packages()
    return {
        "executable": sys.executable,
        "python_version": platform.python_version(),
        "implementation": sys.implementation.name,
        "cache_tag": sys.implementation.cache_tag,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "libc": _libc(),
        "machine": platform.machine(),
        "packages": packages,
        "packages_duplicated": duplicates,
        "packages_unreadable": unreadable,
        "found": [name for name in FRAMEWORKS if importlib.util.find_spec(name) is not None],
    }


def _packages() -> Tuple[Dict[str, str], List[str], int]:
    """Installed distributions by normalised name. The first on the path wins, as in imports."""
    import importlib.metadata
    import re

    packages: Dict[str, str] = {}
    duplicates: List[str] = []
    unreadable = 0
    for distribution in importlib.metadata.distributions():
        try:
            name, version = distribution.metadata["Name"], distribution.version
        except Exception:  # metadata comes from anywhere
            name, version = "", ""
        if not name or not version:
            unreadable += 1
            continue
        normal = re.sub(r"[-_.]+", "-", name).lower()
        if normal in packages:
            duplicates.append(normal)
        packages.setdefault(normal, version)
    return packages, sorted(set(duplicates)), unreadable


def _libc() -> Dict[str, Any]:
    import glob
    import platform

    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (ValueError, OSError, AttributeError):
        name, version = platform.libc_ver()
    if not name and glob.glob("/lib/ld-musl-*"):
        name = "musl"
    return {"name": name or None, "version": version or None}


def torch() -> Dict[str, Any]:
    """What torch was built for and what it sees."""
    torch = importlib.import_module("torch")

    devices = []
    available = torch.cuda.is_available()
    for index in range(torch.cuda.device_count() if available else 0):
        properties = torch.cuda.get_device_properties(index)
        devices.append(
            {
                "name": properties.name,
                "capability": "%d.%d" % (properties.major, properties.minor),
                "total_memory": properties.total_memory,
            }
        )
    core = importlib.import_module("torch._C")
    flags = getattr(core, "_cuda_getArchFlags", None)  # the public call needs a GPU
    return {
        "version": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "cuda_available": available,
        "device_count": torch.cuda.device_count(),
        "devices": devices,
        "arch_list": (flags() or "").split() if flags is not None else [],
        "cxx11_abi": bool(torch.compiled_with_cxx11_abi()),
        "cudnn": _cudnn(torch),
        "nccl": _nccl(torch),
    }


def _cudnn(torch: Any) -> Any:
    """Its version as numbers with dots; None for a build without it, or where it does not load."""
    try:
        number = torch.backends.cudnn.version()
    except Exception:  # it is loaded when asked, and may not fit
        return None
    if not number:
        return None
    # 8.9.2 is 8902, and since 9 there are two digits more: 9.10.2 is 91002.
    major, rest = divmod(number, 10000 if number >= 90000 else 1000)
    return "%d.%d.%d" % (major, rest // 100, rest % 100)


def _nccl(torch: Any) -> Any:
    """Its version as numbers with dots; None for a build without it."""
    try:
        numbers = torch.cuda.nccl.version()
    except Exception:  # a CPU build lacks the function behind it
        return None
    if isinstance(numbers, int):
        return None
    return ".".join(str(n) for n in numbers[:3])


def jax() -> Dict[str, Any]:
    """Which backend jax chose."""
    jax = importlib.import_module("jax")

    return {
        "version": jax.__version__,
        "backend": jax.default_backend(),
        "device_count": jax.device_count(),
    }


def tensorflow() -> Dict[str, Any]:
    """What tensorflow was built for and what it sees."""
    tensorflow = importlib.import_module("tensorflow")

    return {
        "version": tensorflow.__version__,
        "built_with_cuda": tensorflow.test.is_built_with_cuda(),
        "device_count": len(tensorflow.config.list_physical_devices("GPU")),
    }


if __name__ == "__main__":
    report = os.fdopen(int(sys.argv[1]), "w", encoding="ascii")
    os.set_inheritable(report.fileno(), False)
    subject = {f.__name__: f for f in (interpreter, torch, jax, tensorflow)}[sys.argv[2]]
    del sys.argv[1:]
    try:
        answer = subject()
    except BaseException as exc:  # sys.exit at import is an answer too
        answer = {"error": {"type": type(exc).__name__, "message": str(exc)[:2000]}}
    report.write(json.dumps(answer, default=str) + "\n")
    report.flush()
    os._exit(0)
