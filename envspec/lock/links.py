"""Files of the user's find-links that a lock may name without depending on the machine.

A wheel of the same name and version may differ between two machines' folders, so find-links
decide nothing in general: they are a place for bytes whose hash is known. The one exception is a
package pinned by ``==`` to a version with a local label (``2.13.0+cpu``), which only one index
builds: such a file stands for the index's own.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envspec.lock.indexes import Indexes
from envspec.lock.listing import IndexFile, local_path, projects_of
from envspec.lock.request import PackageRequest, Request
from envspec.lock.target import fits, version_of
from envspec.lock.transfer import hash_file


def linked(package: PackageRequest, request: Request, indexes: Indexes) -> tuple[IndexFile, ...]:
    """Local wheels that stand for the one that a package line pins, with hash; often none."""
    version = pinned_label(package.specifier)
    if not package.index or version is None:
        return ()
    return tuple(
        _hashed(file)
        for file in indexes.local_files()
        if projects_of(file.filename)[:1] == (package.name,)
        and version_of(file.filename) == version
        and fits(file, request)
    )


def html_page(files: Iterable[IndexFile]) -> str:
    """A page that a resolver can be pointed to, to find these files and no others."""
    return "".join(
        f'<a href="{html.escape(file.url)}{f"#sha256={file.sha256}" if file.sha256 else ""}">'
        f"{html.escape(file.filename)}</a>\n"
        for file in files
    )


def _hashed(file: IndexFile) -> IndexFile:
    path = local_path(file.url)
    if file.sha256 or path is None:
        return file
    return file._replace(sha256=hash_file(path))


def pinned_label(specifier: str) -> Version | None:
    """The version of ``==X+label``; None for any other specifier."""
    try:
        clauses = list(SpecifierSet(specifier))
        if len(clauses) != 1 or clauses[0].operator not in {"==", "==="}:
            return None
        version = Version(clauses[0].version)
    except (InvalidSpecifier, InvalidVersion):
        return None
    return version if version.local else None
