"""What is installed: indexes, packages, system packages, extensions, steps and variables."""

from __future__ import annotations

from envspec.language import values as shapes
from envspec.language.reader import Block, Fields, Reader
from envspec.language.statements import words_in
from envspec.language.syntax import ASSIGNMENT, STRING, WORD, Statement, Value
from envspec.model import (
    Extension,
    GitSource,
    Index,
    Mirror,
    Package,
    Secret,
    Step,
    SystemPackage,
    Variable,
)
from envspec.names import normalise
from envspec.source import Span


def indexes(reader: Reader, top: Block) -> tuple[Index, ...]:
    """Read the `index` statements. An address with credentials is a finding."""
    result = []
    for statement, fields in top.each("index"):
        url = fields.text("url")
        if not url and len(statement.values) > 2:
            url = statement.values[2].text  # wrong, and still an address: one slip, one finding
        refuse_credentials(reader, url, fields.at("url"))
        result.append(Index(fields.text("name"), url, statement.span))
    return tuple(result)


def refuse_credentials(reader: Reader, url: str, span: Span) -> None:
    """Report an address that holds a user name or a password."""
    if "@" in url.split("//", 1)[-1].split("/", 1)[0] and span.end:
        reader.report(
            "E0203",
            "the address holds credentials",
            span,
            cause="a spec is committed and its text reaches reports",
            hint="keep them in the environment or a netrc file",
        )


def mirrors(top: Block) -> tuple[Mirror, ...]:
    """Read the `mirror` statements."""
    return tuple(Mirror(f.text("name"), f.text("for"), s.span) for s, f in top.each("mirror"))


def secrets(top: Block) -> tuple[Secret, ...]:
    """Read the `secret` statements."""
    return tuple(Secret(f.text("name"), f.text("because"), s.span) for s, f in top.each("secret"))


def packages(reader: Reader, top: Block) -> tuple[Package, ...]:
    """Read `packages`; names are normalised, so `Foo_Bar` and `foo-bar` are one package."""
    seen: dict[str, Span] = {}
    result = []
    for line in _block_of(top, "packages"):
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
    """One package line. Read by hand and not by its form: a spec has hundreds, and a specifier
    may stand in several words."""
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
    because = _take_because(reader, values)
    index, index_span = _take_index(reader, values)
    point = line.keyword.span.end
    if not values:
        name = normalise(name)
        at = Span(point, point)
        return Package(name, extras, "", index, because, line.span, at, index_span)
    span = Span(values[0].span.start, values[-1].span.end)
    specifier = ",".join(part for v in values for part in v.text.split(",") if part)
    if any(v.kind != WORD for v in values) or not shapes.SPECIFIER.fits(specifier):
        _wrong_specifier(reader, values, specifier, form, span)
        specifier = ""
    name = normalise(name)
    return Package(name, extras, specifier, index, because, line.span, span, index_span)


def _wrong_specifier(
    reader: Reader, values: list[Value], specifier: str, form: str, span: Span
) -> None:
    if shapes.VERSION.fits(specifier):
        hint = f"write `=={specifier}` for exactly this version"
    elif all(v.kind == WORD for v in values):
        hint = f"expected {shapes.SPECIFIER.expected}"
    else:
        hint = f"write `{form}`"
    written = " ".join(v.shown for v in values[:3]) + (" …" if values[3:] else "")
    title = f"`{written}` is not a version specifier"
    reader.report("E0203", title, span, "wrong value", hint=hint)


def _take_because(reader: Reader, values: list[Value]) -> str:
    if len(values) >= 2 and values[-2].kind == WORD and values[-2].text == "because":
        reason = values.pop()
        values.pop()
        if reason.kind == STRING and reason.text.strip():
            return reason.text
        reader.report(
            "E0203", "the reason should be a string", reason.span, hint='write `because "WHY"`'
        )
    return ""


def _take_index(reader: Reader, values: list[Value]) -> tuple[str, Span]:
    if len(values) >= 2 and values[-2].kind == WORD and values[-2].text == "from":
        index, lead = values.pop(), values.pop()
        name = index.text if reader.fits(index, shapes.NAME, WORD) else ""
        return name, Span(lead.span.start, index.span.end)
    return "", Span(0, 0)


def system_packages(reader: Reader, top: Block) -> tuple[SystemPackage, ...]:
    """Read `system`."""
    inside = reader.block(next(iter(top.lines.get("system", ())), None), "system")
    return tuple(
        SystemPackage(value.text, stage, value.span)
        for stage in ("runtime", "build")
        for value in inside.one(stage).values.get("value", ())
    )


def extensions(reader: Reader, top: Block) -> tuple[Extension, ...]:
    """Read the `extension` statements; names are normalised like those of packages."""
    result: list[Extension] = []
    taken = _stated(top)
    for statement, fields in top.each("extension"):
        inside = reader.block(statement, "extension")
        name = normalise(fields.text("name"))
        if name in taken:
            reader.duplicate(f"package `{name}`", fields.at("name"), taken[name])
            continue
        taken[name] = fields.at("name")
        git = inside.one("source")
        refuse_credentials(reader, git.text("git"), git.at("git"))
        if git and (fields.text("specifier") or fields.text("from")):
            reader.report(
                "E0206",
                f"extension `{name}` has a source and a version",
                statement.keyword.span,
                cause="a commit decides what is built, so a version would say it twice",
                hint="keep one of the two",
            )
        end = fields.at("name").end
        result.append(
            Extension(
                name,
                fields.text("specifier"),
                fields.text("from"),
                fields.text("because"),
                GitSource(git.text("git"), git.text("at"), git.span) if git else None,
                tuple(map(normalise, inside.one("needs").texts())),
                variables(reader, inside.one("env")),
                inside.one("module").texts(),
                statement.span,
                fields.at("specifier") if fields.text("specifier") else Span(end, end),
            )
        )
    return tuple(result)


def _stated(top: Block) -> dict[str, Span]:
    """Names of the packages as written, and where."""
    return {
        normalise(line.keyword.text.partition("[")[0]): line.span
        for line in _block_of(top, "packages")
        if line.keyword.kind == WORD
    }


def steps(reader: Reader, top: Block) -> tuple[Step, ...]:
    """Read the `step` statements."""
    result = []
    for statement, fields in top.each("step"):
        inside = reader.block(statement, "step")
        argv, env = inside.one("run").texts(), variables(reader, inside.one("env"))
        result.append(Step(fields.text("name"), argv, env, statement.span))
    return tuple(result)


def variables(reader: Reader, fields: Fields) -> tuple[Variable, ...]:
    """The variables of an `env` line, each name once."""
    return _each_once(reader, fields.values.get("value", ()))


def environment(reader: Reader, top: Block) -> tuple[Variable, ...]:
    """Read `env`."""
    lines = _block_of(top, "env")
    for line in lines:
        if line.block is not None:
            reader.report("E0206", "a variable takes no block", line.span, hint='`NAME="VALUE"`')
    return _each_once(
        reader,
        tuple(v for line in lines for v in line.values if reader.fits(v, shapes.TEXT, ASSIGNMENT)),
    )


def _each_once(reader: Reader, values: tuple[Value, ...]) -> tuple[Variable, ...]:
    seen: dict[str, Span] = {}
    result = []
    for value in values:
        if value.name in seen:
            reader.duplicate(f"variable `{value.name}`", value.span, seen[value.name])
        else:
            seen[value.name] = value.span
            result.append(Variable(value.name, value.text, value.span))
    return tuple(result)


def _block_of(top: Block, word: str) -> tuple[Statement, ...]:
    lines = top.lines.get(word)
    return (lines[0].block or ()) if lines else ()
