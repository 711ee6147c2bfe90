"""The local engine: no Docker, a prefix in the user's cache, child processes of this machine."""

from __future__ import annotations

import errno
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO

from envspec.build import isolate, marker, prefix, supervise, tree
from envspec.build.claim import claim, unclaimed
from envspec.build.installer import Work
from envspec.build.interpreter import Interpreter
from envspec.build.owner import Owner
from envspec.build.places import Places
from envspec.build.protocol import (
    Built,
    BuiltWheel,
    Completed,
    Difference,
    EngineInfo,
    Invocation,
    Limits,
    Rebuilt,
)
from envspec.build.tail import printable
from envspec.diagnostics import DiagnosticError
from envspec.interrupt import terminable
from envspec.plan.digest import build_digest
from envspec.plan.model import BUILD_ROOT, PREFIX, SOURCE, Plan
from envspec.reporter import Reporter

# Steps compile things: bounded by time, and by what the machine has.
_STEP_LIMITS = Limits(memory=1 << 60, processes=4096, scratch=1 << 60, output=1 << 20)
_ABANDONED_SECONDS = 86400


class LocalEngine:
    """Builds into ``cache`` and runs there. ``isolation`` forces one of the ways of
    `envspec.build.isolate`; None takes the strongest that works."""

    def __init__(self, cache: Path, isolation: str | None = None) -> None:
        self._cache = cache.absolute()
        self._forced = isolation

    @cached_property
    def _isolation(self) -> str:
        return self._forced or isolate.strongest()

    def info(self) -> EngineInfo:
        """Name, version and isolation, without building anything."""
        return EngineInfo(
            "local",
            os.uname().release,
            isolate.DESCRIPTIONS[self._isolation],
            (
                "there is no image: the C library and the system libraries are this machine's, "
                "not the base image's",
                *isolate.WEAKNESSES[self._isolation],
            ),
            system=False,
        )

    def build(self, plan: Plan, context: Path, files: Path, reporter: Reporter, log: Path) -> Built:  # noqa: ARG002
        """Build the prefix of a plan, or take the one that was built before and is unchanged.

        Raises:
            BuildFailed: E0703 a step failed, E0704 no interpreter, E0705 a system package is
                missing, E0706 the source archive is refused; each with its line of the spec.
            DiagnosticError: E0504 no space is left, E0707 the cache cannot be written.
        """
        begun = time.monotonic()
        folder = self._cache / "prefixes" / build_digest(plan)
        lock = folder.with_suffix(".lock")
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with terminable(), claim(lock, lambda: marker.ready(folder), reporter) as held:
                if held is not None:
                    reporter.stage(f"building the environment of {plan.project}")
                    with _fresh(folder), log.open("wb") as kept:
                        self._build(plan, files, folder, reporter, kept, held)
        except OSError as error:
            raise _unwritable(error, self._cache) from None
        what = marker.read(folder / marker.FINISHED)
        assert what is not None, "claimed, so nobody took it away"
        reused = held is None
        seconds = time.monotonic() - begun
        return Built(
            reference=str(folder),
            digest=f"sha256:{what['content']}",
            reused=reused,
            base_substituted="",
            roots=_roots(folder),
            seconds=seconds,
            log=None if reused else log,
            wheels=tuple(BuiltWheel(*wheel) for wheel in what["wheels"]),
        )

    def rebuild(
        self,
        plan: Plan,
        context: Path,  # noqa: ARG002
        files: Path,
        reporter: Reporter,
        log: Path,
    ) -> Rebuilt:
        """Build a prefix twice at one place, which its scripts name, and compare what it holds.

        Raises:
            BuildFailed, DiagnosticError: as `build`.
        """
        begun = time.monotonic()
        folder = self._cache / "prefixes" / f"{build_digest(plan)}-again"
        found: list[dict[str, str]] = []
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with (
                terminable(),
                claim(folder.with_suffix(".lock"), lambda: False, reporter) as held,
                log.open("wb") as kept,
            ):
                assert held is not None, "nothing is ever ready there"
                for number in (1, 2):
                    reporter.stage(f"building {plan.project} from nothing, {number} of 2")
                    with _fresh(folder):
                        self._build(plan, files, folder, reporter, kept, held)
                        found.append(tree.members(folder, (marker.ENV, marker.SRC)))
                tree.discard(folder)
        except OSError as error:
            raise _unwritable(error, self._cache) from None
        first, second = found
        names = sorted(n for n in first.keys() | second.keys() if first.get(n) != second.get(n))
        what = ("is in one build only", "content, kind or mode")
        return Rebuilt(
            (tree.digest(first), tree.digest(second)),
            tuple(Difference(n, what[n in first and n in second], 0) for n in names),
            time.monotonic() - begun,
        )

    def _build(
        self, plan: Plan, files: Path, folder: Path, reporter: Reporter, log: IO[bytes], held: int
    ) -> None:
        def run(invocation: Invocation, found: Interpreter) -> Completed:
            marker.write(folder / marker.BUILDING, marker.settings(plan, found))
            roots = (*_roots(folder), (BUILD_ROOT, str(folder / marker.BUILD)))
            built = Built(str(folder), "", False, "", roots, 0.0, None)
            return self._run(built, invocation, _STEP_LIMITS, log)

        installs = self._cache / "python"
        work = Work(plan, files, folder, installs, reporter, log, held, run)
        found, wheels = prefix.build(work)
        marker.finish(folder, marker.settings(plan, found), wheels)

    def run(self, built: Built, invocation: Invocation, limits: Limits) -> Completed:
        """Run one program, as far apart from this machine as it allows.

        A status of 128 + N counts as death by signal N, as shells have it.

        Raises:
            DiagnosticError: E0707 the scratch folder cannot be written, or the prefix is gone.
        """
        try:
            with terminable():
                return self._run(built, invocation, limits)
        except OSError as error:
            raise _unwritable(error, self._cache) from None

    def _run(
        self,
        built: Built,
        invocation: Invocation,
        limits: Limits,
        building: IO[bytes] | None = None,
    ) -> Completed:
        """A run; with ``building``, a log, one that may write to the prefix."""
        folder = Path(built.reference)
        what = marker.read(folder / (marker.BUILDING if building else marker.FINISHED))
        hosts = [mount.host.absolute() for mount in invocation.mounts]
        for path in (folder, *hosts):
            if what is None or not path.exists():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        assert what is not None
        with self._scratch() as scratch:
            places = Places(built, invocation, scratch)
            environment = places.environment(what, invocation)
            program = shutil.which(places.real(invocation.argv[0]), path=environment["PATH"])
            if program is None:
                said = f"{printable(invocation.argv[0])}: not found in the environment\n".encode()
                return Completed(127, None, False, False, b"", said, False, 0.0)
            argv = [program, *(places.real(word) for word in invocation.argv[1:])]
            cwd = places.real(invocation.cwd)
            if self._isolation == isolate.BWRAP:
                written = [m.host.absolute() for m in invocation.mounts if m.writable]
                shown = [*map(Path, what["homes"]), *(h for h in hosts if h not in written)]
                argv = isolate.bwrap(
                    limits,
                    shown if building else [folder, *shown],
                    [*written, *([folder] if building else [])],
                    cwd,
                    argv,
                    network=invocation.network,
                    devices=sorted(Path("/dev").glob("nvidia*")) if invocation.gpus else (),
                    building=building is not None,
                )
                cwd = "/"
            command = supervise.Command(
                argv,
                environment,
                cwd,
                namespaces=self._isolation == isolate.NAMESPACES,
                network=invocation.network,
                overhead=isolate.OVERHEAD[self._isolation],
                powers=self._isolation == isolate.BWRAP,
            )
            return supervise.run(command, invocation.seconds, limits, building)

    @contextmanager
    def _scratch(self) -> Iterator[Path | None]:
        """A folder of this run's own, where ``/tmp`` is not a mount of its own."""
        if self._isolation == isolate.BWRAP:
            yield None
            return
        folder = self._cache / "runs" / uuid.uuid4().hex
        folder.mkdir(parents=True)
        try:
            (folder / "owner").write_text(str(Owner.current()))
            (folder / "tmp").mkdir()
            yield folder / "tmp"
        finally:
            tree.discard(folder)

    def sweep(self) -> int:
        """Remove scratch folders of dead processes and prefixes that nobody finishes."""
        removed = 0
        for folder in (*self._cache.glob("runs/*"), *self._cache.glob("prefixes/*")):
            if not folder.is_dir():
                continue
            if folder.parent.name == "runs":
                orphan = _abandoned(folder)
            else:
                finished = (folder / marker.FINISHED).is_file()
                orphan = not finished and unclaimed(folder.with_suffix(".lock"))
            if tree.discarded(folder) or orphan:
                tree.discard(folder)
                removed += 1
        return removed


@contextmanager
def _fresh(folder: Path) -> Iterator[None]:
    """A new folder in place of whatever stands there; gone again where the work fails."""
    tree.discard(folder)
    folder.mkdir()
    folder.chmod(0o755)
    try:
        yield
    except BaseException:
        tree.discard(folder)
        raise


def _abandoned(folder: Path) -> bool:
    try:
        owner = Owner.parse((folder / "owner").read_text())
    except OSError:
        owner = None  # killed before it was written, or about to write it
    if owner is not None and owner.near:
        return not owner.alive
    try:
        return time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS
    except FileNotFoundError:
        return False


def _roots(folder: Path) -> tuple[tuple[str, str], ...]:
    return ((PREFIX, str(folder / marker.ENV)), (SOURCE, str(folder / marker.SRC)))


def _unwritable(error: OSError, cache: Path) -> DiagnosticError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiagnosticError.of(
            "E0504",
            "no space is left on the disk",
            cause=f"the environment is built in `{cache}`",
            hint="free some space, or set XDG_CACHE_HOME to a folder on a larger disk",
        )
    return DiagnosticError.of(
        "E0707",
        "the local engine cannot use its folder",
        cause=f"{error.filename or cache}: {error.strerror or type(error).__name__}",
        hint="set XDG_CACHE_HOME to a folder that this user can write",
    )
