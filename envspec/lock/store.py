"""The artefact store: files by their sha256, in the user's cache.

Layout below the root: ``sha256/ab/<sha256>/<file>`` the files, ``stamps/…`` what a file looked
like when its hash was last computed, ``rejected/`` what came with a wrong hash, ``tmp/`` what is
half done. A file stands under its name only after its hash was found right, so a reader never
meets a partial one, and two processes may work at once.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock import crew, transfer
from envspec.lock.indexes import UnreachableError
from envspec.lock.listing import projects_of, safe_name
from envspec.lock.model import Artefact
from envspec.lock.places import Locations, Place, places, unset_mirrors
from envspec.lock.workspace import workspace
from envspec.reporter import Reporter
from envspec.source import SourceFile, Span

HANDS = 4
"""Files fetched at a time."""

_ABSENT, _DAMAGED, _RIGHT = "absent", "damaged", "right"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def cache_folder() -> Path:
    """``$ENVSPEC_CACHE``, else ``$XDG_CACHE_HOME/envspec``, else ``~/.cache/envspec``."""
    own = os.environ.get("ENVSPEC_CACHE", "")
    if own:
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    return (Path(shared) if shared.startswith("/") else Path.home() / ".cache") / "envspec"


class Store:
    """Files by sha256 below ``root`` (default: ``store`` in the user's cache folder)."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or cache_folder() / "store"

    def path(self, artefact: Artefact) -> Path:
        """Where the file stands, or would stand.

        Raises:
            ValueError: the artefact's name or hash is no plain name or hash.
        """
        return self.root / "sha256" / self._tail(artefact)

    def has(self, artefact: Artefact) -> bool:
        """True where the file is in the store and undamaged."""
        return self._check(artefact) == _RIGHT

    def fetch(self, artefact: Artefact, locations: Locations, reporter: Reporter) -> Path:
        """The path of the file, fetched if it is not yet here.

        Raises:
            DiagnosticError: E0501 index unreachable, E0502 wrong hash, E0503 found nowhere,
                E0504 disk full, E0505 the store cannot be written.
        """
        return self.fetch_all([artefact], locations, reporter)[0]

    def fetch_all(
        self, artefacts: Iterable[Artefact], locations: Locations, reporter: Reporter
    ) -> tuple[Path, ...]:
        """Paths of all files, in order, a few fetched at a time. Raises as `fetch` does."""
        wanted = tuple(artefacts)
        for artefact in wanted:
            _refuse_odd(artefact, locations)
        missing = [a for a in dict.fromkeys(wanted) if not self._usable(a, reporter)]
        if missing:
            reporter.stage(f"fetching {len(missing)} file{'s' if len(missing) > 1 else ''}")
            for note in unset_mirrors(missing, locations.indexes):
                reporter.line(note)
            missing.sort(key=lambda artefact: -artefact.size)
            with self._disk(missing[0], locations):
                self._fetch(missing, locations, reporter)
        return tuple(self.path(artefact) for artefact in wanted)

    def _fetch(self, missing: list[Artefact], locations: Locations, reporter: Reporter) -> None:
        with workspace(self.root / "tmp") as work:
            jobs = [partial(self._obtain, a, locations, work) for a in missing]
            crew.run(jobs, sum(a.size for a in missing), reporter, HANDS)

    def wheelhouse(self, files: Iterable[Artefact], folder: Path) -> None:
        """Put every file under its own name into ``folder``: hard links, else copies.

        The files must have been fetched. Never symbolic links: an engine that is given the
        folder sees nothing outside of it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with workspace(folder / ".envspec-tmp") as work:
                for artefact in files:
                    target, here = folder / artefact.file, self.path(artefact)
                    if not (target.exists() and target.samefile(here)):
                        transfer.link_or_copy(here, work / artefact.file)
                        transfer.move(work / artefact.file, target)
        finally:
            with suppress(OSError):  # another process works in it, or it was never made
                (folder / ".envspec-tmp").rmdir()

    def _obtain(
        self, artefact: Artefact, locations: Locations, work: Path, desk: transfer.Desk
    ) -> None:
        """Try every place until one has the right bytes."""
        looked: list[str] = []
        findings: list[Diagnostic] = []
        temporary = work / f"{artefact.sha256[:16]}{artefact.file[-64:]}"
        try:
            for place in places(artefact, locations, looked):
                try:
                    actual = self._bring(place, temporary, artefact, locations, desk)
                except transfer.DownloadError as error:
                    if place.spare:
                        desk.say(f"{artefact.file} could not be had from {place.label}")
                        looked.append(f"{place.label}: {error.reason}")
                        continue
                    indexes = locations.indexes
                    raise indexes.unreachable(artefact.index, error.reason, error.status) from None
                if actual == artefact.sha256:
                    return
                if actual:
                    desk.say(f"{artefact.file} from {place.label} has another hash: set aside")
                    kept = self._rejected(artefact, actual)
                    findings.append(_mismatch(artefact, place, actual, kept, locations))
        except UnreachableError as error:
            findings.extend(error.finding(locations.source, locations.span(artefact)).diagnostics)
        raise DiagnosticError(findings or [_nowhere(artefact, looked, locations)])

    def _bring(
        self,
        place: Place,
        temporary: Path,
        artefact: Artefact,
        locations: Locations,
        desk: transfer.Desk,
    ) -> str:
        """Take the file from a place: into the store if it is right, else aside."""
        with self._disk(artefact, locations):
            actual = transfer.bring(place, temporary, artefact, locations.indexes.client, desk)
            if actual == artefact.sha256:
                target = self.path(artefact)
                target.parent.mkdir(parents=True, exist_ok=True)
                transfer.move(temporary, target)
                self._stamp(artefact)
            elif actual:
                self._set_aside(temporary, artefact, actual)
            return actual

    def _usable(self, artefact: Artefact, reporter: Reporter) -> bool:
        """True where the file is here and right; a damaged one is set aside."""
        state = self._check(artefact)
        if state == _DAMAGED:
            path = self.path(artefact)
            reporter.line(f"{artefact.file} in the store was damaged: fetching it again")
            self._set_aside(path, artefact, transfer.hash_file(path))
        return state == _RIGHT

    def _check(self, artefact: Artefact) -> str:
        """Compare with the stamp, and hash again only where the file was touched since."""
        path = self.path(artefact)
        try:
            status = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return _ABSENT
        if not stat.S_ISREG(status.st_mode):
            return _DAMAGED
        try:
            stamp = self._stamp_path(artefact).read_text("ascii", "replace")
        except OSError:
            stamp = ""
        if stamp == _stamp_of(status):
            return _RIGHT
        if transfer.hash_file(path) != artefact.sha256:
            return _DAMAGED
        self._stamp(artefact)
        return _RIGHT

    def _stamp(self, artefact: Artefact) -> None:
        """Note what a file looks like whose hash was just found right."""
        path = self._stamp_path(artefact)
        path.parent.mkdir(parents=True, exist_ok=True)
        # In place: a torn stamp matches no file and only costs a hash.
        path.write_text(_stamp_of(self.path(artefact).lstat()), "ascii")

    def _stamp_path(self, artefact: Artefact) -> Path:
        return self.root / "stamps" / self._tail(artefact)

    def _tail(self, artefact: Artefact) -> str:
        if not safe_name(artefact.file) or not _SHA256.fullmatch(artefact.sha256):
            raise ValueError(f"no plain file name or hash: {artefact!r}")
        return f"{artefact.sha256[:2]}/{artefact.sha256}/{artefact.file}"

    def _rejected(self, artefact: Artefact, actual: str) -> Path:
        return self.root / "rejected" / f"{artefact.file[:200]}.{actual[:12]}"

    def _set_aside(self, path: Path, artefact: Artefact, actual: str) -> None:
        target = self._rejected(artefact, actual)
        target.parent.mkdir(parents=True, exist_ok=True)
        transfer.move(path, target)

    @contextmanager
    def _disk(self, artefact: Artefact, locations: Locations) -> Iterator[None]:
        """Turn a full disk and a closed folder into findings."""
        source, span = locations.source, locations.span(artefact)
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise self._full(artefact, source, span) from None
            raise DiagnosticError.of(
                "E0505",
                f"`{artefact.file}` cannot be put into the store at {self.root}",
                source=source,
                span=span,
                cause=f"the system says: {os.strerror(error.errno or 0).lower()}",
                hint="set ENVSPEC_CACHE to a folder you may write to",
            ) from None

    def _full(
        self, artefact: Artefact, source: SourceFile | None, span: Span | None
    ) -> DiagnosticError:
        there = next(p for p in (self.root, *self.root.parents) if p.exists())
        free = shutil.disk_usage(there).free
        needed = f"{artefact.size} bytes" if artefact.size else "an unknown number of bytes"
        return DiagnosticError.of(
            "E0504",
            f"the disk is full: `{artefact.file}` needs {needed}, {free} are free",
            source=source,
            span=span,
            cause=f"the store is at {self.root}; a quota may allow less than what is free",
            hint="make room there, or set ENVSPEC_CACHE to a folder on another disk",
        )


def _stamp_of(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns}"


def _refuse_odd(artefact: Artefact, locations: Locations) -> None:
    if not safe_name(artefact.file) or not _SHA256.fullmatch(artefact.sha256):
        raise DiagnosticError.of(
            "E0503",
            f"{artefact.file!a} with the hash {artefact.sha256!a} names no file",
            source=locations.source,
            span=locations.span(artefact),
            cause="a file is named by a plain name and 64 hexadecimal digits in lower case",
        )


def _mismatch(
    artefact: Artefact, place: Place, actual: str, kept: Path, locations: Locations
) -> Diagnostic:
    return DiagnosticError.of(
        "E0502",
        f"`{artefact.file}` from {place.label} is not the file that was asked for",
        source=locations.source,
        span=locations.span(artefact),
        cause=f"expected sha256 {artefact.sha256}, got {actual}; it is kept at {kept}",
        hint="find out who changed it before you accept the new hash with `envspec lock`",
    ).diagnostics[0]


def _nowhere(artefact: Artefact, looked: list[str], locations: Locations) -> Diagnostic:
    where = "; ".join(dict.fromkeys(looked)) or "no place: there is neither find-links nor a folder"
    project = next(iter(projects_of(artefact.file)), "")
    again = f"`envspec lock -P {project}`" if artefact.index and project else "`envspec lock`"
    return DiagnosticError.of(
        "E0503",
        f"`{artefact.file}` was found nowhere",
        source=locations.source,
        span=locations.span(artefact),
        cause=f"looked at: {where}",
        hint=f"put the file into a folder that pip's find-links name, or run {again}",
    ).diagnostics[0]
