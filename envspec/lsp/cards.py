"""Facts about one thing, as Markdown lines with their source and date. Pure.

What a table does not say is said to be not known, never left to be guessed. Texts of a spec or a
lock stand in code spans only, so nothing of them is read as Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from envspec.facts import lookup
from envspec.facts.builds import cuda_of_build
from envspec.facts.rows import (
    Arch,
    HostCompiler,
    ImportName,
    TorchBuild,
    TorchPairing,
)
from envspec.facts.tables import rows
from envspec.facts.versions import at_least, within
from envspec.lsp.offers import architecture, known_packages
from envspec.rules.view import View

Lines = list[str]
UNKNOWN = "not known"


class _Born(Protocol):
    """A row with its birth certificate."""

    @property
    def source(self) -> str: ...

    @property
    def as_of(self) -> str: ...


def code(text: str) -> str:
    """A text as a code span, whatever is in it."""
    shown = "".join(c if c.isprintable() and c != "`" else " " for c in text[:200])
    return f"`{shown}`" if shown.strip() else "(empty)"


# --- packages -----------------------------------------------------------------------------


def package(name: str, view: View) -> Lines:
    """What the facts and the lock say of a package."""
    lines: Lines = []
    if name == "torch":
        lines += torch(view)
    lines += _pairing(name, view)
    if name in {"jax", "jaxlib"}:
        lines += _jax()
    if name == "tensorflow":
        lines += _tensorflow(view)
    lines += extension(name)
    lines += _modules(name)
    version = view.locked.get(name)
    if version:
        lines.append(f"- Locked at {code(version)}")
    if not lines and name in known_packages():
        lines.append(f"- {known_packages()[name]}")
    return lines


def torch(view: View) -> Lines:
    """What stands behind the torch of a spec: driver, architectures, Python, ABI, companions."""
    settled, row = view.torch, view.torch_build
    if settled is None:
        return ["- Its version is not settled: pin it with `==`, or lock the spec"]
    if row is None:
        build = view.torch_build_name
        what = f"in build {code(build)}" if build else "from this index"
        return [f"- The facts know no torch {code(settled.version)} {what}"]
    companions: dict[str, list[str]] = {}
    for pairing in lookup.pairings(settled.public):
        companions.setdefault(pairing.package, []).append(_said(pairing))
    kind = f"CUDA {row.cuda}" if row.cuda else "CPU only"
    default = ", the build of the default index" if row.default else ""
    lines = [f"- torch {code(settled.public)}, build {code(row.build)}: {kind}{default}"]
    if row.cuda:
        lines += [*_drivers(row.cuda), *_code(row)]
    lines += [
        f"- Python: {row.python_min} to {row.python_max}",
        f"- glibc: {row.glibc or UNKNOWN}; C++11 ABI: {_abi(row.cxx11_abi)}",
    ]
    brought = [f"{n} {v}" for n, v in _brought(row) if v]
    if brought:
        lines.append(f"- Brings: {', '.join(brought)}")
    if companions:
        named = (f"{name} {_few(versions)}" for name, versions in companions.items())
        lines.append(f"- Goes with: {'; '.join(named)}")
    return lines + _end(row, row.note)


def _brought(row: TorchBuild) -> tuple[tuple[str, str | None], ...]:
    return (("cuDNN", row.cudnn), ("NCCL", row.nccl), ("triton", row.triton))


def _few(versions: list[str]) -> str:
    return ", ".join(versions[:3]) + (", …" if versions[3:] else "")


def _abi(new: bool | None) -> str:
    return {True: "TRUE", False: "FALSE", None: UNKNOWN}[new]


def _drivers(cuda: str) -> Lines:
    floor, shipped = lookup.driver_floor(cuda), lookup.toolkit_driver(cuda)
    text = f">= {floor.linux}" if floor else UNKNOWN
    if floor and floor.minor_compatible:
        text += f" (every CUDA {cuda.partition('.')[0]} runs on it)"
    if shipped:
        text += f"; for PTX >= {shipped.linux}"
    return [f"- Driver: {text}"]


def _code(row: TorchBuild) -> Lines:
    native = UNKNOWN if row.architectures is None else _sms(row.architectures)
    ptx = UNKNOWN if row.ptx is None else _sms(row.ptx) or "none"
    return [f"- Architectures: {native}; PTX: {ptx}"]


def _sms(sms: Iterable[str]) -> str:
    return ", ".join(architecture(sm) for sm in sms)


def _pairing(name: str, view: View) -> Lines:
    known = [p for p in rows(TorchPairing) if p.package == name]
    if not known:
        return []
    settled = view.settled.get(name)
    version = settled.public if settled else ""
    lines: Lines = []
    if view.torch is not None:
        fitting = lookup.pairings(view.torch.public, name)
        what = _few(list(dict.fromkeys(_said(p) for p in fitting))) or UNKNOWN
        lines.append(f"- With torch {code(view.torch.public)}: {name} {what}")
    made_for = [p for p in known if version and _starts(version, p.version)]
    lines.extend(f"- {name} {p.version} goes with torch {_torch(p)}" for p in made_for[:3])
    row = next(iter(made_for or known))
    return lines + _end(row, row.note if made_for else None)


def _said(pairing: TorchPairing) -> str:
    return f"{pairing.version}.*" if pairing.version.count(".") == 1 else pairing.version


def _torch(pairing: TorchPairing) -> str:
    endings = {"series": ".*", "at_least": " and newer"}
    return f"{pairing.torch}{endings.get(pairing.relation, '')}"


def _starts(version: str, series: str) -> bool:
    return version == series or version.startswith(f"{series}.")


def _jax() -> Lines:
    lines: Lines = []
    for plugin in ("cuda12", "cuda13"):
        row = lookup.jax_plugin(plugin)
        if row:
            lines.append(
                f"- `jax[{plugin}]`: driver >= {row.driver}, CUDA >= {row.cuda}, cuDNN >= "
                f"{row.cudnn_min} and < {row.cudnn_below}, {architecture(row.sm_min)} and newer"
            )
            lines += _end(row, row.note)
    return lines


def _tensorflow(view: View) -> Lines:
    settled = view.settled.get("tensorflow")
    row = lookup.tensorflow_release(settled.public) if settled else None
    if row is None:
        return ["- The facts do not know this release"] if settled else []
    return [
        f"- TensorFlow {row.release}: CUDA {row.cuda}, cuDNN {row.cudnn}, "
        f"Python {row.python_min} to {row.python_max}",
        *_end(row),
    ]


def _modules(name: str) -> Lines:
    found = [r for r in rows(ImportName) if name in r.distributions]
    if not found:
        return []
    shown = ", ".join(code(r.module) for r in found[:8])
    notes = [r.note for r in found if r.note]
    return [f"- Provides: {shown}", *(f"- Note: {note}" for note in notes[:2])]


def extension(name: str) -> Lines:
    """What building or running a native extension takes."""
    row = lookup.extension(name)
    if row is None:
        return []
    offered = {"wheel": "a wheel", "sdist": "a source archive", "git": "nothing"}
    lines = [f"- Native extension; its index offers {offered[row.distribution]}"]
    if row.repository:
        lines.append(f"- Repository: {code(row.repository)}")
    if row.needs:
        lines.append(f"- Its build needs: {', '.join(map(code, row.needs))}")
    if row.build_variables:
        lines.append(f"- Its build reads: {', '.join(map(code, row.build_variables))}")
    least = [("CUDA", row.cuda_min), ("glibc", row.glibc_min)]
    bounds = [f"{what} >= {value}" for what, value in least if value]
    if row.sm_min:
        bounds.append(f"{architecture(row.sm_min)} and newer")
    if bounds:
        lines.append(f"- Needs {', '.join(bounds)}")
    if row.ram_per_job_gb:
        lines.append(f"- One compile job takes about {row.ram_per_job_gb} GB of memory")
    if row.tool_at_run:
        lines.append(f"- Needs {code(row.tool_at_run)} when it runs")
    if row.wheel_pattern and row.wheels_at:
        lines.append(f"- Prebuilt wheels: {row.wheels_at}, {code(row.wheel_pattern)}")
    return lines + _end(row, row.note)


# --- the machine --------------------------------------------------------------------------


def toolkit(cuda: str) -> Lines:
    """What a CUDA release asks of the driver and of the compiler."""
    floor = lookup.driver_floor(cuda)
    if floor is None:
        return [f"- The facts know no CUDA {code(cuda)}"]
    lines = _drivers(cuda)
    compiler = next((r for r in rows(HostCompiler) if within(cuda, r.first, r.last)), None)
    if compiler:
        lines.append(f"- nvcc accepts gcc up to {compiler.gcc}, clang up to {compiler.clang}")
    covered = [r.sm for r in rows(Arch) if r.first_toolkit and _compiles(r, cuda)]
    if covered:
        lines.append(f"- nvcc compiles for: {_sms(covered)}")
    return lines + _end(floor, floor.note)


def _compiles(row: Arch, cuda: str) -> bool:
    return within(cuda, row.first_toolkit or cuda, row.last_toolkit)


def driver(number: str) -> Lines:
    """Which CUDA a driver runs."""
    newest = lookup.cuda_number(number)
    floors = [
        row
        for cuda in ("13", "12", "11")
        if (row := lookup.driver_floor(cuda)) and at_least(number, row.linux)
    ]
    lines = [f"- Newest CUDA of this driver (what `nvidia-smi` prints): {newest or UNKNOWN}"]
    if floors:
        majors = ", ".join(f"CUDA {row.cuda}" for row in floors)
        lines.append(f"- It is at or above the floor of {majors}: native code of every minor runs")
        lines.append("- PTX of a toolkit newer than the driver's own CUDA does not run")
        lines += _end(floors[0])
    return lines


def gpu(name: str) -> Lines:
    """Which GPUs an architecture is, and which toolkits compile for it."""
    row = next((r for r in rows(Arch) if architecture(r.sm) == name), None)
    if row is None:
        return [f"- The facts know no architecture {code(name)}"]
    first, last = row.first_toolkit, row.last_toolkit
    toolkits = f"from {first}" if first else "first one not known"
    toolkits += f" to {last}" if last else ", still in the newest"
    embedded = " (embedded)" if row.tegra else ""
    return [
        f"- {row.generation}{embedded}: {', '.join(row.gpus) or UNKNOWN}",
        f"- CUDA toolkits that compile for it: {toolkits}",
        *_end(row, row.note),
    ]


def image(name: str) -> Lines:
    """What a base image carries, where its name says so."""
    row = lookup.distribution_of_image(name)
    if row is None:
        return ["- The facts do not know the distribution of this image"]
    libc = f"glibc {row.glibc}" if row.libc == "glibc" else "musl, for which few wheels are made"
    compiler = f", gcc {row.gcc} as its compiler" if row.gcc else ""
    return [f"- {row.name} {row.version}: {libc}{compiler} ({row.verified})", *_end(row)]


def index(alias: str, view: View) -> Lines:
    """Where an index is, by its alias."""
    declared = next((i for i in view.spec.indexes if i.name == alias), None)
    if declared is not None and declared.url:
        return [f"- Declared in this spec: {code(declared.url)}"]
    if alias == "pypi":
        return ["- The default index of pip and uv"]
    cuda = cuda_of_build(alias.removeprefix("pytorch-"))
    if cuda:
        return [f"- Builds of torch for CUDA {cuda}; known to uv", *_drivers(cuda)]
    if alias == "pytorch-cpu":
        return ["- Builds of torch for CPU; known to uv"]
    return ["- Not declared in this spec"]


def module(name: str) -> Lines:
    """Which distribution provides a module."""
    row = lookup.distribution_for_import(name)
    if row is None:
        return []
    made = ", ".join(map(code, row.distributions)) or f"the repository {code(row.repository or '')}"
    return [f"- {code(name)} comes from {made}", *_end(row, row.note)]


def _end(row: _Born, note: str | None = None) -> Lines:
    said = [f"- Note: {note}"] if note else []
    return [*said, f"- *Source: {row.source}; as of {row.as_of}*"]
