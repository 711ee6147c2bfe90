"""A deposit: everything that a build takes in, in one folder or archive, to be kept or carried.

The same lock gives the same bytes. A deposit is put together beside its place, read back and
compared with its own list, and only then appears, whole.
"""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import shutil
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.emit import publish
from envspec.emit.outputs import TARGETS
from envspec.lock.model import Artefact
from envspec.lock.packing import folder as plain
from envspec.lock.packing import tar
from envspec.lock.store import Store
from envspec.lock.transfer import hash_file
from envspec.lock.workspace import workspace
from envspec.model import ArchiveSource
from envspec.pipeline import deposit, deposit_image, deposit_text
from envspec.pipeline.compile import Compiled
from envspec.pipeline.fetch import fetch, wheelhouse
from envspec.pipeline.load import LOCK_NAME, Loaded
from envspec.placing import placed
from envspec.plan.model import Plan
from envspec.render import visible
from envspec.reporter import Reporter

README = "README.md"
GENERATED = "generated"


class Asked(NamedTuple):
    """What to write: a folder, an archive, or both. ``base_from`` is a local image to bring
    packages of the distribution where the base cannot be pulled."""

    output: Path | None
    archive: Path | None
    targets: Collection[str] = TARGETS
    with_base: bool = False
    base_from: str = ""


class Deposit(NamedTuple):
    """What was written: number and bytes of its files, the sha256 of its list, and whether the
    folder changed. ``archive`` is the sha256 of the archive, ``""`` for none."""

    files: int
    size: int
    sums: str
    written: bool
    archive: str = ""


def vendor(
    loaded: Loaded, made: Compiled, reporter: Reporter, asked: Asked, store: Store | None = None
) -> Deposit:
    """Fetch what is missing and write the deposit. ``made`` holds the outputs to put in.

    Raises:
        DiagnosticError: E0413, E0414, E0420 to E0425, E0501 to E0505 (files), E0507 (an image),
            E0508 (two files under one name), E0601 (the folder holds other files), E0603.
    """
    store, plan = store or Store(), made.plan
    texts = _texts(loaded, made)
    _refuse_output(loaded, asked)
    fetch(loaded, plan, store, reporter, base_from=asked.base_from)
    with placed(loaded.source, loaded.home), ExitStack() as stack:
        needed = sum(file.size for file in plan.files) + sum(map(len, texts.values()))
        stack.enter_context(_written(asked, needed))
        packed = stack.enter_context(_beside(asked.archive)) if asked.archive else None
        fresh = stack.enter_context(_folder(asked.output, store))
        saved = _images(plan, fresh, store, reporter) if asked.with_base else {}
        digests = _fill(loaded, made, store, fresh, texts, asked, saved, reporter)
        sizes = {name: (fresh / name).stat().st_size for name in digests}
        faults = deposit.compare(fresh, digests, deposit.progress(reporter, sum(sizes.values())))
        deposit.refuse(fresh, faults, "run it again; `envspec doctor` looks at this machine")
        listed = deposit.sums(digests)
        (fresh / deposit.SUMS).write_text(listed, "utf-8", newline="\n")
        archive = ""
        if packed is not None:
            reporter.stage("packing the deposit")
            files = deposit_image.entries(fresh)
            archive = tar.pack(plan.project, files, plain.read, packed).sha256
        written = asked.output is None or not _is_there(asked.output, digests, listed)
        if asked.output is not None and not written:
            shutil.rmtree(fresh)
        return Deposit(
            len(digests) + 1,
            sum(sizes.values()) + len(listed.encode()),
            hashlib.sha256(listed.encode()).hexdigest(),
            written,
            archive,
        )


def _texts(loaded: Loaded, made: Compiled) -> dict[str, bytes]:
    """The small files by their names in the deposit: spec, lock, scripts, outputs."""
    plan = made.plan
    found = [(loaded.path.name, loaded.source.text.encode()), (LOCK_NAME, made.lock_text.encode())]
    scripts = {e.script.name: e.script.content for e in plan.entries if e.script}
    found += [(posixpath.normpath(name), content) for name, content in scripts.items()]
    folder = f"{GENERATED}/{plan.project}"
    found += [(f"{folder}/{name}", text.encode()) for name, text in made.files.items()]
    taken = {README, deposit.MARK, deposit.SUMS, deposit.WHEELS, deposit.IMAGES}
    if isinstance(loaded.spec.project.source, ArchiveSource) and not plan.source.archive.index:
        taken.add(plan.source.archive.file)
    texts: dict[str, bytes] = {}
    for name, content in found:
        parts = name.split("/")
        above = {"/".join(parts[:n]) for n in range(1, len(parts) + 1)}
        inside = any(other.startswith(f"{name}/") for other in texts)
        if above & (taken | texts.keys()) or inside:
            raise DiagnosticError.of(
                "E0508",
                f"`{visible(name)}` cannot have this name in a deposit",
                source=loaded.source,
                span=next((e.span for e in loaded.spec.entries if e.script), loaded.home),
                cause="another file or folder of the deposit has it",
                hint="give the file another name, or put it into a folder of its own",
            )
        texts[name] = content
    return texts


def _fill(
    loaded: Loaded,
    made: Compiled,
    store: Store,
    fresh: Path,
    texts: dict[str, bytes],
    asked: Asked,
    saved: dict[str, str],
    reporter: Reporter,
) -> dict[str, str]:
    """Put everything into ``fresh`` but the list; name → sha256, as it ought to be."""
    plan = made.plan
    reporter.stage("putting the deposit together")
    wheelhouse(plan, store, fresh / deposit.WHEELS)
    digests = {**deposit.wheels(plan), **{f: hash_file(fresh / f) for f in saved.values()}}
    archive = plan.source.archive
    if isinstance(loaded.spec.project.source, ArchiveSource) and not archive.index:
        store.wheelhouse([Artefact(*archive)], fresh)
        digests[archive.file] = archive.sha256
    for name, content in texts.items():
        _write(fresh / name, content)
    sizes = {name: (fresh / name).stat().st_size for name in (*digests, *texts)}
    targets = [target for target in TARGETS if target in asked.targets]
    held = [i._replace(file=saved.get(i.reference, "")) for i in deposit_text.images(plan)]
    said = {
        README: deposit_text.readme(plan, targets, held, sizes).encode(),
        deposit.MARK: deposit_text.mark(plan, targets, held, sizes).encode(),
    }
    for name, content in said.items():
        _write(fresh / name, content)
    small = {name: hashlib.sha256(content).hexdigest() for name, content in (texts | said).items()}
    return digests | small


def _images(plan: Plan, fresh: Path, store: Store, reporter: Reporter) -> dict[str, str]:
    """Save the images of a plan; reference → name in the deposit."""
    saved: dict[str, str] = {}
    (fresh / deposit.IMAGES).mkdir()
    for stem, image in zip(("base", "devel"), deposit_text.images(plan), strict=False):
        if image.reference not in saved:
            name = f"{deposit.IMAGES}/{stem}.tar"
            with workspace(store.root / "tmp") as work:
                deposit_image.save(image.base, plan.platform, fresh / name, work, reporter)
            saved[image.reference] = name
    return saved


def _refuse_output(loaded: Loaded, asked: Asked) -> None:
    """The folder of the spec is never replaced."""
    if asked.output is None:
        return
    folder, home = (Path(os.path.realpath(p)) for p in (asked.output, loaded.path.parent))
    if home == folder or folder in home.parents:
        raise DiagnosticError.of(
            "E0601",
            f"`{visible(str(asked.output))}` holds the spec itself",
            source=loaded.source,
            span=loaded.home,
            cause="the whole folder is replaced at once, so that it is never half old",
            hint="name a folder of its own with `-o`",
        )


def _refuse_strange(folder: Path) -> None:
    """A folder with anything in it that is not of a deposit was not written by us."""
    if not os.path.lexists(folder):
        return
    strange: tuple[str, ...] = (folder.name,)
    if folder.is_dir() and not folder.is_symlink():
        listed = deposit.read_sums(folder) if deposit.is_deposit(folder) else {}
        strange = deposit.left_over(folder, listed)
    if strange:
        raise DiagnosticError.of(
            "E0601",
            f"`{visible(str(folder))}` holds files of no deposit: "
            f"{visible(', '.join(strange[:5]))}",
            cause="the whole folder is replaced at once, so that it is never half old",
            hint="name a folder of its own with `-o`",
        )


@contextmanager
def _folder(output: Path | None, store: Store) -> Iterator[Path]:
    """Where the deposit is put together: beside its place, or for an archive alone in the store."""
    if output is None:
        with workspace(store.root / "tmp") as work:
            yield work
    else:
        # An absolute path has a name, which `.` has not.
        with publish.replacing(output.absolute(), lambda: _refuse_strange(output)) as fresh:
            yield fresh


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Where an archive is written; it takes its place at the end of the block."""
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    folder = path.with_name(f".{path.name}.envspec-tmp")
    try:
        with workspace(folder) as work:
            yield work / path.name
            with publish.unbroken():
                (work / path.name).replace(path)
    finally:
        with suppress(OSError):  # never made, or another process is at work in it
            folder.rmdir()


@contextmanager
def _written(asked: Asked, size: int) -> Iterator[None]:
    """Turn a full disk and a closed folder into findings."""
    try:
        yield
    except OSError as error:
        place = asked.output or asked.archive or Path()
        raise publish.unwritten(error, place, size) from None


def _is_there(folder: Path, digests: dict[str, str], listed: str) -> bool:
    """Whether a folder is this very deposit."""
    try:
        same = (folder / deposit.SUMS).read_text("utf-8") == listed
        return same and deposit.compare(folder, digests) == deposit.Faults()
    except (OSError, UnicodeDecodeError):
        return False


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
