"""Reading and writing ``spec.lock``.

JSON with one package a line, so that a change of one package is a change of one line in a diff
and a merge conflict is one line too. Writing is deterministic: the same lock gives the same
bytes. Reading trusts nothing: the file may come from a merge, an editor or a stranger.

The records themselves are in `envspec.lock.records`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from envspec.diagnostics import DiagnosticError
from envspec.lock.fields import WrongError, check_made, dotted, matching, object_of, shown, text_of
from envspec.lock.model import (
    LOCK_VERSION,
    Lock,
    LockedExtension,
    LockedPackage,
    Nixpkgs,
    System,
)
from envspec.lock.records import (
    FIELDS,
    extension_fields,
    package_fields,
    read_artefact,
    read_extension,
    read_package,
    read_packages,
    read_system,
)
from envspec.source import SourceFile, Span

MAX_LENGTH = 16 << 20
"""Longest text that is read, in characters."""

_TOP = (
    *("envspec_lock", "resolver", "tools", "facts", "nixpkgs", "driver"),
    *("inputs", "base", "devel", "source", "installer", "packages", "extensions", "system"),
)
_RESOLVER = ("name", "version", "exclude_newer", "inputs")
_HINT = "run `envspec lock` to write the lock anew"


def dumps(lock: Lock) -> str:
    """The text of ``spec.lock``: fixed order, one line a package, a newline at the end."""
    parts = (
        f'"envspec_lock": {LOCK_VERSION}',
        f'"resolver": {_line(_resolver_fields(lock))}',
        f'"tools": {_line(dict(lock.tools))}',
        f'"facts": {_line(lock.facts)}',
        f'"nixpkgs": {_line(lock.nixpkgs._asdict())}',
        f'"driver": {_line({"cuda": lock.cuda, "floor": lock.driver_floor})}',
        f'"inputs": {_lines(lock.inputs)}',
        f'"base": {_line({"name": lock.base_name, "digest": lock.base_digest})}',
        f'"devel": {_line({"name": lock.devel_name, "digest": lock.devel_digest})}',
        f'"source": {_line(lock.source._asdict())}',
        f'"installer": {_line(package_fields(lock.installer))}',
        f'"packages": {_lines(map(package_fields, lock.packages))}',
        f'"extensions": {_extensions(lock.extensions)}',
        f'"system": {_system(lock.system)}',
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
    extensions = _read_extensions(top["extensions"])
    packages = read_packages(top["packages"], extensions=frozenset(e.name for e in extensions))
    _check_extensions(extensions, packages)
    installer = read_package(top["installer"], ("installer",))
    for key in ("requires", "why"):
        for name in top["installer"][key]:
            text_of(name, ("installer", key))
    base, devel = _image(top["base"], "base"), _image(top["devel"], "devel")
    lock = Lock(
        inputs=_inputs(top["inputs"]),
        base_name=base[0],
        base_digest=base[1],
        source=read_artefact(top["source"], ("source",), "`source`"),
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
        devel_name=devel[0],
        devel_digest=devel[1],
        system=read_system(top["system"]),
        extensions=extensions,
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
        matching(name, ("tools",), *FIELDS["name"])
        text_of(version, ("tools", name))
    return tuple(data.items())


def _image(item: object, key: str) -> tuple[str, str]:
    """Name and digest; both may be empty for `devel`."""
    fields = object_of(item, (key,), ("name", "digest"), f"`{key}`")
    name, digest = text_of(fields["name"], (key, "name")), fields["digest"]
    if key == "devel" and not name and digest == "":
        return "", ""
    if type(digest) is not str or not re.fullmatch("sha256:[0-9a-f]{64}", digest):
        raise WrongError(
            (key, "digest"),
            f"`{key}.digest` must be `sha256:` and 64 hexadecimal digits, found {shown(digest)}",
        )
    return name, digest


def _read_extensions(items: object) -> tuple[LockedExtension, ...]:
    if type(items) is not list:
        raise WrongError(("extensions",), f"`extensions` must be a list, found {shown(items)}")
    return tuple([read_extension(item, ("extensions", i)) for i, item in enumerate(items)])


def _check_extensions(
    extensions: Sequence[LockedExtension], packages: Sequence[LockedPackage]
) -> None:
    """Each name once in the whole lock, and what extensions require is in it."""
    known = {p.name for p in packages}
    everything = known | {e.name for e in extensions}
    for i, extension in enumerate(extensions):
        if extension.name in known:
            at = ("extensions", i, "name")
            raise WrongError(at, f"the lock holds `{extension.name}` twice")
        known.add(extension.name)
        for j, name in enumerate(extension.requires):
            if type(name) is not str or name not in everything:
                place = ("extensions", i, "requires", j)
                raise WrongError(place, f"{dotted(place)} must name a package of the lock")


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


def _extensions(extensions: Sequence[LockedExtension]) -> str:
    """An extension on a line, and each package that its build imports on one of its own."""
    if not extensions:
        return "[]"
    texts = [
        f'{_line(extension_fields(e))[:-1]}, "build": {_lines(map(package_fields, e.build), 4)}}}'
        for e in extensions
    ]
    return "[\n    " + ",\n    ".join(texts) + "\n  ]"


def _system(system: System) -> str:
    head = _line({"suites": dict(system.suites), "asked": system.asked})[:-1]
    runtime, build = (_lines((d._asdict() for d in debs), 2) for debs in system[2:])
    return f'{head}, "runtime": {runtime}, "build": {build}}}'


def _lines(values: Iterable[object], indent: int = 2) -> str:
    """A list with one value on a line."""
    inner = " " * (indent + 2)
    lines = f",\n{inner}".join(map(_line, values))
    return f"[\n{inner}{lines}\n{' ' * indent}]" if lines else "[]"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
