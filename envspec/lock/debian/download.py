"""Fetching the distribution's packages, from the mirrors that the image's own sources name.

By the path below the mirror, which a release keeps long after its lists have moved on to another
version. The mirror's addresses are the image's affair and never leave it.
"""

from __future__ import annotations

import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.lock.debian.container import run_into
from envspec.lock.model import Deb
from envspec.lock.workspace import workspace
from envspec.reporter import Reporter
from envspec.source import SourceFile, Span

# Arguments: name of the file and path below a mirror, for each package. Hashes are for the store
# to compare, which keeps what is wrong. The files leave as one archive on the standard output.
_SCRIPT = r"""
export LC_ALL=C
mkdir /envspec-debs && cd /envspec-debs || exit 1
apt-get indextargets --no-release-info --format '$(REPO_URI)' | sort -u >/mirrors
fetch() {
  while read -r mirror; do
    /usr/lib/apt/apt-helper -o APT::Sandbox::User=root -o Acquire::Retries=2 \
      download-file "${mirror%/}/$2" "$1" >&2 </dev/null && return
    rm -f "$1" "$1.FAILED"
  done </mirrors
}
while [ $# -gt 1 ]; do fetch "$1" "$2"; shift 2; done
tar -cf - .
"""
_AT_ONCE = 200
_ROOM = 1 << 20


class Wanted(NamedTuple):
    """A package, the image whose mirrors have it, and where the spec asks for it."""

    deb: Deb
    image: str
    span: Span


@contextmanager
def bringing(
    wanted: Sequence[Wanted],
    platform: str,
    source: SourceFile,
    folder: Path,
    reporter: Reporter,
) -> Iterator[dict[str, Callable[[Path], None]]]:
    """File name → what writes that package to a path. The first that is asked for brings all of its
    image, in one run; what is left of them is gone afterwards. ``folder`` is for work alone.

    Each call may raise DiagnosticError: E0413 the image gives no answer, E0414 no mirror has a
    package any more.
    """
    with workspace(folder) as place:
        fetched = _Fetched(wanted, platform, source, place, reporter)
        yield {one.deb.file: fetched.writer(one) for one in wanted}


class _Fetched:
    """Packages that were fetched and not yet taken away. Used by several threads."""

    def __init__(
        self,
        wanted: Sequence[Wanted],
        platform: str,
        source: SourceFile,
        place: Path,
        reporter: Reporter,
    ) -> None:
        self._waiting = {one.deb.file: one for one in wanted}
        self._platform, self._source = platform, source
        self._place, self._reporter = place, reporter
        self._guard = threading.Lock()

    def writer(self, one: Wanted) -> Callable[[Path], None]:
        def write(to: Path) -> None:
            here = self._place / one.deb.file
            with self._guard:
                if one.deb.file in self._waiting:
                    self._fetch(one.image)
            if not here.is_file():
                raise self._vanished(one)
            here.replace(to)

        return write

    def _fetch(self, image: str) -> None:
        """All packages of one image, which later calls then find here."""
        mine = [one for one in self._waiting.values() if one.image == image]
        for begin in range(0, len(mine), _AT_ONCE):
            some = mine[begin : begin + _AT_ONCE]
            self._reporter.line(f"{len(some)} packages of the distribution, from its mirror")
            words = [w for o in some for w in (o.deb.file, o.deb.pool)]
            limit = sum(o.deb.size + 4096 for o in some) + _ROOM
            with tempfile.TemporaryFile(dir=self._place) as out:
                failure = run_into(out, limit, image, self._platform, _SCRIPT, words)
                if failure:
                    raise self._silent(image, some[0], failure)
                out.seek(0)
                self._unpack(out, {o.deb.file for o in some})
        for one in mine:
            del self._waiting[one.deb.file]

    def _unpack(self, archive: object, names: set[str]) -> None:
        """Take the files that were asked for and nothing else: what comes out of a container is a
        stranger's. Whether they hold what they should is for the store to say."""
        try:
            with tarfile.open(fileobj=archive, mode="r:") as tar:  # type: ignore[call-overload]
                for member in tar:
                    name = member.name.removeprefix("./")
                    content = tar.extractfile(member) if member.isreg() else None
                    if name in names and content is not None:
                        names.discard(name)
                        with (self._place / name).open("xb") as file:
                            while part := content.read(1 << 20):
                                file.write(part)
        except tarfile.TarError:
            return  # what is missing is told by its name

    def _vanished(self, one: Wanted) -> DiagnosticError:
        deb = one.deb
        return DiagnosticError.of(
            "E0414",
            f"no mirror of the distribution has `{deb.name}` {deb.version} any more",
            source=self._source,
            span=one.span,
            cause=f"looked for {deb.pool} on every mirror that the image's sources name",
            hint="run `envspec lock --upgrade` for today's versions, or put the file into a folder "
            "that pip's find-links name",
        )

    def _silent(self, image: str, one: Wanted, why: str) -> DiagnosticError:
        return DiagnosticError.of(
            "E0413",
            f"the image `{image}` does not bring the packages of the distribution",
            source=self._source,
            span=one.span,
            cause=why,
            hint="see that Docker runs, the image is a Debian or Ubuntu and its mirror answers",
        )
