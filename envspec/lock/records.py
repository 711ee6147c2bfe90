"""The records of a lock, one by one: packages, packages of the distribution, extensions.

A lock has hundreds of packages and is read by every ``envspec compile``, so a package is checked
by one regular expression, and only a package that fails is looked at field by field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn

from envspec.lock.fields import Path, WrongError, dotted, matching, object_of, shown, text_of
from envspec.lock.model import Artefact, Deb, LockedExtension, LockedPackage, System

_ARTEFACT = ("index", "file", "sha256", "size")
_PACKAGE = ("name", "version", *_ARTEFACT, "requires", "why")
_EXTENSION = ("name", "version", *_ARTEFACT, "requires", "wheel", "wheel_sha256", "build")
_LONGEST_FILE = 255
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"

FIELDS = {
    "name": (r"[a-z0-9]+(?:-[a-z0-9]+)*", "a package name in lower case with single dashes"),
    "version": (r"[0-9][0-9a-z.!+]*", "a version"),
    "index": (r"(?:[A-Za-z0-9][A-Za-z0-9._-]*)?", "an index alias or empty"),
    "file": (r"(?!-|\.\.|\.\n)[^/\\\n]+", "a plain file name"),
    "sha256": (r"[0-9a-f]{64}", "64 hexadecimal digits in lower case"),
}
_DEB = {
    "name": (r"[a-z0-9][a-z0-9+.-]+", "the name of a package of the distribution"),
    "version": (r"[0-9A-Za-z.+:~-]+", "a version of the distribution"),
    "architecture": (r"[a-z0-9-]+", "an architecture"),
    "file": (r"[a-z0-9][A-Za-z0-9+.~%_-]*\.deb", "the plain name of a `.deb`"),
    "pool": (
        r"(?:(?!\.)[A-Za-z0-9+.~%_-]+/)+(?!\.)[A-Za-z0-9+.~%_-]+",
        "a path below the mirror",
    ),
    "sha256": FIELDS["sha256"],
}
_RECORD = re.compile("\n".join(pattern for pattern, _ in FIELDS.values()))
_fields = itemgetter(*_PACKAGE)


def read_packages(
    items: object, path: Path = ("packages",), extensions: frozenset[str] = frozenset()
) -> tuple[LockedPackage, ...]:
    """A closed list: what packages name is in it, or is one of ``extensions``."""
    if type(items) is not list:
        raise WrongError(path, f"{dotted(path)} must be a list, found {shown(items)}")
    packages = tuple([read_package(item, (*path, i)) for i, item in enumerate(items)])
    names = {package.name for package in packages}
    files = {package.artefact.file for package in packages}
    if len(names) < len(packages) or len(files) < len(packages):
        _find_double(packages, path)
    _check_names(packages, "requires", names, path)
    _check_names(packages, "why", names | {"spec"} | extensions, path)
    return packages


def _check_names(packages: Sequence[LockedPackage], key: str, known: set[str], path: Path) -> None:
    """What packages name must be in the lock; names are looked at one by one only if not."""
    lists = [package.requires if key == "requires" else package.why for package in packages]
    try:
        if known.issuperset(set().union(*lists)):
            return
    except TypeError:  # something in a list that is no text
        pass
    for i, values in enumerate(lists):
        for j, name in enumerate(values):
            if type(name) is not str or name not in known:
                raise WrongError(
                    (*path, i, key, j),
                    f"{dotted(('packages', i, key, j))} must name a package of the lock, "
                    f"found {shown(name)}",
                )


def _find_double(packages: Sequence[LockedPackage], path: Path) -> NoReturn:
    seen: set[str] = set()
    for i, package in enumerate(packages):
        for key, value in (("name", package.name), ("file", package.artefact.file)):
            if f"{key} {value}" in seen:
                raise WrongError((*path, i, key), f"the lock holds `{value}` twice")
            seen.add(f"{key} {value}")
    raise AssertionError


def read_package(item: Any, path: Path) -> LockedPackage:
    """One package. The common case costs one match; what is wrong is found afterwards."""
    try:
        name, version, index, file, sha256, size, requires, why = _fields(item)
        if (
            _RECORD.fullmatch(f"{name}\n{version}\n{index}\n{file}\n{sha256}")
            and type(name) is type(version) is type(index) is type(file) is type(sha256) is str
            and type(size) is int
            and size >= 0
            and type(requires) is type(why) is list
            and len(item) == 8
            and file.isprintable()
            and len(file) <= _LONGEST_FILE
        ):
            artefact = Artefact(index, file, sha256, size)
            return LockedPackage(name, version, artefact, tuple(requires), tuple(why))
    except (KeyError, TypeError):
        pass
    fields = object_of(item, path, _PACKAGE, dotted(path))
    for key in (*FIELDS, "size"):
        _check_field(fields, key, path)
    key = "requires" if type(fields["requires"]) is not list else "why"
    raise WrongError(
        (*path, key), f"{dotted((*path, key))} must be a list, found {shown(fields[key])}"
    )


def _check_field(fields: Mapping[str, Any], key: str, path: Path) -> None:
    value = fields[key]
    if key == "size":
        good, expected = type(value) is int and value >= 0, "a whole number of bytes"
    else:
        pattern, expected = FIELDS[key]
        good = type(value) is str and re.fullmatch(pattern, value) is not None
    if key == "file":
        good = good and value != "." and value.isprintable() and len(value) <= _LONGEST_FILE
    if not good:
        raise WrongError(
            (*path, key), f"{dotted((*path, key))} must be {expected}, found {shown(value)}"
        )


def read_artefact(item: object, path: Path, what: str) -> Artefact:
    """A file and nothing else."""
    fields = object_of(item, path, _ARTEFACT, what)
    for key in _ARTEFACT:
        _check_field(fields, key, path)
    return Artefact(**fields)


def read_system(item: object) -> System:
    """The packages of the distribution."""
    path: Path = ("system",)
    fields = object_of(item, path, System._fields, "`system`")
    suites = fields["suites"]
    if type(suites) is not dict:
        raise WrongError((*path, "suites"), f"`system.suites` must be an object, found {suites!a}")
    for suite, moment in suites.items():
        matching(suite, (*path, "suites"), r"[a-z0-9][a-z0-9./-]*", "the name of a suite")
        matching(moment, (*path, "suites", suite), MOMENT, "a moment in UTC")
    asked = text_of(fields["asked"], (*path, "asked"))
    lists = [_debs(fields[key], (*path, key)) for key in ("runtime", "build")]
    return System(tuple(suites.items()), asked, *lists)


def _debs(items: object, path: Path) -> tuple[Deb, ...]:
    if type(items) is not list:
        raise WrongError(path, f"{dotted(path)} must be a list, found {shown(items)}")
    found: dict[str, Deb] = {}
    for i, item in enumerate(items):
        fields = object_of(item, (*path, i), Deb._fields, dotted((*path, i)))
        for key, (pattern, expected) in _DEB.items():
            matching(fields[key], (*path, i, key), pattern, expected)
        _check_field(fields, "file", (*path, i))
        _check_field(fields, "size", (*path, i))
        deb = Deb(**fields)
        if deb.file in found:
            raise WrongError((*path, i, "file"), f"the lock holds `{deb.file}` twice")
        found[deb.file] = deb
    return tuple(found.values())


def read_extension(item: object, path: Path) -> LockedExtension:
    """An extension; what it requires is looked at by the caller."""
    fields = object_of(item, path, _EXTENSION, dotted(path))
    for key in (*FIELDS, "size"):
        _check_field(fields, key, path)
    wheel, digest = fields["wheel"], fields["wheel_sha256"]
    matching(
        wheel,
        (*path, "wheel"),
        r"(?:[A-Za-z0-9_][A-Za-z0-9_.+!-]*\.whl)?",
        "the name of a wheel or empty",
    )
    matching(digest, (*path, "wheel_sha256"), r"(?:[0-9a-f]{64})?", "a sha256 or empty")
    if bool(wheel) is not bool(digest):
        at = (*path, "wheel" if wheel else "wheel_sha256")
        raise WrongError(at, "a wheel and its sha256 belong together: one is there alone")
    requires = fields["requires"]
    if type(requires) is not list:
        at = (*path, "requires")
        raise WrongError(at, f"{dotted(at)} must be a list, found {shown(requires)}")
    return LockedExtension(
        fields["name"],
        fields["version"],
        Artefact(*(fields[key] for key in _ARTEFACT)),
        tuple(requires),
        read_packages(fields["build"], (*path, "build")),
        wheel,
        digest,
    )


def package_fields(package: LockedPackage) -> dict[str, object]:
    """A package as the lock writes it."""
    return {
        "name": package.name,
        "version": package.version,
        **package.artefact._asdict(),
        "requires": package.requires,
        "why": package.why,
    }


def extension_fields(extension: LockedExtension) -> dict[str, object]:
    """An extension as the lock writes it, without what its build imports."""
    return {
        "name": extension.name,
        "version": extension.version,
        **extension.artefact._asdict(),
        "requires": extension.requires,
        "wheel": extension.wheel,
        "wheel_sha256": extension.wheel_sha256,
    }
