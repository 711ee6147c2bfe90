"""The artefact store: files by their sha256, in the user's cache.

Layout below the root: ``sha256/ab/<sha256>/<file>`` the files, ``stamps/…`` what a file looked
like when its hash was last computed, ``rejected/`` what came with a wrong hash, ``tmp/`` what is
half done. A file stands under its name only after its hash was found right, so a reader never
meets a partial one, and two processes may work at once.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from envspec.build.protocol import Reporter
from envspec.diagnostics import DiagnosticError
from envspec.lock import transfer
from envspec.lock.crew import Crew
from envspec.lock.indexes import Indexes
from envspec.lock.listing import safe_name
from envspec.lock.model import Artefact
from envspec.lock.places import Place, looked_at, places
from envspec.lock.workspace import workspace
from envspec.source import SourceFile, Span

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Locations(NamedTuple):
    """Where files may come from, and which line of the spec to name when they do not.

    ``beside`` are folders for files whose index is ``""``. ``spans`` maps file names to places
    in ``source``.
    """

    indexes: Indexes
    beside: tuple[Path, ...] = ()
    source: SourceFile | None = None
    spans: Mapping[str, Span] = MappingProxyType({})


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
        return self._check(artefact) is True

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
            count = f"{len(missing)} file{'s' if len(missing) > 1 else ''}"
            reporter.stage(f"fetching {count}")
            with self._writable(missing[0], locations), workspace(self.root / "tmp") as work:
                crew = Crew(reporter, sum(a.size for a in missing))
                crew.run(
                    [
                        lambda desk, a=a: self._obtain(a, locations, work, desk)  # type: ignore[misc]
                        for a in sorted(missing, key=lambda a: -a.size)
                    ]
                )
        return tuple(self.path(artefact) for artefact in wanted)

    def wheelhouse(self, files: Iterable[Artefact], folder: Path) -> None:
        """Put every file under its own name into ``folder``: hard links, else copies.

        The files must have been fetched. Never symbolic links: an engine that is given the
        folder sees nothing outside of it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with workspace(folder / ".envspec-tmp") as work:
            for artefact in files:
                target, here = folder / artefact.file, self.path(artefact)
                if not (target.exists() and target.samefile(here)):
                    transfer.link_or_copy(here, work / artefact.file)
                    transfer.move(work / artefact.file, target)
        (folder / ".envspec-tmp").rmdir()

    def _obtain(
        self, artefact: Artefact, locations: Locations, work: Path, desk: transfer.Desk
    ) -> None:
        """Try every place until one has the right bytes."""
        wrong: list[tuple[Place, str, Path]] = []
        temporary = work / f"{artefact.sha256[:16]}-{artefact.file}"[:255]
        for place in places(artefact, locations.indexes, locations.beside, self._span(artefact, locations)):
            with self._writable(artefact, locations):
                actual = transfer.bring(place, temporary, artefact, locations, desk)
                if actual == artefact.sha256:
                    self._accept(temporary, artefact)
                    return
                if actual:
                    wrong.append((place, actual, self._reject(temporary, artefact, actual)))
        raise self._failure(artefact, locations, wrong)
