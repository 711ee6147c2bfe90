"""What is installed: indexes, packages, system packages, steps and variables."""

from __future__ import annotations

from envspec.language import values as shapes
from envspec.language.reader import Reader, named
from envspec.language.statements import words_in
from envspec.language.syntax import ASSIGNMENT, STRING, WORD, Statement, Value
from envspec.model import Index, Package, Step, SystemPackage, Variable
from envspec.source import Span


def indexes(reader: Reader, top: dict[str, list[Statement]]) -> tuple[Index, ...]:
    """Read the `index` statements. An address with credentials is a finding."""
    result = []
    for name, statement in named(reader, top.get("index", []), shapes.NAME):
        values = reader.values(statement, 'index NAME ["URL"]', 1, 2)
        given = values[1] if len(values) == 2 else None
        # A wrong address is still an address: one slip, one finding.
        url = reader.text(given, shapes.URL, STRING, given.text if given else "")
        if "@" in url.split("//", 1)[-1].split("/", 1)[0]:
            reader.report(
                "E0203",
                "the address holds credentials",
                values[1].span,
                cause="a spec is committed and its text reaches reports",
                hint="keep them in the environment or a netrc file",
            )
        result.append(Index(name, url, statement.span))
    return tuple(result)


def packages(reader: Reader, top: dict[str, list[Statement]]) -> tuple[Package, ...]:
    """Read `packages`; names are normalised, so `Foo_Bar` and `foo-bar` are one package."""
    statement = reader.single(top, "packages")
    seen: dict[str, Span] = {}
    result = []
    for line in (statement.block or ()) if statement else ():
        package = _package(reader, line)
        if package is None:
            continue
        if package.name in seen:
            reader.duplicate(f"package `{package.name}`", line.span, seen[package.name])
            continue
        seen[package.name] = line.span
        result.append(package)
    return tuple(result)


def _package(reader: Reader, line: Statement) -> Package | None:
    form = words_in("packages")["NAME"].form
    if line.block is not None or line.keyword.kind != WORD:
        reader.report("E0206", "a package is one line", line.span, hint=f"write `{form}`")
        return None
    name, bracket, rest = line.keyword.text.partition("[")
    extras = tuple(e.strip() for e in rest[:-1].split(",")) if bracket else ()
    if not shapes.NAME.fits(name) or (
        bracket and not (rest.endswith("]") and all(shapes.NAME.fits(e) for e in extras))
    ):
        reader.report(
            "E0203",
            f"`{line.keyword.shown}` is not a package name",
            line.keyword.span,
            hint="a name, perhaps with extras: `jax[cuda12]`; a version is written after a blank",
        )
        return None
    values = list(line.values[1:])
    because = reader.because(values)
    index = take_index(reader, values)
    specifier = ",".join(part for v in values for part in v.text.split(",") if part)
    span = Span(values[0].span.start, values[-1].span.end) if values else line.span
    if values and (any(v.kind != WORD for v in values) or not shapes.SPECIFIER.fits(specifier)):
        if shapes.VERSION.fits(specifier):
            hint = f"write `=={specifier}` for exactly this version"
        elif all(v.kind == WORD for v in values):
            hint = f"expected {shapes.SPECIFIER.expected}"
        else:
            hint = f"write `{form}`"
        written = " ".join(v.shown for v in values[:3]) + (" …" if values[3:] else "")
        reader.report(
            "E0203",
            f"`{written}` is not a version specifier",
            span,
            "wrong value",
            hint=hint,
        )
        specifier = ""
    return Package(shapes.normalise(name), extras, specifier, index, because, line.span)


def system_packages(reader: Reader, top: dict[str, list[Statement]]) -> tuple[SystemPackage, ...]:
    """Read `system`."""
    statement = reader.single(top, "system")
    if statement is None:
        return ()
    found = reader.children(statement, "system")
    result: list[SystemPackage] = []
    for stage in ("runtime", "build"):
        line = reader.single(found, stage)
        for value in reader.values(line, f"{stage} NAME …", 1, 1000) if line else ():
            result.append(
                SystemPackage(reader.text(value, shapes.SYSTEM_PACKAGE, WORD), stage, value.span)
            )
    return tuple(result)


def steps(reader: Reader, top: dict[str, list[Statement]]) -> tuple[Step, ...]:
    """Read the `step` statements."""
    result = []
    for name, statement in named(reader, top.get("step", []), shapes.NAME):
        found = reader.children(statement, "step")
        argv = reader.arguments(reader.single(found, "run"), words_in("step")["run"].form)
        result.append(Step(name, argv, statement.span))
    return tuple(result)


def variables(reader: Reader, lines: list[tuple[Value, ...]]) -> tuple[Variable, ...]:
    """Read assignments; `lines` holds the values of one statement each."""
    seen: dict[str, Span] = {}
    result = []
    for value in (v for line in lines for v in line):
        if value.kind != ASSIGNMENT:
            reader.report(
                "E0203",
                f"`{value.shown}` is not an assignment",
                value.span,
                hint='write `NAME="VALUE"` without blanks around `=`',
            )
        elif value.name in seen:
            reader.duplicate(f"variable `{value.name}`", value.span, seen[value.name])
        else:
            seen[value.name] = value.span
            result.append(Variable(value.name, value.text, value.span))
    return tuple(result)


def environment(reader: Reader, top: dict[str, list[Statement]]) -> tuple[Variable, ...]:
    """Read `env`."""
    statement = reader.single(top, "env")
    lines = (statement.block or ()) if statement else ()
    for line in lines:
        if line.block is not None:
            reader.report("E0206", "a variable takes no block", line.span, hint='`NAME="VALUE"`')
    return variables(reader, [line.values for line in lines])


def take_index(reader: Reader, values: list[Value]) -> str:
    """Take `from INDEX` off the end of a list of values."""
    if len(values) >= 2 and values[-2].kind == WORD and values[-2].text == "from":
        index = reader.text(values.pop(), shapes.NAME, WORD)
        values.pop()
        return index
    return ""
