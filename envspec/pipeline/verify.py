"""From a compiled spec to a report: fetch, build, climb, judge."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from envspec import render
from envspec.build.failure import BuildFailed
from envspec.build.protocol import Engine
from envspec.diagnostics import DiagnosticError
from envspec.emit import publish
from envspec.lock.store import Store, cache_folder
from envspec.lock.workspace import workspace
from envspec.model import GitSource
from envspec.pipeline.compile import Compiled
from envspec.pipeline.fetch import fetch, wheelhouse
from envspec.pipeline.load import Loaded
from envspec.pipeline.verifier import verifier
from envspec.placing import line_span, placed
from envspec.plan.digest import build_digest
from envspec.plan.model import Plan
from envspec.report.document import Subject, document
from envspec.reporter import Reporter
from envspec.verify import tools
from envspec.verify.claims.model import Provenance
from envspec.verify.hardware import gpu_count
from envspec.verify.pyramid import climb

_GIB = 1 << 30
_T = TypeVar("_T")


class Machine(NamedTuple):
    """The engine to use, the sentence that says why this one, and the local image that stands in
    for the base, ``""`` for none."""

    engine: Engine
    why: str
    base_from: str = ""


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
    info = machine.engine.info()
    if made.plan.asked and info.system:
        said = f"packages of the distribution were chosen for `{made.plan.asked}`, not for the base"
        info = info._replace(weaknesses=(*info.weaknesses, said))
    fetch(loaded, made.plan, store, reporter, system=info.system, base_from=machine.base_from)
    with placed(loaded.source, loaded.home):
        _empty(logs)
    with workspace(cache_folder() / "work") as work, placed(loaded.source, loaded.home):
        place = _prepare(made, store, work, logs, system=info.system)
        built = _built(loaded, place, lambda: machine.engine.build(*place.arguments(reporter)))
        scripts = work / "entries"
        scripts.mkdir()
        shown = tools.mounts(made.plan, scripts)
        gpus = gpu_count()
        name = f"{info.name}-{build_digest(made.plan)[:32]}"
        pycache = cache_folder() / "pycache" / name
        locked = built.immutable and not built.base_substituted
        origin = provenance(loaded, made, built.digest if locked else "")
        outcome = climb(
            made.plan, machine.engine, built, shown, origin, gpus, pycache, logs, reporter
        )
        rebuilt = None
        if rebuild:
            again = place._replace(log=logs / "rebuild.log")
            rebuilt = _built(
                loaded, again, lambda: machine.engine.rebuild(*again.arguments(reporter))
            )
    findings = render.document(loaded.findings)["diagnostics"]
    told = (subject(loaded, made), verifier(gpus), made.plan, info, machine.why)
    return document(*told, built, outcome, findings, rebuilt)


def subject(loaded: Loaded, made: Compiled) -> Subject:
    """The digests that say what a report is about. Pure."""
    return Subject(
        made.plan.spec,
        _sha256(loaded.source.text),
        _sha256(made.lock_text),
        _sha256(made.files["plan.json"]),
        build_digest(made.plan),
    )


def provenance(loaded: Loaded, made: Compiled, image: str) -> Provenance:
    """What the claims of a spec about its origin are held against. ``image`` is the digest of the
    image of the locked base, ``""`` for none: on another base it is not the one of a claim. Pure.
    """
    source = loaded.spec.project.source
    flake = made.files.get("flake.lock")
    return Provenance(
        made.plan.platform,
        *((source.url, source.commit) if isinstance(source, GitSource) else ("", "")),
        _sha256(made.lock_text),
        image,
        _sha256(flake) if flake is not None else "",
    )


class _Place(NamedTuple):
    """What an engine builds from, and where its log goes."""

    plan: Plan
    context: Path
    files: Path
    log: Path

    def arguments(self, reporter: Reporter) -> tuple[Plan, Path, Path, Reporter, Path]:
        """In the order of `Engine.build`."""
        return self.plan, self.context, self.files, reporter, self.log


def _prepare(made: Compiled, store: Store, work: Path, logs: Path, *, system: bool) -> _Place:
    context, files = work / "context", work / "wheels"
    context.mkdir()
    for name, text in made.files.items():
        (context / name).write_text(text, encoding="utf-8", newline="\n")
    wheelhouse(made.plan, store, files, system=system)
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
