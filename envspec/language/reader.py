"""Reads values out of statements by the table of words, and collects findings on the way.

Reading never stops at the first finding: a wrong value becomes a harmless default, so that all
findings of a file come at once. `envspec.language.resolve` looks at the findings at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.language.statements import MANY, REQUIRED, Form, Param, Word, words_in
from envspec.language.syntax import (
    ASSIGNMENT,
    MAX_FINDINGS,
    STRING,
    WORD,
    Statement,
    Value,
)
from envspec.language.values import Shape
from envspec.model import NOWHERE
from envspec.source import SourceFile, Span
from envspec.suggest import closest


class Fields(NamedTuple):
    """The values of one statement by the keys of its form; a value that is wrong is not there."""

    span: Span
    values: dict[str, tuple[Value, ...]]

    def text(self, key: str = "value", default: str = "") -> str:
        """The text of a value, ``default`` where it is absent."""
        found = self.values.get(key)
        return found[0].text if found else default

    def texts(self, key: str = "value") -> tuple[str, ...]:
        """All texts of a value that may stand several times."""
        return tuple(v.text for v in self.values.get(key, ()))

    def at(self, key: str) -> Span:
        """Where a value stands, `NOWHERE` where it is absent."""
        found = self.values.get(key)
        return Span(found[0].span.start, found[-1].span.end) if found else NOWHERE

    def __bool__(self) -> bool:
        """False for a statement that is absent."""
        return self.span != NOWHERE


ABSENT = Fields(NOWHERE, {})


_LISTED = 24
"""Words that a hint lists: more than the top level has."""


class Block:
    """The lines of a block by word, checked against the table."""

    def __init__(self, reader: Reader, name: str, lines: dict[str, list[Statement]]) -> None:
        self._reader = reader
        self._name = name
        self._read: dict[str, Fields] = {}
        self.lines = lines

    def one(self, word: str) -> Fields:
        """The values of a statement that may stand once."""
        lines = self.lines.get(word)
        if not lines:
            return ABSENT
        if word not in self._read:
            self._read[word] = self._reader.fields(lines[0], words_in(self._name)[word])
        return self._read[word]

    def text(self, word: str, default: str = "") -> str:
        """The only value of a statement."""
        return self.one(word).text(default=default)

    def each(self, word: str) -> Iterator[tuple[Statement, Fields]]:
        """Every statement of a word; where the word gives names, each name once."""
        row = words_in(self._name)[word]
        seen: dict[str, Span] = {}
        for line in self.lines.get(word, ()):
            fields = self._reader.fields(line, row)
            if row.names:
                name = fields.text("name")
                if not name:
                    continue
                if name in seen:
                    shown = f"`{word} {name}`" if self._name != "imports" else f"`{name}`"
                    self._reader.duplicate(shown, fields.at("name"), seen[name])
                    continue
                seen[name] = fields.at("name")
            yield line, fields


class Reader:
    """Findings of one source, and the ways values are read from it."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.findings: list[Diagnostic] = []

    @property
    def full(self) -> bool:
        """True once nobody would read another finding: looking for the closest word takes time."""
        return len(self.findings) >= MAX_FINDINGS

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
        if self.full:
            return
        labels = (Label(span, label), *also)
        self.findings.append(Diagnostic(code, title, self.source, labels, cause, hint, fix))

    # --- blocks ---

    def block(self, statement: Statement | None, name: str) -> Block:
        """The block of a statement, an empty one where the statement is absent."""
        if statement is None:
            return Block(self, name, {})
        block = Block(self, name, self.sort(statement.block or (), name, statement.span))
        for word in words_in(name).values():
            # All are read, whether or not something asks for them: every slip is a finding.
            if word.often != MANY and name != "claims":
                block.one(word.word)
        return block

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
        if self.full:
            return
        where = f"in `{block}`" if block else "at the top level"
        names = list(words_in(block))
        near = closest(keyword.name or keyword.text, names)
        self.report(
            "E0201",
            f"`{keyword.shown}` is not a statement {where}",
            keyword.span,
            "unknown word",
            hint=f"did you mean `{near}`?" if near else f"known here: {_listed(names)}",
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
        if word.block and not word.params and (len(line.values) > 1 or line.block is None):
            self.report(
                "E0206",
                f"`{word.word}` takes a block and nothing else",
                line.span,
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

    # --- values ---

    def fields(self, statement: Statement, word: Word) -> Fields:
        """The values of a statement, matched with its forms; reports what does not fit."""
        form = self._chosen(statement, word)
        if form is None:
            self._misses(statement, word, None)
            return Fields(statement.span, {})
        rest = list(statement.values[2 if form.choose else 1 :])
        found: dict[str, tuple[Value, ...]] = {}
        leads = {p.lead for p in form.params if p.lead}
        for param in form.params:
            taken = _take(rest, param, leads)
            if not taken and not param.optional:
                self._misses(statement, word, param)
                return Fields(statement.span, {})
            good = tuple(v for v in taken if self.fits(v, param.shape, param.kind))
            # A list with a wrong value in it keeps the others; a single wrong value is absent.
            if good:
                found[param.key] = good
        if rest:
            title = f"`{word.word}` has {_counted(len(rest))} too many"
            span = Span(rest[0].span.start, rest[-1].span.end)
            self.report("E0206", title, span, "not expected", hint=f"write `{word.form}`")
        return Fields(statement.span, found)

    def _chosen(self, statement: Statement, word: Word) -> Form | None:
        if not any(form.choose for form in word.forms):
            return word.forms[0]
        second = statement.values[1] if len(statement.values) > 1 else None
        if second is None or second.kind != WORD:
            return None
        return next((form for form in word.forms if form.choose == second.text), None)

    def _misses(self, statement: Statement, word: Word, param: Param | None) -> None:
        values = statement.values
        if param is None:
            title = f"`{word.word}` is written differently"
        elif param.lead:
            title = f"`{word.word}` has no `{param.lead}`"
        else:
            title = f"`{word.word}` has no {'name' if param.key == 'name' else 'value'}"
        # A statement with a block is marked up to the block.
        span = Span(statement.span.start, values[-1].span.end)
        self.report("E0206", title, span, hint=f"write `{word.form}`")

    def fits(self, value: Value, shape: Shape, kind: str = "") -> bool:
        """Whether a value has a shape and is a word, a string or an assignment, as asked."""
        if kind == ASSIGNMENT:
            if value.kind != ASSIGNMENT:
                self.report(
                    "E0203",
                    f"`{value.shown}` is not an assignment",
                    value.span,
                    hint='write `NAME="VALUE"` without blanks around `=`',
                )
            return value.kind == ASSIGNMENT
        if shape.words and not (value.kind == WORD and value.text in shape.words):
            near = closest(value.text, shape.words)
            self.report(
                "E0203",
                f"`{value.shown}` is not {shape.noun}",
                value.span,
                "wrong value",
                hint=f"did you mean `{near}`?" if near else f"expected {shape.expected}",
                fix=Fix.replace(value.span, near, f"write `{near}`") if near else None,
            )
            return False
        if kind in {WORD, STRING} and value.kind not in {kind, ASSIGNMENT}:
            self._quoting(value, quoted=kind == STRING)
            return False
        if value.kind == ASSIGNMENT or not shape.fits(value.text):
            self.report(
                "E0203",
                f"`{value.shown}` is not {_article(shape.expected)}",
                value.span,
                "wrong value",
                hint=f"expected {shape.expected}",
            )
            return False
        return True

    def _quoting(self, value: Value, *, quoted: bool) -> None:
        written = f'"{value.text}"' if quoted else value.text
        # A backslash or a quote inside would have to be escaped; then a person should look.
        simple = quoted and not set('"\\') & set(value.text)
        plain = not quoted and value.text and not set(' \t"{}#=') & set(value.text)
        self.report(
            "E0203",
            f"`{value.shown}` should {'stand' if quoted else 'not stand'} in quotes",
            value.span,
            cause="nothing in a string is split or expanded" if quoted else "",
            hint=f'write `"{value.shown}"`' if quoted else f"write `{value.shown}`",
            fix=Fix.replace(value.span, written, f"write `{written}`")
            if (simple or plain) and len(written) < 100
            else None,
        )


def _take(rest: list[Value], param: Param, leads: set[str]) -> tuple[Value, ...]:
    """Take the values of one parameter off the front, or from behind its lead word."""
    if param.lead:
        for i in range(len(rest) - 1):
            if rest[i].kind == WORD and rest[i].text == param.lead:
                value = rest[i + 1]
                del rest[i : i + 2]
                return (value,)
        return ()
    count = 0
    while count < len(rest) and count < (param.most if param.many else 1):
        value = rest[count]
        # What must be there is taken whatever it is called: a package may have the name `from`.
        if (param.many or param.optional) and value.kind == WORD and value.text in leads:
            break
        count += 1
    taken = tuple(rest[:count])
    del rest[:count]
    return taken


def _counted(count: int) -> str:
    return "one value" if count == 1 else f"{count} values"


def _article(expected: str) -> str:
    """``expected`` without its example, for a title."""
    return expected.split(" such as ", 1)[0]


def _listed(names: list[str]) -> str:
    """A list that a reader can take in; the page of the language has all of it."""
    if len(names) <= _LISTED:
        return ", ".join(names)
    left = len(names) - _LISTED
    return f"{', '.join(names[:_LISTED])}, and {left} more (see docs/language.md)"
