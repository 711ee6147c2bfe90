"""Package URLs: where a component of a bill of materials comes from, without host of an index and
without credentials. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from envspec.credentials import masked
from envspec.facts import images
from envspec.facts.rows import Distribution
from envspec.facts.tables import rows
from envspec.lock.model import Deb, Lock, LockedExtension, LockedPackage

_GIT = re.compile(r"(?:.* )?git (\S+) at ([0-9a-f]{7,64})")
_SAFE = ".-_~"
_VENDORS = {"debian", "ubuntu"}
"""Distributions whose packages are `.deb` and whose names are those of package URLs."""


class Commit(NamedTuple):
    """A commit of a repository, as a URL that holds no credentials."""

    url: str
    commit: str


def commit_of(lock: Lock, key: str) -> Commit | None:
    """The repository that the input ``key`` names (`source`, `extension NAME`), if it does."""
    match = _GIT.fullmatch(dict(lock.inputs).get(key, ""))
    return Commit(_bare(match[1]), match[2]) if match else None


def _bare(url: str) -> str:
    """An address without what may be a secret. The user of ssh is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    user, at, host = parts.netloc.rpartition("@")
    keep = parts.scheme == "ssh" and ":" not in user and "*" not in user
    bare = urlunsplit((parts.scheme, f"{user}{at}{host}" if keep else host, parts.path, "", ""))
    return quote(masked(bare), safe="/:@.-_~%+[]")


def wheel_url(package: LockedPackage) -> str:
    """A wheel of an index."""
    file = quote(package.artefact.file, safe=_SAFE)
    return f"pkg:pypi/{package.name}@{quote(package.version, safe=_SAFE)}?file_name={file}"


def extension_url(extension: LockedExtension, commit: Commit | None) -> str:
    """The archive of an extension; one that was packed from a repository is in no index."""
    version = quote(extension.version, safe=_SAFE)
    if commit is None:
        file = quote(extension.artefact.file, safe=_SAFE)
        return f"pkg:pypi/{extension.name}@{version}?file_name={file}"
    place = quote(f"git+{commit.url}@{commit.commit}", safe=f"{_SAFE}/")
    return f"pkg:generic/{extension.name}@{version}?vcs_url={place}"


def image_url(image: str, digest: str) -> str:
    """An image; what stands before the last `/` is the repository, as the spec writes it."""
    bare, _, tag = image.partition(":")
    if "/" in tag:  # the colon was that of a port
        bare, _, tag = image.rpartition(":")
        if "/" in tag:
            bare, tag = image, ""
    name = bare.rpartition("/")[2].lower()
    qualifiers = []
    if "/" in bare:
        qualifiers.append(f"repository_url={quote(bare, safe=f'{_SAFE}/')}")
    if tag:
        qualifiers.append(f"tag={quote(tag, safe=_SAFE)}")
    after = f"?{'&'.join(qualifiers)}" if qualifiers else ""
    return f"pkg:oci/{quote(name, safe=_SAFE)}@{quote(digest, safe=_SAFE)}{after}"


def deb_url(deb: Deb, release: Distribution | None) -> str:
    """A package of the distribution. Package URLs of type `deb` need a vendor: where none is known
    it is a `generic` one."""
    name, version = quote(deb.name, safe=_SAFE), quote(deb.version, safe=_SAFE)
    if release is None:
        return f"pkg:generic/{name}@{version}?file_name={quote(deb.file, safe=_SAFE)}"
    distro = f"{release.name}-{release.version}"
    return f"pkg:deb/{release.name}/{name}@{version}?arch={deb.architecture}&distro={distro}"


def release_of(lock: Lock, image: str) -> Distribution | None:
    """The release of the distribution that an image's packages come from: by the code name of the
    suites where they all are of one release, else by the image's own name; None where neither
    tells."""
    known = [row for row in rows(Distribution) if row.name in _VENDORS]
    suites = {name.partition("-")[0].partition("/")[0] for name, _ in lock.system.suites}
    by_suite = [row for row in known if row.codename in suites]
    if len(by_suite) == 1 and len(suites) == 1:
        return by_suite[0]
    read = images.parts(image)
    words = read.words
    named = [row for row in known if read.official in row.images]
    for row in named:
        if words[0] in {row.codename, row.version} or words[0].startswith(f"{row.version}."):
            return row
    found = [row for row in known if set(row.tags) & set(words)]
    return found[0] if len(found) == 1 else None
