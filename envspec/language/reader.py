"""Helpers that read values out of statements and collect findings on the way.

Reading never stops at the first finding: a wrong value becomes a harmless default, so that all
findings of a file come at once. `envspec.language.resolve` looks at the findings at the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.language.statements import MANY, REQUIRED, Word, words_in
from envspec.language.suggest import closest
from envspec.language.syntax import (
    ASSIGNMENT,
    MAX_FINDINGS,
    STRING,
    WORD,
    Statement,
    Value,
)
from envspec.language.values import Shape
from envspec.source import SourceFile, Span


class Reader:
    """Findings of one source, and the ways values are read from it."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.findings: list[Diagnostic] = []

    def report(
        self,
        code: str,
        title: str,
        span: Span,
        label: str = "",
        *,
        cause: str = "",
        hint: str = "",
        fix: Fix | None = None,
        also: tuple[Label, ...] = (),
    ) -> None:
        """Add a finding; past `MAX_FINDINGS` they are dropped."""
        if len(self.findings) >= MAX_FINDINGS:
            return
        labels = (Label(span, label), *also)
        self.findings.append(Diagnostic(code, title, self.source, labels, cause, hint, fix))

    def children(self, statement: Statement, block: str) -> dict[str, list[Statement]]:
        """The lines of a statement's block by word, checked against the table of words."""
        return self.sort(statement.block or (), block, statement.span)

    def sort(
        self, lines: tuple[Statement, ...], block: str, owner: Span
    ) -> dict[str, list[Statement]]:
        """Lines by word. Reports unknown words, repeats, missing words and blocks out of place."""
        known = words_in(block)
        found: dict[str, list[Statement]] = {}
        for line in lines:
            word = known.get(line.keyword.text) if line.keyword.kind == WORD else None
            if word is None:
                self._unknown(line.keyword, block)
            else:
                self._place(word, line, found.setdefault(word.word, []))
        for word in known.values():
            if word.often == REQUIRED and word.word not in found:
                self._missing(word, block, owner)
        return found

    def _unknown(self, keyword: Value, block: str) -> None:
        where = f"in `{block}`" if block else "at the top level"
        names = list(words_in(block))
        near = closest(keyword.name or keyword.text, names)
        self.report(
            "E0201",
            f"`{keyword.shown}` is not a statement {where}",
            keyword.span,
            "unknown word",
            hint=f"did you mean `{near}`?" if near else "known here: " + ", ".join(names),
            fix=Fix.replace(keyword.span, near, f"write `{near}`") if near else None,
        )

    def _place(self, word: Word, line: Statement, earlier: list[Statement]) -> None:
        if line.block is not None and not word.block:
            self.report(
                "E0206",
                f"`{word.word}` takes no block",
                line.span,
                hint=f"write `{word.form}`",
            )
        if word.form == f"{word.word} {{ … }}" and (len(line.values) > 1 or line.block is None):
            self.report(
                "E0206",
                f"`{word.word}` takes a block and nothing else",
                line.span,
                hint=f"write `{word.form}`",
            )
        if word.names and word.block and len(line.values) > 2:
            self.report(
                "E0206",
                f"`{word.word}` takes one name and a block",
                line.values[2].span,
                "one too many",
                hint=f"write `{word.form}`",
            )
        if word.often != MANY and earlier:
            self.duplicate(f"`{word.word}`", line.span, earlier[0].span)
            return
        earlier.append(line)

    def _missing(self, word: Word, block: str, owner: Span) -> None:
        where = f"`{block}`" if block else "the spec"
        self.report(
            "E0204",
            f"{where} has no `{word.word}`",
            owner,
            "missing here",
            hint=f"add `{word.form}`",
        )

    def duplicate(self, what: str, span: Span, first: Span) -> None:
        """Report a second statement where one may stand, and point at both."""
        self.report(
            "E0202",
            f"{what} is written twice",
            span,
            "again here",
            also=(Label(first, "first here"),),
            hint="keep one of the two",
        )

    def values(self, statement: Statement, form: str, least: int, most: int) -> tuple[Value, ...]:
        """The values after the word; reports a count outside ``least`` … ``most``."""
        values = statement.values[1:]
        if not least <= len(values) <= most:
            self.report(
                "E0206",
                f"`{statement.keyword.text}` has {len(values)} values",
                statement.span,
                hint=f"write `{form}`",
            )
            return ()
        return values

    def text(self, value: Value | None, shape: Shape, kind: str = "", default: str = "") -> str:
        """The text of a value that has a shape (and is a word or a string, if ``kind`` says so)."""
        if value is None:
            return default
        if kind and value.kind not in {kind, ASSIGNMENT}:
            quoted = kind == STRING
            self.report(
                "E0203",
                f"`{value.shown}` should {'stand' if quoted else 'not stand'} in quotes",
                value.span,
                hint=f'write `"{value.shown}"`' if quoted else f"write `{value.shown}`",
            )
            return default
        if value.kind == ASSIGNMENT or not shape.fits(value.text):
            self.report(
                "E0203",
                f"`{value.shown}` is not {_article(shape.expected)}",
                value.span,
                "wrong value",
                hint=f"expected {shape.expected}",
            )
            return default
        return value.text

    def choice(self, value: Value, known: tuple[str, ...], what: str) -> str:
        """The text of a value that is one of a few words, the first of them where it is not."""
        if value.kind == WORD and value.text in known:
            return value.text
        near = closest(value.text, known)
        self.report(
            "E0203",
            f"`{value.shown}` is not {what}",
            value.span,
            "wrong value",
            hint=f"did you mean `{near}`?" if near else f"expected {_one_of(known)}",
        )
        return known[0]

    def single(self, found: dict[str, list[Statement]], word: str) -> Statement | None:
        """The one statement of a word, None where it is absent."""
        lines = found.get(word)
        return lines[0] if lines else None

    def one(
        self, found: dict[str, list[Statement]], block: str, word: str, shape: Shape, kind: str = ""
    ) -> str:
        """The value of a statement that has exactly one; ``""`` where it is absent or wrong."""
        statement = self.single(found, word)
        if statement is None:
            return ""
        values = self.values(statement, words_in(block)[word].form, 1, 1)
        return self.text(values[0] if values else None, shape, kind)

    def arguments(self, statement: Statement | None, form: str) -> tuple[str, ...]:
        """The strings of a `run` or `script` statement."""
        if statement is None:
            return ()
        values = self.values(statement, form, 1, 10_000)
        for value in values:
            if value.kind != STRING:
                self.report(
                    "E0203",
                    f"`{value.shown}` should stand in quotes",
                    value.span,
                    hint="every argument is a string, so that nothing is split or expanded",
                )
        return tuple(v.text for v in values)

    def because(self, values: list[Value]) -> str:
        """Take `because "REASON"` off the end of a list of values."""
        if len(values) >= 2 and values[-2].kind == WORD and values[-2].text == "because":
            reason = values.pop()
            values.pop()
            if reason.kind == STRING and reason.text.strip():
                return reason.text
            self.report(
                "E0203", "the reason should be a string", reason.span, hint='write `because "WHY"`'
            )
        return ""


def named(
    reader: Reader, statements: list[Statement], shape: Shape
) -> Iterator[tuple[str, Statement]]:
    """Statements with the name that follows their word; reports repeats and missing names."""
    seen: dict[str, Span] = {}
    for statement in statements:
        values = statement.values[1:]
        if not values:
            reader.report(
                "E0206",
                f"`{statement.keyword.text}` has no name",
                statement.span,
                hint=f"write `{statement.keyword.text} NAME`",
            )
            continue
        name = reader.text(values[0], shape, WORD)
        if name in seen:
            reader.duplicate(f"`{statement.keyword.text} {name}`", values[0].span, seen[name])
        elif name:
            seen[name] = values[0].span
            yield name, statement


def _one_of(words: tuple[str, ...]) -> str:
    quoted = [f"`{word}`" for word in words]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def _article(expected: str) -> str:
    """``expected`` without its example, for a title."""
    return expected.split(" such as ", 1)[0]
