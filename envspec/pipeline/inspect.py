"""What is to be inspected: a prefix, wheels, or the locked wheels of a spec in the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.inspect import judge, package
from envspec.inspect.errors import UnreadableError
from envspec.inspect.judge import Asked, Fault
from envspec.inspect.library import Package
from envspec.lock.store import Store, cache_folder
from envspec.pipeline import load
from envspec.render import visible
from envspec.reporter import Reporter


class Inspected(NamedTuple):
    """The packages that were read, and what does not fit."""

    packages: tuple[Package, ...]
    asked: Asked
    faults: tuple[Fault, ...]


def inspect(paths: Sequence[Path], asked: Asked, reporter: Reporter) -> Inspected:
    """Read the libraries and judge them; nothing of them is run.

    Raises:
        DiagnosticError: E0840 (there is no such thing to inspect), E0841 (a wheel cannot be
            read), E0842 (locked wheels are not in the store), and what loading a spec raises.
    """
    kept = cache_folder() / "inspect"
    if len(paths) == 1 and paths[0].is_dir():
        prefix = package.find_prefix(paths[0])
        if prefix is None:
            raise _absent(paths[0], "it is a folder without installed Python packages")
        reporter.stage("reading the libraries")
        found = tuple(package.of_prefix(prefix, kept))
        return Inspected(found, asked, tuple(judge.judge(found, asked, prefix.beside)))
    whole = len(paths) == 1 and not package.is_wheel(paths[0])
    if whole:
        paths, asked = _locked(paths[0], asked)
    read = []
    for number, path in enumerate(paths, 1):
        if not package.is_wheel(path):
            raise _absent(path, "several things to inspect are wheels, and this is none")
        reporter.stage("reading the wheels")
        reporter.advance(number, len(paths))
        try:
            read.append(package.of_wheel(path, kept))
        except UnreadableError as error:
            raise _unread(path, str(error)) from None
        except OSError as error:
            raise _unread(path, (error.strerror or "it cannot be opened").lower()) from None
    found = tuple(read)
    return Inspected(found, asked, tuple(judge.judge(found, asked, whole=whole)))


def _locked(path: Path, asked: Asked) -> tuple[list[Path], Asked]:
    """The locked wheels of a spec, and what its platform and accelerator ask for."""
    if not path.is_file():
        raise _absent(path, "it is neither a folder, a wheel nor a spec")
    loaded = load.load(path)
    lock = load.read_lock(loaded)
    if lock is None:
        raise DiagnosticError.of(
            "E0401",
            "there is no `spec.lock` beside the spec",
            source=loaded.source,
            span=loaded.home,
            hint=f"run `envspec lock {loaded.argument}`",
        )
    store = Store()
    artefacts = [p.artefact for p in lock[0].packages]
    absent = [a.file for a in artefacts if not store.path(a).is_file()]
    if absent:
        raise DiagnosticError.of(
            "E0842",
            f"{len(absent)} of {len(artefacts)} locked wheels are not in the store",
            source=loaded.source,
            span=loaded.home,
            cause=", ".join(absent[:5]),
            hint=f"run `envspec fetch {loaded.argument}` first",
        )
    spec = loaded.spec
    gpus = asked.gpus or (spec.accelerator.gpus if spec.accelerator.kind == "cuda" else ())
    return [store.path(a) for a in artefacts], Asked(
        tuple(gpus), asked.glibc or spec.platform.glibc
    )


def _absent(path: Path, why: str) -> DiagnosticError:
    return DiagnosticError.of(
        "E0840",
        f"`{visible(str(path))}` cannot be inspected",
        cause=why,
        hint="name a prefix (a virtual environment), one or more wheels, or a locked spec",
    )


def _unread(path: Path, why: str) -> DiagnosticError:
    return DiagnosticError.of(
        "E0841",
        f"`{visible(path.name)}` is no wheel that can be read",
        cause=visible(why),
        hint="download it again; its name is NAME-VERSION-PYTHON-ABI-PLATFORM.whl",
    )
