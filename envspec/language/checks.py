"""What is checked: entries, optional imports and claims."""

from __future__ import annotations

from envspec.language import values as shapes
from envspec.language.installs import variables
from envspec.language.reader import Reader, named
from envspec.language.statements import CLAIMS, words_in
from envspec.language.syntax import STRING, WORD, Statement
from envspec.model import LEVELS, UNSTATED, Claim, Entry, OptionalImport

DEFAULT_TIMEOUT = "10m"


def entries(reader: Reader, top: dict[str, list[Statement]]) -> tuple[Entry, ...]:
    """Read the `entry` statements; each needs a level and either `run` or `script`."""
    result = []
    for name, statement in named(reader, top.get("entry", []), shapes.NAME):
        found = reader.children(statement, "entry")
        run, script = reader.single(found, "run"), reader.single(found, "script")
        if (run is None) == (script is None):
            reader.report(
                "E0206",
                f"entry `{name}` needs either `run` or `script`",
                statement.span,
                hint='write `run "python" "-m" "package"` or `script "smoke.py"`',
            )
        forms = words_in("entry")
        argv = reader.arguments(run or script, forms["run" if run else "script"].form)
        file = ""
        if script is not None and run is None and argv:
            file = reader.text(script.values[1], shapes.RELATIVE, STRING)
            argv = argv[1:]
        timeout = reader.one(found, "entry", "timeout", shapes.DURATION, WORD) or DEFAULT_TIMEOUT
        env = reader.single(found, "env")
        network = reader.single(found, "network")
        if network is not None:
            values = reader.values(network, "network allowed", 1, 1)
            if values:
                reader.choice(values[0], ("allowed",), "a value of `network`")
        result.append(
            Entry(
                name,
                _level(reader, found),
                argv,
                file,
                shapes.seconds(timeout),
                int(reader.one(found, "entry", "processes", shapes.PROCESSES, WORD) or "1"),
                variables(reader, [reader.values(env, forms["env"].form, 1, 1000)] if env else []),
                network is not None,
                statement.span,
            )
        )
    return tuple(result)


def _level(reader: Reader, found: dict[str, list[Statement]]) -> str:
    statement = reader.single(found, "level")
    values = reader.values(statement, "level c1 | c3 | c4", 1, 1) if statement else ()
    return reader.choice(values[0], LEVELS, "a level of an entry") if values else LEVELS[0]


def optional_imports(reader: Reader, top: dict[str, list[Statement]]) -> tuple[OptionalImport, ...]:
    """Read `imports`; an optional import without a reason is a finding."""
    statement = reader.single(top, "imports")
    found = reader.children(statement, "imports") if statement else {}
    result = []
    for name, line in named(reader, found.get("optional", []), shapes.MODULE):
        values = list(line.values[1:])
        because = reader.because(values)
        if not because or len(values) != 1:
            reader.report(
                "E0206",
                f"`optional {name}` needs a reason and nothing else",
                line.span,
                cause="an import that is declared optional is never silent",
                hint=f'write `optional {name} because "WHY"`',
            )
        result.append(OptionalImport(name, because, line.span))
    return tuple(result)


def claims(reader: Reader, top: dict[str, list[Statement]]) -> tuple[Claim, ...]:
    """Read `claims` in the order written; a value is text of the shape its name asks for."""
    statement = reader.single(top, "claims")
    found = reader.children(statement, "claims") if statement else {}
    result = []
    for line in sorted((lines[0] for lines in found.values()), key=lambda s: s.span.start):
        name = line.keyword.text
        values = list(line.values[1:])
        because = reader.because(values)
        if len(values) != 1:
            reader.report(
                "E0206",
                f"claim `{name}` needs one value",
                line.span,
                hint=f'write `{name} VALUE`, perhaps with `because "REASON"`',
            )
            continue
        value = values[0]
        unstated = value.kind == WORD and value.text == UNSTATED
        text = UNSTATED if unstated else reader.text(value, CLAIMS[name][0])
        result.append(Claim(name, text, because, line.span))
    return tuple(result)
