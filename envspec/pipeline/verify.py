"""From a compiled spec to a report: fetch, build, climb, judge."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from envspec import render
from envspec.build.failure import BuildFailed
from envspec.build.protocol import Engine
from envspec.diagnostics import DiagnosticError
from envspec.emit import publish
from envspec.lock import transfer
from envspec.lock.indexes import Indexes
from envspec.lock.model import Artefact
from envspec.lock.places import Locations
from envspec.lock.sources import origins_of
from envspec.lock.store import Store, cache_folder
from envspec.lock.workspace import workspace
from envspec.pipeline.compile import Compiled
from envspec.pipeline.load import Loaded
from envspec.placing import line_span, placed
from envspec.plan.digest import build_digest
from envspec.plan.model import Plan
from envspec.report.document import Subject, document
from envspec.reporter import Reporter
from envspec.source import Span
from envspec.verify import tools
from envspec.verify.hardware import gpu_count
from envspec.verify.pyramid import climb

_GIB = 1 << 30
_T = TypeVar("_T")


class Machine(NamedTuple):
    """The engine to use and the sentence that says why this one."""

    engine: Engine
    why: str


def fetch(loaded: Loaded, plan: Plan, store: Store, reporter: Reporter) -> None:
    """Bring every file of a plan into the store.

    Raises:
        DiagnosticError: E0501 to E0504, each at the statement that asks for the file.
    """
    locations = Locations(
        Indexes({i.name: i.url for i in loaded.spec.indexes if i.url}),
        (loaded.path.parent,),
        loaded.source,
        _spans(loaded, plan),
        origins(loaded, plan, store, reporter),
    )
    with placed(loaded.source, loaded.home):
        store.fetch_all([Artefact(*f) for f in plan.files], locations, reporter)


def _spans(loaded: Loaded, plan: Plan) -> dict[str, Span]:
    """File name → the statement of the spec that it comes from."""
    spec = loaded.spec
    stated = {p.name: p.span for p in spec.packages}
    home = spec.packages[0].span if spec.packages else loaded.home
    spans = {w.file.file: stated.get(w.name, home) for w in plan.wheels}
    spans[plan.installer.file.file] = loaded.home
    spans[plan.source.archive.file] = spec.project.source.span
    for step in plan.extensions:
        at = next((e.span for e in spec.extensions if e.name == step.name), loaded.home)
        spans.update({wheel.file.file: at for wheel in plan.build_only(step)})
        spans[step.archive.file] = at
    for system in plan.system:
        at = next((p.span for p in spec.system if p.stage == system.stage), loaded.home)
        spans.update({deb.file.file: at for deb in system.debs})
    return spans


def origins(
    loaded: Loaded, plan: Plan, store: Store, reporter: Reporter
) -> dict[str, Callable[[Path], None]]:
    """What can make or bring a file that no index has: file name → what writes it to a path."""
    return origins_of(loaded.spec, loaded.source, reporter)


def wheelhouse(plan: Plan, store: Store, folder: Path) -> None:
    """Every file of a plan in a folder for each layer, as the Dockerfile expects them."""
    for layer, files in plan.layers:
        store.wheelhouse([Artefact(*f) for f in files], folder / layer)


def hand_out(plan: Plan, store: Store, folder: Path) -> None:
    """A wheelhouse for people: all of it appears in ``folder``, or nothing does.

    Raises:
        DiagnosticError: E0504 (disk full), E0603.
    """
    there = folder.exists()
    beside = folder / ".envspec-tmp"
    try:
        with workspace(beside) as work:
            wheelhouse(plan, store, work)
            with publish.unbroken():
                for layer, files in plan.layers:
                    (folder / layer).mkdir(exist_ok=True)
                    for file in files:
                        transfer.move(work / layer / file.file, folder / layer / file.file)
    except OSError as error:
        raise publish.unwritten(error, folder, sum(f.size for f in plan.files)) from None
    finally:
        # Not empty: it is complete, or another process is at work in it.
        for left in (beside, *([] if there else [folder])):
            with suppress(OSError):
                left.rmdir()


def verify(
    loaded: Loaded,
    made: Compiled,
    machine: Machine,
    logs: Path,
    reporter: Reporter,
    *,
    rebuild: bool = False,
) -> dict[str, Any]:
    """Build the environment, climb the pyramid and return the report. ``logs`` is a folder for
    the evidence; it is made anew. ``rebuild`` builds twice more, from nothing, and compares.

    Raises:
        DiagnosticError: E05.. (files), E07.. (engine, build), E0803 (tools).
    """
    machine.engine.sweep()
    _room(loaded)
    store = Store()
    fetch(loaded, made.plan, store, reporter)
    with placed(loaded.source, loaded.home):
        _empty(logs)
    with workspace(cache_folder() / "work") as work, placed(loaded.source, loaded.home):
        place = _prepare(made, store, work, logs)
        built = _built(loaded, place, lambda: machine.engine.build(*place.arguments(reporter)))
        scripts = work / "entries"
        scripts.mkdir()
        shown = tools.mounts(made.plan, scripts)
        gpus = gpu_count()
        name = f"{machine.engine.info().name}-{build_digest(made.plan)[:32]}"
        pycache = cache_folder() / "pycache" / name
        outcome = climb(made.plan, machine.engine, built, shown, gpus, pycache, logs, reporter)
        rebuilt = None
        if rebuild:
            again = place._replace(log=logs / "rebuild.log")
            rebuilt = _built(
                loaded, again, lambda: machine.engine.rebuild(*again.arguments(reporter))
            )
    subject = Subject(
        made.plan.spec,
        _sha256(loaded.source.text),
        _sha256(made.lock_text),
        _sha256(made.files["plan.json"]),
        build_digest(made.plan),
    )
    findings = render.document(loaded.findings)["diagnostics"]
    info = machine.engine.info()
    return document(subject, made.plan, info, machine.why, built, outcome, findings, rebuilt)


class _Place(NamedTuple):
    """What an engine builds from, and where its log goes."""

    plan: Plan
    context: Path
    files: Path
    log: Path

    def arguments(self, reporter: Reporter) -> tuple[Plan, Path, Path, Reporter, Path]:
        """In the order of `Engine.build`."""
        return self.plan, self.context, self.files, reporter, self.log


def _prepare(made: Compiled, store: Store, work: Path, logs: Path) -> _Place:
    context, files = work / "context", work / "wheels"
    context.mkdir()
    for name, text in made.files.items():
        (context / name).write_text(text, encoding="utf-8", newline="\n")
    wheelhouse(made.plan, store, files)
    return _Place(made.plan, context, files, logs / "build.log")


def _built(loaded: Loaded, place: _Place, build: Callable[[], _T]) -> _T:
    """What ``build`` gives; where it fails, the finding is at the line of the spec."""
    try:
        return build()
    except BuildFailed as failure:
        span = line_span(loaded.source, failure.line) if failure.line else loaded.home
        raise DiagnosticError.of(
            failure.code,
            failure.title,
            source=loaded.source,
            span=span,
            cause=failure.cause,
            hint=f"the whole log is at {place.log}" if failure.excerpt else failure.hint,
            excerpt=failure.excerpt,
        ) from None


def _room(loaded: Loaded) -> None:
    """Refuse to begin what the disk of the cache has no room for, by the spec's own word."""
    asked = loaded.spec.resources
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if asked.disk > free:
        raise DiagnosticError.of(
            "E0504",
            f"the spec asks for {asked.disk / _GIB:.1f} GiB of disk, {free / _GIB:.1f} are free",
            source=loaded.source,
            span=asked.span,
            label="asked for here",
            hint="make room, or set ENVSPEC_CACHE to a folder on a larger disk",
        )


def _empty(logs: Path) -> None:
    """A folder without the evidence of an earlier run, which would be taken for this one's."""
    try:
        logs.mkdir(parents=True, exist_ok=True)
        for pattern in ("*.json", "*.log"):
            for old in logs.glob(pattern):
                old.unlink()
    except OSError as error:
        raise publish.unwritten(error, logs, 0) from None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
