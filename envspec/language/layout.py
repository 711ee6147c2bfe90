"""Text → the same text in the one layout, for `envspec fmt` and for editors. Pure.

The layout goes by shape and knows no statements, so a spec that does not resolve has one too, and
so has a statement of a later version. Only blanks and newlines change:

- Two spaces a block level. A statement and a closing brace stand on lines of their own, so a block
  on one line is spread; a block that holds nothing at all is `{}`.
- Columns line up within a run: consecutive lines of one block, or consecutive statements of the
  same word at the top. A blank line or a block ends a run, a line of comment does not. The columns
  are the first word, the values after it, and the clauses at the end: `from INDEX` or `for INDEX`,
  and `because "REASON"`. The string after a name stands where clauses do (`index NAME "URL"`).
  A cell wider than `CELL` has no part in this, nor has what follows it on its line, so that one
  long name pushes nothing to the right.
- A comment keeps its place: a line of its own, at the indentation of its block, or the end of the
  line it follows, two spaces after it and in a column with the others of its run.
- Blank lines stay where they were, one at most; none at either end of a file or block. At the top
  level, one stands before and after each statement with a block, and before the comment that leads
  up to such a statement.
- Words, strings and comments are kept as they were written. Newlines are LF, the last one included.
"""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import ucd_3_2_0 as characters

from envspec.diagnostics import DiagnosticError
from envspec.language.limits import MAX_BYTES
from envspec.language.lines import Line, lines, order
from envspec.language.parse import parse
from envspec.language.syntax import STRING, WORD, Statement, Value
from envspec.source import SourceFile, Span

INDENT = "  "
CELL = 32
"""Columns that a cell may take and still set the place of what follows it in other lines."""
REMARK = 56
"""The same for a whole line and the comment at its end."""

_CLAUSES = {"because": STRING, "from": WORD, "for": WORD}


class LayoutError(RuntimeError):
    """The layout would have changed more than blanks: a bug, and the text is not to be used."""


def formatted(source: SourceFile) -> str:
    """The text of a spec in the one layout; its own text where it has it already.

    Raises:
        DiagnosticError: E0101 to E0105, all at once; E0105 also where the result would be too
            large to be read again.
        LayoutError: the result does not say what the text says.
    """
    before = parse(source)
    text = _written(lines(source.text, before))
    if text == source.text:
        return text
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise DiagnosticError.of(
            "E0105",
            f"the spec would be larger than {MAX_BYTES:,} bytes when it is formatted",
            source=source,
            span=Span(0, 0),
            cause="indentation and columns take room",
            hint="one spec describes one environment; split the project",
        )
    _same(source, before, text)
    return text


def _same(source: SourceFile, before: tuple[Statement, ...], text: str) -> None:
    try:
        after = parse(SourceFile(source.name, text))
    except DiagnosticError as error:
        raise LayoutError(f"the layout of {source.name!r} cannot be read: {error}") from None
    if not _equal(before, after):
        raise LayoutError(f"the layout of {source.name!r} changes its statements")
    if order(source.text, before) != order(text, after):
        raise LayoutError(f"the layout of {source.name!r} moves a comment")


def _equal(before: tuple[Statement, ...] | None, after: tuple[Statement, ...] | None) -> bool:
    """Whether two blocks say the same, wherever they stand."""
    if before is None or after is None:
        return before is after
    return len(before) == len(after) and all(
        len(a.values) == len(b.values)
        and all(
            v.text == w.text and v.kind == w.kind and v.name == w.name
            for v, w in zip(a.values, b.values, strict=True)
        )
        and _equal(a.block, b.block)
        for a, b in zip(before, after, strict=True)
    )


class _Cells(NamedTuple):
    """A plain line in columns: at most three cells, of which the middle one may be empty."""

    cells: tuple[str, ...]
    widths: tuple[int, ...]


def _written(all_lines: list[Line]) -> str:
    out: list[str] = []
    run: list[Line] = []
    for line in all_lines:
        if run and not _continues(run, line):
            out.extend(_run(run))
            run = []
        if run or line.plain:
            run.append(line)
        else:
            out.append(_placed(line, line.text, 0))
    out.extend(_run(run))
    return "".join(out)


def _continues(run: list[Line], line: Line) -> bool:
    """Whether a line belongs to the run; one that begins with a plain line."""
    if line.blank or line.opens or line.closes:
        return False
    first = run[0]
    return line.remark or line.depth > 0 or line.texts[0] == first.texts[0]


def _run(run: list[Line]) -> list[str]:
    rows = [_cells(line) for line in run]
    widths = [max((r.widths[i] for r in rows if len(r.cells) > i + 1), default=0) for i in (0, 1)]
    texts = [_row(row, widths) for row in rows]
    ends = [_width(text) if line.comment else 0 for line, text in zip(run, texts, strict=True)]
    margin = max((end for end in ends if end <= REMARK), default=0)
    return [_placed(line, text, margin) for line, text in zip(run, texts, strict=True)]


def _placed(line: Line, text: str, margin: int) -> str:
    """A whole line, the blank line before it and its newline included."""
    before = "\n" if line.blank else ""
    indent = INDENT * line.depth
    if not line.comment:
        return f"{before}{indent}{text}\n"
    gap = "  " + " " * (margin - _width(text)) if text else ""
    return f"{before}{indent}{text}{gap}{line.comment}\n"


def _row(row: _Cells, widths: list[int]) -> str:
    text = ""
    for i, cell in enumerate(row.cells):
        if i == len(row.cells) - 1:
            return text + cell
        if cell or widths[i]:
            text += cell + " " * (widths[i] - row.widths[i]) + " "
    return text


def _cells(line: Line) -> _Cells:
    values, texts = line.values, line.texts
    cells: tuple[str, ...]
    if not values or values[0].kind != WORD:
        cells = (" ".join(texts),)
    else:
        end = _clauses(values)
        body, rest = texts[1:end], " ".join(texts[end:])
        if len(body) == 2 and values[1].kind == WORD and values[2].kind == STRING:
            cells = (texts[0], body[0], " ".join(texts[2:]))
        elif rest:
            cells = (texts[0], " ".join(body), rest)
        else:
            cells = (texts[0], " ".join(body)) if body else (texts[0],)
    widths = tuple(map(_width, cells))
    for i, width in enumerate(widths[:-1]):
        if width > CELL:
            last = " ".join(filter(None, cells[i:]))
            return _Cells((*cells[:i], last), (*widths[:i], _width(last)))
    return _Cells(cells, widths)


def _clauses(values: list[Value]) -> int:
    """Where the clauses begin that may end any statement; the number of values if there are none.

    No table of statements is asked: these few are clauses in the whole language.
    """
    end = len(values)
    left = dict(_CLAUSES)
    while end >= 3:
        lead, last = values[end - 2 : end]
        if lead.kind != WORD or left.pop(lead.text, "") != last.kind:
            break
        end -= 2
    return end


def _width(text: str) -> int:
    """Columns that a text takes. By an old table of characters, because that one is the same in
    every Python, and so is the layout."""
    if text.isascii():
        return len(text)
    narrow = sum(characters.category(c) not in {"Mn", "Me"} for c in text)
    return narrow + sum(characters.east_asian_width(c) in "WF" for c in text)
