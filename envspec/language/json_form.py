"""The JSON form of a spec → statements.

The form follows from the table of words:

- a statement is a key; one that may stand with different names is an object by name;
- its values are an object by the keys of its form, or the first value alone where that is all;
- a block's lines stand beside the values of its head;
- `env` is an object, a list of values is a list.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, DiagnosticError, Fix, Label, in_order
from envspec.language import values as shapes
from envspec.language.json_source import ARRAY, LITERAL, NUMBER, OBJECT, Node, read_json
from envspec.language.json_source import STRING as TEXT
from envspec.language.limits import check_count, check_size, forbidden_in_string
from envspec.language.statements import MANY, Form, Param, Word, words_in
from envspec.language.syntax import ASSIGNMENT, MAX_FINDINGS, STRING, WORD, Statement, Value
from envspec.source import SourceFile, Span

NUMBERS = (shapes.COUNT, shapes.PROCESSES, shapes.PORT, shapes.STATUS)
"""Shapes whose values are numbers in JSON. Others are strings: `3.10` is not the number 3.1."""


def parse_json(source: SourceFile) -> tuple[Statement, ...]:
    """Statements of a spec in JSON form; each keeps its place in the JSON text.

    Raises:
        DiagnosticError: E0105 (too large), E0107 (not the JSON form), E0102 (a string holds a
            character that no spec may hold), E0203 (a number where a string belongs).
    """
    statements, findings = read_form(source)
    if findings:
        raise DiagnosticError(findings)
    return statements


def read_form(source: SourceFile) -> tuple[tuple[Statement, ...], tuple[Diagnostic, ...]]:
    """The statements as far as they can be read, and what is wrong in how they are written.

    Raises:
        DiagnosticError: E0105, or E0107 where the text is no JSON.
    """
    check_size(source)
    root = read_json(source)
    reading = _Reading(source)
    statements = tuple(reading.block(root, ""))
    check_count(source, sum(_count(s) for s in statements))
    return statements, in_order(reading.findings)[:MAX_FINDINGS]


def _count(statement: Statement) -> int:
    return 1 + sum(_count(s) for s in statement.block or ())


class _Reading:
    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.findings: list[Diagnostic] = []

    def report(self, code: str, title: str, span: Span, hint: str, fix: Fix | None = None) -> None:
        label = Label(span, "here")
        self.findings.append(Diagnostic(code, title, self.source, (label,), hint=hint, fix=fix))

    def block(self, node: Node, inside: str) -> Iterator[Statement]:
        """The statements of an object: those of the top level, or of a block."""
        for key, place, value in self.members(node, inside or "a spec"):
            row = words_in(inside).get(key)
            yield from self.statements(key, place, value, row)

    def members(self, node: Node, what: str) -> tuple[tuple[str, Span, Node], ...]:
        if node.kind != OBJECT:
            self.report("E0107", f"{what} is an object in JSON", node.span, 'write `{"key": …}`')
            return ()
        return node.members

    def statements(
        self, key: str, place: Span, node: Node, row: Word | None
    ) -> Iterator[Statement]:
        keyword = Value(WORD, key, place)
        span = Span(place.start, node.span.end)
        if row is None:  # resolving says so, with the closest known word
            yield Statement((keyword,), None, place)
        elif row.word == "packages":
            yield Statement((keyword,), tuple(self.packages(node, row)), span)
        elif row.word == "env" and not row.inside:
            lines = (Statement((v,), None, v.span) for v in self.assignments(node))
            yield Statement((keyword,), tuple(lines), span)
        elif row.names:
            for name, at, value in self.members(node, f"`{key}`"):
                named = self.decoded(name, at, WORD)
                yield self.statement(keyword, value, row, named)
        elif row.often == MANY:
            items = [m[2] for m in node.members] if node.kind == ARRAY else [node]
            for item in items:
                yield self.statement(keyword, item, row)
        else:
            yield self.statement(keyword, node, row)

    def packages(self, node: Node, row: Word) -> Iterator[Statement]:
        line = words_in(row.word)["NAME"]
        for name, place, value in self.members(node, "`packages`"):
            yield self.statement(self.decoded(name, place, WORD), value, line)

    def statement(
        self, keyword: Value, node: Node, row: Word, name: Value | None = None
    ) -> Statement:
        """One statement: the values of its form, and its lines where it has a block."""
        given = {key: value for key, _, value in node.members} if node.kind == OBJECT else {}
        known = words_in(row.word) if row.block else {}
        form = _form_for(row, given)
        heads = [p for p in form.params if p.key != "name" or not row.names]
        whole = not _is_object_of(node, heads, known)
        values = [keyword, *([name] if name else [])]
        if form.choose:
            values.append(Value(WORD, form.choose, node.span))
        for i, param in enumerate(heads):
            found = (node if i == 0 else None) if whole else given.get(param.key)
            if found is not None and not (found.kind == LITERAL and found.text == "null"):
                if param.lead:
                    values.append(Value(WORD, param.lead, Span(found.span.start, found.span.start)))
                values.extend(self.values(found, param))
        block: tuple[Statement, ...] | None = None
        if row.block:
            keys = {p.key for p in heads}
            members = () if whole else tuple(m for m in node.members if m[0] not in keys)
            rest = Node(OBJECT, "", node.span, members)
            block = tuple(self.block(rest, row.word)) if members or not whole else None
        elif not whole:
            for key, place, _ in node.members:
                if key not in {p.key for p in heads}:
                    keys_known = ", ".join(f"`{p.key}`" for p in heads)
                    self.report("E0107", f"`{key[:60]}` is not a value of `{row.word}`", place,
                                f"known here: {keys_known}")  # fmt: skip
        start = name.span.start if name else keyword.span.start
        return Statement(tuple(values), block, Span(min(start, node.span.start), node.span.end))

    def values(self, node: Node, param: Param) -> Iterator[Value]:
        """The values that one key stands for."""
        if param.kind == ASSIGNMENT:
            yield from self.assignments(node)
        elif param.many:
            items = [m[2] for m in node.members] if node.kind == ARRAY else [node]
            yield from (self.scalar(item, param) for item in items)
        elif param.shape is shapes.SPECIFIER and node.kind == TEXT:
            parts = node.text.split()
            yield from (Value(WORD, part, node.span) for part in parts)
        else:
            yield self.scalar(node, param)

    def assignments(self, node: Node) -> Iterator[Value]:
        for name, place, value in self.members(node, "`env`"):
            if not shapes.VARIABLE.fits(name):
                expected = shapes.VARIABLE.expected
                self.report("E0203", f"`{name[:60]}` is not {expected}", place, "see `NAME`")
                continue
            if value.kind != TEXT:
                self.report("E0203", f"`{name}` needs a string", value.span, 'write `"VALUE"`')
                continue
            text = self.decoded(value.text, value.span, STRING).text
            yield Value(ASSIGNMENT, text, value.span, name)

    def scalar(self, node: Node, param: Param) -> Value:
        kind = STRING if param.kind == STRING else WORD
        if node.kind == TEXT:
            return self.decoded(node.text, node.span, kind)
        number = node.kind == NUMBER and param.shape in NUMBERS
        boolean = node.kind == LITERAL and param.shape is shapes.BOOLEAN and node.text != "null"
        if not number and not boolean:
            if node.kind in {NUMBER, LITERAL}:
                written = f'"{node.text}"'
                cause = f"write `{written}`"
                self.report("E0203", f"`{node.text[:60]}` should be a string", node.span, cause,
                            Fix.replace(node.span, written, cause))  # fmt: skip
            else:
                title = f"a {node.kind} where {param.shape.expected} is expected"
                self.report("E0107", title, node.span, f"expected {param.shape.expected}")
        return Value(kind, node.text, node.span)

    def decoded(self, text: str, span: Span, kind: str) -> Value:
        """A string as a value; what no spec may hold is refused however it was escaped."""
        char = forbidden_in_string(text)
        if char:
            title = f"forbidden character U+{ord(char):04X}"
            self.report("E0102", title, span, "remove it, or write a plain space")
        return Value(kind, text, span)


def _form_for(row: Word, given: dict[str, Node]) -> Form:
    """The form whose first key is there; the first form where none is."""
    for form in row.forms:
        if form.params and form.params[0].key in given:
            return form
    return row.forms[0]


def _is_object_of(node: Node, heads: list[Param], known: dict[str, Word]) -> bool:
    """Whether an object holds the values by their keys; else it is the first value itself."""
    if node.kind != OBJECT:
        return False
    return not (len(heads) == 1 and heads[0].kind == ASSIGNMENT and not known)
