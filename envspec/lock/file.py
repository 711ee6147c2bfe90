"""Reading and writing ``spec.lock``.

JSON with one package a line, so that a change of one package is a change of one line in a diff
and a merge conflict is one line too. Writing is deterministic: the same lock gives the same
bytes. Reading trusts nothing: the file may come from a merge, an editor or a stranger.

This is on the way of every ``envspec compile``, so a package is checked by one regular
expression on the way in, and only a package that fails is looked at field by field.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn

from envspec.diagnostics import DiagnosticError
from envspec.lock.fields import WrongError, check_made, dotted, matching, object_of, shown, text_of
from envspec.lock.model import LOCK_VERSION, Artefact, Lock, LockedPackage, Nixpkgs
from envspec.source import SourceFile, Span

MAX_LENGTH = 16 << 20
"""Longest text that is read, in characters."""

_TOP = (
    *("envspec_lock", "resolver", "tools", "facts", "nixpkgs", "driver"),
    *("inputs", "base", "source", "installer", "packages"),
)
_RESOLVER = ("name", "version", "exclude_newer", "inputs")
_ARTEFACT = ("index", "file", "sha256", "size")
_PACKAGE = ("name", "version", *_ARTEFACT, "requires", "why")
_LONGEST_FILE = 255
_HINT = "run `envspec lock` to write the lock anew"

_FIELDS = {
    "name": (r"[a-z0-9]+(?:-[a-z0-9]+)*", "a package name in lower case with single dashes"),
    "version": (r"[0-9][0-9a-z.!+]*", "a version"),
    "index": (r"(?:[A-Za-z0-9][A-Za-z0-9._-]*)?", "an index alias or empty"),
    "file": (r"(?!-|\.\.|\.\n)[^/\\\n]+", "a plain file name"),
    "sha256": (r"[0-9a-f]{64}", "64 hexadecimal digits in lower case"),
}
_RECORD = re.compile("\n".join(pattern for pattern, _ in _FIELDS.values()))
_fields = itemgetter(*_PACKAGE)


def dumps(lock: Lock) -> str:
    """The text of ``spec.lock``: fixed order, one line a package, a newline at the end."""
    inputs = ",\n".join(f"    {_line(pair)}" for pair in lock.inputs)
    packages = ",\n".join(f"    {_line(_package_fields(p))}" for p in lock.packages)
    parts = (
        f'"envspec_lock": {LOCK_VERSION}',
        f'"resolver": {_line(_resolver_fields(lock))}',
        f'"tools": {_line(dict(lock.tools))}',
        f'"facts": {_line(lock.facts)}',
        f'"nixpkgs": {_line(lock.nixpkgs._asdict())}',
        f'"driver": {_line({"cuda": lock.cuda, "floor": lock.driver_floor})}',
        f'"inputs": [\n{inputs}\n  ]' if inputs else '"inputs": []',
        f'"base": {_line({"name": lock.base_name, "digest": lock.base_digest})}',
        f'"source": {_line(lock.source._asdict())}',
        f'"installer": {_line(_package_fields(lock.installer))}',
        f'"packages": [\n{packages}\n  ]' if packages else '"packages": []',
    )
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def loads(text: str, source: SourceFile) -> Lock:
    """Read a lock strictly.

    Raises:
        DiagnosticError: E0407 at the value in ``source`` that is not what a lock holds there.
    """
    if len(text) > MAX_LENGTH:
        _fail_at(Span(0, 0), source, f"the lock is longer than {MAX_LENGTH >> 20} MiB")
    try:
        data = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        _fail_at(Span(error.pos, error.pos + 1), source, "the lock is not valid JSON here")
    except _RepeatedKeyError as error:
        _fail_at(_find_repeated(text, error.key), source, f"the lock says `{error.key}` twice")
    except (ValueError, RecursionError):
        # A number of thousands of digits, or thousands of brackets: nobody's lock.
        _fail_at(Span(0, 0), source, "the lock holds a number or a nesting no lock has")
    try:
        return _lock(data)
    except WrongError as wrong:
        from envspec.lock.place import place  # noqa: PLC0415  (only a broken lock needs it)

        _fail_at(place(text, wrong.path), source, wrong.title)


class _RepeatedKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = shown(key)[1:-1]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return members


def _lock(data: object) -> Lock:
    # The version first: what another version lacks or has is no fault of the file.
    version = data.get("envspec_lock", LOCK_VERSION) if type(data) is dict else LOCK_VERSION
    if version != LOCK_VERSION or type(version) is not int:
        raise WrongError(
            ("envspec_lock",),
            f"this tool reads lock version {LOCK_VERSION}, the file says {shown(version)}",
        )
    top = object_of(data, (), _TOP, "the lock")
    resolver = object_of(top["resolver"], ("resolver",), _RESOLVER, "`resolver`")
    nixpkgs = object_of(top["nixpkgs"], ("nixpkgs",), Nixpkgs._fields, "`nixpkgs`")
    driver = object_of(top["driver"], ("driver",), ("cuda", "floor"), "`driver`")
    check_made(top, resolver, nixpkgs, driver)
    base = object_of(top["base"], ("base",), ("name", "digest"), "`base`")
    if not isinstance(base["digest"], str) or not re.fullmatch(
        "sha256:[0-9a-f]{64}", base["digest"]
    ):
        raise WrongError(
            ("base", "digest"),
            f"`base.digest` must be `sha256:` and 64 hexadecimal digits, found "
            f"{shown(base['digest'])}",
        )
    origin = object_of(top["source"], ("source",), _ARTEFACT, "`source`")
    for key in _ARTEFACT:
        _field(origin, key, ("source",))
    packages = _packages(top["packages"])
    installer = _package(top["installer"], ("installer",))
    for key in ("requires", "why"):
        for name in top["installer"][key]:
            text_of(name, ("installer", key))
    lock = Lock(
        inputs=_inputs(top["inputs"]),
        base_name=text_of(base["name"], ("base", "name")),
        base_digest=base["digest"],
        source=Artefact(**origin),
        installer=installer,
        packages=packages,
        resolver=text_of(resolver["name"], ("resolver", "name")),
        resolver_version=text_of(resolver["version"], ("resolver", "version")),
        exclude_newer=resolver["exclude_newer"],
        tools=_tools(top["tools"]),
        facts=top["facts"],
        nixpkgs=Nixpkgs(**nixpkgs),
        cuda=driver["cuda"],
        driver_floor=driver["floor"],
    )
    if resolver["inputs"] != inputs_digest(lock):
        raise WrongError(
            ("resolver", "inputs"),
            "`resolver.inputs` is not the digest of the resolver's name, its limit and `inputs`",
        )
    return lock


def inputs_digest(lock: Lock) -> str:
    """The sha256 of what the resolver was given: who it is, the limit of days, the inputs."""
    given = [lock.resolver, lock.exclude_newer, lock.inputs]
    return hashlib.sha256(_line(given).encode("utf-8", "surrogatepass")).hexdigest()


def _tools(data: object) -> tuple[tuple[str, str], ...]:
    if type(data) is not dict:
        raise WrongError(("tools",), f"`tools` must be an object, found {shown(data)}")
    for name, version in data.items():
        matching(name, ("tools",), *_FIELDS["name"])
        text_of(version, ("tools", name))
    return tuple(data.items())


def _packages(items: object) -> tuple[LockedPackage, ...]:
    if type(items) is not list:
        raise WrongError(("packages",), f"`packages` must be a list, found {shown(items)}")
    packages = tuple([_package(item, ("packages", i)) for i, item in enumerate(items)])
    names = {package.name for package in packages}
    files = {package.artefact.file for package in packages}
    if len(names) < len(packages) or len(files) < len(packages):
        _find_double(packages)
    _check_names(packages, "requires", names)
    _check_names(packages, "why", names | {"spec"})
    return packages


def _check_names(packages: Sequence[LockedPackage], key: str, known: set[str]) -> None:
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
                    ("packages", i, key, j),
                    f"{dotted(('packages', i, key, j))} must name a package of the lock, "
                    f"found {shown(name)}",
                )


def _find_double(packages: Sequence[LockedPackage]) -> NoReturn:
    seen: set[str] = set()
    for i, package in enumerate(packages):
        for key, value in (("name", package.name), ("file", package.artefact.file)):
            if f"{key} {value}" in seen:
                raise WrongError(("packages", i, key), f"the lock holds `{value}` twice")
            seen.add(f"{key} {value}")
    raise AssertionError


def _package(item: Any, path: tuple[str | int, ...]) -> LockedPackage:
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
    for key in (*_FIELDS, "size"):
        _field(fields, key, path)
    key = "requires" if type(fields["requires"]) is not list else "why"
    raise WrongError(
        (*path, key), f"{dotted((*path, key))} must be a list, found {shown(fields[key])}"
    )


def _field(fields: Mapping[str, Any], key: str, path: tuple[str | int, ...]) -> None:
    value = fields[key]
    if key == "size":
        good, expected = type(value) is int and value >= 0, "a whole number of bytes"
    else:
        pattern, expected = _FIELDS[key]
        good = type(value) is str and re.fullmatch(pattern, value) is not None
    if key == "file":
        good = good and value != "." and value.isprintable() and len(value) <= _LONGEST_FILE
    if not good:
        raise WrongError(
            (*path, key), f"{dotted((*path, key))} must be {expected}, found {shown(value)}"
        )


def _inputs(items: object) -> tuple[tuple[str, str], ...]:
    if type(items) is not list:
        raise WrongError(("inputs",), f"`inputs` must be a list, found {shown(items)}")
    pairs: list[tuple[str, str]] = []
    for i, item in enumerate(items):
        if type(item) is not list or len(item) != 2:
            raise WrongError(
                ("inputs", i), f"`inputs[{i}]` must be a pair of texts, found {shown(item)}"
            )
        pairs.append((text_of(item[0], ("inputs", i, 0)), text_of(item[1], ("inputs", i, 1))))
    return tuple(pairs)


def _fail_at(span: Span, source: SourceFile, title: str) -> NoReturn:
    raise DiagnosticError.of("E0407", title, source=source, span=span, hint=_HINT)


def _find_repeated(text: str, key: str) -> Span:
    """Place of a key that stands twice in one object: its last place in the text."""
    at = max(text.rfind(f'"{key}"'), 0)
    return Span(at, at + len(key) + 2)


def _resolver_fields(lock: Lock) -> dict[str, object]:
    return {
        "name": lock.resolver,
        "version": lock.resolver_version,
        "exclude_newer": lock.exclude_newer,
        "inputs": inputs_digest(lock),
    }


def _package_fields(package: LockedPackage) -> dict[str, object]:
    return {
        "name": package.name,
        "version": package.version,
        **package.artefact._asdict(),
        "requires": package.requires,
        "why": package.why,
    }


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
