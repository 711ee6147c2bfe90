"""What is checked, and what checking needs: assets, services, entries, imports and claims."""

from __future__ import annotations

from envspec.language import values as shapes
from envspec.language.installs import refuse_credentials, variables
from envspec.language.reader import Block, Reader
from envspec.language.statements import words_in
from envspec.language.syntax import WORD, Statement
from envspec.model import (
    LEVELS,
    UNSTATED,
    Asset,
    Claim,
    Entry,
    Expect,
    OptionalImport,
    Service,
)
from envspec.source import Span

DEFAULT_TIMEOUT = "10m"
DEFAULT_READY = "1m"


def assets(reader: Reader, top: Block) -> tuple[Asset, ...]:
    """Read the `asset` statements; each is of a hub or has an address."""
    result = []
    for statement, fields in top.each("asset"):
        inside = reader.block(statement, "asset")
        name = fields.text("name")
        hub, url = inside.text("hub"), inside.text("url")
        lines = inside.lines
        if ("hub" in lines) == ("url" in lines):
            reader.report(
                "E0206",
                f"asset `{name}` needs either `hub` or `url`",
                statement.span,
                hint='write `hub "owner/model"` or `url "https://…"`',
            )
        if "hub" in lines and "revision" not in lines:
            reader.report(
                "E0204",
                f"asset `{name}` has no `revision`",
                statement.span,
                "missing here",
                cause="a branch of a hub moves; a revision does not",
                hint='add `revision "40 HEX DIGITS"`',
            )
        refuse_credentials(reader, url, inside.one("url").span)
        result.append(
            Asset(
                name,
                hub,
                url,
                inside.text("revision"),
                inside.text("sha256"),
                inside.text("folder") or f"assets/{name}",
                inside.text("secret"),
                statement.span,
            )
        )
    return tuple(result)


def services(reader: Reader, top: Block) -> tuple[Service, ...]:
    """Read the `service` statements."""
    result = []
    for statement, fields in top.each("service"):
        inside = reader.block(statement, "service")
        image, _, digest = inside.text("image").partition("@")
        result.append(
            Service(
                fields.text("name"),
                image,
                digest,
                int(inside.text("port", "0")),
                inside.one("run").texts(),
                inside.one("ready").texts(),
                variables(reader, inside.one("env")),
                shapes.seconds(inside.text("timeout", DEFAULT_READY)),
                statement.span,
            )
        )
    return tuple(result)


def entries(reader: Reader, top: Block) -> tuple[Entry, ...]:
    """Read the `entry` statements; each needs a level and either `run` or `script`."""
    result = []
    for statement, fields in top.each("entry"):
        inside = reader.block(statement, "entry")
        name = fields.text("name")
        if ("run" in inside.lines) == ("script" in inside.lines):
            reader.report(
                "E0206",
                f"entry `{name}` needs either `run` or `script`",
                statement.span,
                hint='write `run "python" "-m" "package"` or `script "smoke.py"`',
            )
        script = inside.one("script")
        both = script and "run" in inside.lines
        argv = script.texts("arguments") if script and not both else inside.one("run").texts()
        result.append(
            Entry(
                name,
                inside.text("level", LEVELS[0]),
                argv,
                "" if both else script.text("file"),
                shapes.seconds(inside.text("timeout", DEFAULT_TIMEOUT)),
                int(inside.text("processes", "1")),
                variables(reader, inside.one("env")),
                "network" in inside.lines,
                _expected(reader, inside),
                inside.one("service").texts(),
                inside.one("asset").texts(),
                inside.one("secret").texts(),
                statement.span,
            )
        )
    return tuple(result)


def _expected(reader: Reader, inside: Block) -> Expect:
    status: list[tuple[str, Statement]] = []
    files: list[str] = []
    output: list[str] = []
    for statement, fields in inside.each("expect"):
        if "exit" in fields.values:
            status.append((fields.text("exit"), statement))
        files.extend(fields.texts("file"))
        output.extend(fields.texts("output"))
    if len(status) > 1:
        reader.duplicate("`expect exit`", status[1][1].span, status[0][1].span)
    return Expect(int(status[0][0]) if status else 0, tuple(files), tuple(output))


def optional_imports(reader: Reader, top: Block) -> tuple[OptionalImport, ...]:
    """Read `imports`; an optional import without a reason is a finding."""
    inside = reader.block(next(iter(top.lines.get("imports", ())), None), "imports")
    return tuple(
        OptionalImport(fields.text("name"), fields.text("because"), statement.span)
        for statement, fields in inside.each("optional")
    )


def claims(reader: Reader, top: Block) -> tuple[Claim, ...]:
    """Read `claims` in the order written; a value is text of the shape its name asks for."""
    inside = reader.block(next(iter(top.lines.get("claims", ())), None), "claims")
    result = []
    lines = [line for lines in inside.lines.values() for line in lines]
    subjects: dict[tuple[str, str], Span] = {}
    for line in sorted(lines, key=lambda s: s.span.start):
        claim = _claim(reader, line)
        if claim.subject:
            key, at = (claim.name, claim.subject), line.values[1].span
            if key in subjects:
                reader.duplicate(f"`{' '.join(key)}`", at, subjects[key])
                continue
            subjects[key] = at
        result.append(claim)
    return tuple(result)


def _claim(reader: Reader, line: Statement) -> Claim:
    """One claim. `unstated` is no value of any shape: the fields are read without it."""
    row, values = words_in("claims")[line.keyword.text], line.values
    at = 2 if row.names else 1
    if len(values) > at and values[at].kind == WORD and values[at].text == UNSTATED:
        named = row.names and reader.fits(values[1], row.params[0].shape, WORD)
        stated = line._replace(values=(values[0], *values[at + 1 :]))
        because = _because(reader, stated)
        return Claim(row.word, UNSTATED, because, line.span, values[1].text if named else "")
    fields = reader.fields(line, row)
    if row.word == "repo_url":
        refuse_credentials(reader, fields.text(), fields.at("value"))
    subject = fields.text("name") if row.names else ""
    return Claim(row.word, fields.text(), fields.text("because"), line.span, subject)


def _because(reader: Reader, line: Statement) -> str:
    rest = line.values[1:]
    if not rest:
        return ""
    good = len(rest) == 2 and rest[0].text == "because" and rest[0].kind == WORD
    if good and reader.fits(rest[1], shapes.REASON, "string"):
        return rest[1].text
    if not good:
        reader.report(
            "E0206",
            f"`{line.keyword.text}` is written differently",
            line.span,
            hint=f'write `{line.keyword.text} VALUE [because "REASON"]`',
        )
    return ""
