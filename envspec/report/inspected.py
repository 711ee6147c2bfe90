"""What an inspection found, for people and for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from envspec.inspect.demangle import demangle
from envspec.inspect.judge import DEVICE, SYMBOLS, Asked, Fault
from envspec.inspect.library import Package
from envspec.render import visible

_SHOWN = 6


def verdict(faults: Sequence[Fault]) -> str:
    """`fail` where something does not fit, `blocked` where something could not be told."""
    if any(f.fits is False for f in faults):
        return "fail"
    return "blocked" if faults else "pass"


def document(packages: Sequence[Package], asked: Asked, faults: Sequence[Fault]) -> dict[str, Any]:
    """The whole as plain data."""
    return {
        "verdict": verdict(faults),
        "gpus": list(asked.gpus),
        "glibc": asked.glibc or None,
        "packages": [
            {
                "name": package.name,
                "version": package.version,
                "libraries": [
                    {"path": lib.path, "sass": list(lib.sass), "ptx": list(lib.ptx)}
                    for lib in package.libraries
                ],
            }
            for package in packages
            if package.libraries
        ],
        "faults": [_fault(fault) for fault in faults],
    }


def _fault(fault: Fault) -> dict[str, Any]:
    shown = {n: demangle(n) for n in fault.names} if fault.kind == SYMBOLS else {}
    names = [{"name": n, **({"demangled": shown[n]} if n in shown else {})} for n in fault.names]
    kept = {"kind": fault.kind, "package": fault.package, "library": fault.library}
    return {**kept, "fits": fault.fits, "why": fault.why, "names": names}


def text(packages: Sequence[Package], asked: Asked, faults: Sequence[Fault]) -> str:
    """The whole for a terminal, without colours."""
    libraries = [lib for package in packages for lib in package.libraries]
    lines = [f"{len(packages)} packages, {len(libraries)} libraries read"]
    for fault in faults:
        lines += ["", *_lines(fault)]
    wrong = sum(f.fits is False for f in faults)
    unknown = len(faults) - wrong
    looked = ["symbols of torch", "needed libraries", "CUDA majors"]
    looked += [f"device code for {' '.join(asked.gpus)}"] if asked.gpus else []
    looked += [f"glibc {asked.glibc}"] if asked.glibc else []
    lines += ["", f"looked at: {', '.join(looked)}"]
    lines.append(f"verdict: {verdict(faults)}   {wrong} do not fit, {unknown} could not be told")
    return "\n".join(map(visible, lines)) + "\n"


def _lines(fault: Fault) -> Iterator[str]:
    where = f"{fault.package} › {fault.library}" if fault.library else "the set"
    tone = "does not fit" if fault.fits is False else "not known"
    yield f"{where}: {fault.kind}, {tone}"
    yield f"  {fault.why}"
    if fault.kind == DEVICE:
        yield f"  no code for {' '.join(fault.names)}"
        return
    for name in fault.names[:_SHOWN]:
        yield f"  - {(demangle(name) or name) if fault.kind == SYMBOLS else name}"
    if len(fault.names) > _SHOWN:
        yield f"  and {len(fault.names) - _SHOWN} more"
