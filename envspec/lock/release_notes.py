"""What a change of a package means, by the facts: CUDA, driver, GPUs, ABI. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envspec.facts import lookup
from envspec.facts.builds import COMPANIONS, build_of_index
from envspec.facts.device_code import arch, binary_runs_on, sm_name, torch_runs_on
from envspec.facts.rows import TensorflowRelease, TorchBuild
from envspec.lock.model import LockedPackage
from envspec.wording import listed


def notes(was: LockedPackage | None, now: LockedPackage | None, machine: str) -> tuple[str, ...]:
    """Clauses about a package that changed, for the processor ``machine`` (``x86_64``)."""
    found: list[str] = []
    package = now or was
    name = package.name if package else ""
    if name == "torch":
        found += _torch(was, now, machine)
    elif name == "tensorflow" and was and now:
        found += _tensorflow(was.version, now.version)
    elif name in COMPANIONS and now:
        found += _companion(now)
    if was and now:
        found += _file(was, now)
    return tuple(found)


def torch_row(package: LockedPackage | None, machine: str) -> TorchBuild | None:
    """The row of a locked torch; its build is said by its version, else by its index."""
    if package is None:
        return None
    build = None if "+" in package.version else build_of_index(package.artefact.index) or None
    return lookup.torch_build(package.version, build, machine)


def _torch(was: LockedPackage | None, now: LockedPackage | None, machine: str) -> Iterator[str]:
    old, new = torch_row(was, machine), torch_row(now, machine)
    unknown = [p.version for p, row in ((was, old), (now, new)) if p is not None and row is None]
    if unknown:
        yield f"torch {listed(unknown)} is not among the facts"
    if old is None or new is None:
        row = old or new
        if row is not None and not unknown:
            yield _brings(row)
        return
    if old.cuda != new.cuda:
        default = "default " if old.default and new.default else ""
        yield f"{default}CUDA {old.cuda or 'none'} → {new.cuda or 'none'}"
        yield from _changed("driver floor", _floor(old), _floor(new))
    yield from _device_code(old, new)
    yield from _changed("cuDNN", old.cudnn, new.cudnn)
    yield from _changed("NCCL", old.nccl, new.nccl)
    yield from _changed("glibc floor", old.glibc, new.glibc)
    yield from _changed("oldest Python", old.python_min, new.python_min)
    yield from _changed("newest Python", old.python_max, new.python_max)
    if None not in {old.cxx11_abi, new.cxx11_abi} and old.cxx11_abi != new.cxx11_abi:
        yield (f"C++11 ABI {int(bool(old.cxx11_abi))} → {int(bool(new.cxx11_abi))}: extensions "
               "have to be built again")  # fmt: skip


def _brings(row: TorchBuild) -> str:
    floor = _floor(row)
    if not row.cuda:
        return "built without CUDA"
    return f"built for CUDA {row.cuda}" + (f", driver floor {floor}" if floor else "")


def _floor(row: TorchBuild) -> str | None:
    found = lookup.driver_floor(row.cuda) if row.cuda else None
    return found.linux if found else None


def _device_code(old: TorchBuild, new: TorchBuild) -> Iterator[str]:
    """GPUs that had native code and do not run any more, and the other way round. A GPU that the
    code of an older minor still runs on is no loss."""
    if not old.architectures and not new.architectures:
        return
    if old.architectures is None or new.architectures is None:
        yield "whether it has code for the same GPUs is not known"
        return
    lost = [sm for sm in old.architectures if torch_runs_on(new, sm) is False]
    unsure = [sm for sm in old.architectures if torch_runs_on(new, sm) is None]
    # PTX may already have run there; code of its own is what is new.
    won = [sm for sm in new.architectures if binary_runs_on(old.architectures, (), sm) is False]
    if lost:
        yield f"{_named(lost)} dropped"
    if unsure:
        yield f"whether {_named(unsure)} is still supported is not known"
    if won:
        yield f"native code for {_named(won)} added"


def _named(sms: Iterable[str]) -> str:
    """`Volta (sm_70)`, `Blackwell (sm_100 and sm_120)`."""
    generations: dict[str, list[str]] = {}
    for sm in sms:
        row = arch(sm)
        generations.setdefault(row.generation if row else "", []).append(sm_name(sm))
    return listed(
        f"{generation} ({listed(names)})" if generation else listed(names)
        for generation, names in generations.items()
    )


def _tensorflow(was: str, now: str) -> Iterator[str]:
    old: TensorflowRelease | None = lookup.tensorflow_release(was.partition("+")[0])
    new = lookup.tensorflow_release(now.partition("+")[0])
    if old is None or new is None:
        yield "which CUDA it takes is not among the facts"
        return
    yield from _changed("CUDA", old.cuda, new.cuda)
    yield from _changed("cuDNN", old.cudnn, new.cudnn)
    yield from _changed("oldest Python", old.python_min, new.python_min)
    yield from _changed("newest Python", old.python_max, new.python_max)


def _companion(now: LockedPackage) -> Iterator[str]:
    rows = lookup.companion(now.name, now.version.partition("+")[0])
    if rows:
        yield f"goes with torch {listed(dict.fromkeys(row.torch for row in rows))}"


def _changed(what: str, was: str | None, now: str | None) -> Iterator[str]:
    if was and now and was != now:
        yield f"{what} {was} → {now}"


def _file(was: LockedPackage, now: LockedPackage) -> Iterator[str]:
    """Where it comes from, and whether its bytes are what they were."""
    old, new = was.artefact, now.artefact
    if old.index != new.index:
        yield f"index {old.index or 'beside the spec'} → {new.index or 'beside the spec'}"
    if was.version == now.version and old.sha256 != new.sha256:
        if old.file == new.file:
            yield (f"THE SAME FILE NAME WITH OTHER BYTES: {new.file}, sha256 "
                   f"{old.sha256[:12]}… → {new.sha256[:12]}…")  # fmt: skip
        else:
            yield f"the same version in another file: {old.file} → {new.file}"
    elif was.version == now.version and old.file != new.file:
        yield f"file {old.file} → {new.file}"
