"""The files of a plan: into the store, and from there into a folder that a build sees."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from envspec.emit import publish
from envspec.lock import transfer
from envspec.lock.indexes import Indexes
from envspec.lock.model import Artefact, Deb
from envspec.lock.places import Locations
from envspec.lock.sources import origins_of
from envspec.lock.store import Store
from envspec.lock.workspace import workspace
from envspec.pipeline.load import Loaded
from envspec.placing import placed
from envspec.plan.model import BUILD_DEBS, DEBS, File, Plan
from envspec.reporter import Reporter
from envspec.source import Span

_SYSTEM = frozenset({DEBS, BUILD_DEBS})


def fetch(
    loaded: Loaded,
    plan: Plan,
    store: Store,
    reporter: Reporter,
    *,
    system: bool = True,
    base_from: str = "",
) -> None:
    """Bring every file of a plan into the store; without ``system`` all but the packages of the
    distribution. ``base_from`` is a local image to bring those, where the base cannot be pulled.

    Raises:
        DiagnosticError: E0413, E0414, E0420 to E0425, E0501 to E0505, each at the statement that
            asks for the file.
    """
    spec, spans = loaded.spec, _spans(loaded, plan)
    files = [Artefact(*file) for layer in layers(plan, system=system) for file in layer[1]]
    locations = Locations(
        Indexes(
            {i.name: i.url for i in spec.indexes if i.url},
            mirrors=[(m.name, m.index) for m in spec.mirrors],
        ),
        (loaded.path.parent,),
        loaded.source,
        spans,
        origins_of(spec, loaded.source, reporter),
    )
    wanted = _wanted(plan, base_from) if system and plan.system else []
    with placed(loaded.source, loaded.home):
        missing = [(image, deb) for image, deb in wanted if not store.has(_artefact(deb))]
        if not missing:
            store.fetch_all(files, locations, reporter)
            return
        from envspec.lock.debian.download import Wanted, bringing

        some = [Wanted(deb, image, spans[deb.file]) for image, deb in missing]
        with bringing(some, plan.platform, loaded.source, store.root / "tmp", reporter) as debs:
            origins = {**locations.origins, **debs}
            store.fetch_all(files, locations._replace(origins=origins), reporter)


def layers(plan: Plan, *, system: bool = True) -> list[tuple[str, tuple[File, ...]]]:
    """Folders of the wheelhouse with their files, each file once among all of them."""
    return [(name, files) for name, files in plan.layers if system or name not in _SYSTEM]


def wheelhouse(plan: Plan, store: Store, folder: Path, *, system: bool = True) -> None:
    """Every file of a plan in a folder for each layer, as the Dockerfile expects them."""
    for layer, files in layers(plan, system=system):
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
        named = {p.name: p.span for p in spec.system}
        first = next((p.span for p in spec.system if p.stage == system.stage), loaded.home)
        spans.update({deb.file.file: named.get(deb.name, first) for deb in system.debs})
    return spans


def _wanted(plan: Plan, base_from: str) -> list[tuple[str, Deb]]:
    """The distribution's packages, each with the image whose mirrors have it."""
    base = base_from or plan.asked or f"{plan.base.name}@{plan.base.digest}"
    devel = f"{plan.devel.name}@{plan.devel.digest}" if plan.devel else base
    images = {"runtime": base, "build": devel}
    return [
        (images[step.stage], Deb(d.name, d.version, "", d.file.file, d.pool, *d.file[2:]))
        for step in plan.system
        for d in step.debs
    ]


def _artefact(deb: Deb) -> Artefact:
    return Artefact("", deb.file, deb.sha256, deb.size)
