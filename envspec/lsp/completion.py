"""What may stand at a cursor: statements from the table of words, values from facts and spec. Pure.

Everything follows from `envspec.language.statements`: which statements a block takes, and which
value of which form comes next. This module knows only where good values come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from envspec.language import values as shapes
from envspec.language.statements import MANY, REQUIRED, Form, Param, Word, words_in
from envspec.language.syntax import ASSIGNMENT, STRING, WORD, Statement, Value
from envspec.lsp import draft, offers
from envspec.lsp.offers import Offer
from envspec.lsp.snippets import Snippet, line_snippet, snippets
from envspec.lsp.tree import Cursor, Tree
from envspec.model import UNSTATED
from envspec.names import normalise
from envspec.rules.view import View
from envspec.source import Span

LIMIT = 1000
KEYWORD, SNIPPET = "keyword", "snippet"


class Proposal(NamedTuple):
    """One thing to write in place of ``span``. ``snippet`` says that ``insert`` holds the
    protocol's placeholders; ``plain`` is what to write where a client knows none."""

    label: str
    kind: str
    detail: str
    documentation: str
    insert: str
    plain: str
    snippet: bool
    span: Span


def completions(tree: Tree, offset: int, locked: dict[str, str] | None = None) -> list[Proposal]:
    """What may stand at an offset, the likeliest first."""
    cursor = tree.cursor(offset)
    if cursor.kind in {"comment", STRING} or (cursor.kind == ASSIGNMENT and "=" in cursor.before):
        return []
    view = draft.view(tree, locked)
    found: dict[str, Proposal] = {}
    if not cursor.values:
        for proposal in _statements(tree, cursor):
            found.setdefault(proposal.label, proposal)
    given = {v.text for v in cursor.values[1:]}
    for offer in _values(tree, cursor, view):
        if offer.label not in given:
            found.setdefault(offer.label, _offer(offer, cursor))
    return list(found.values())[:LIMIT]


# --- statements ---------------------------------------------------------------------------


def _statements(tree: Tree, cursor: Cursor) -> Iterator[Proposal]:
    blocks = [cursor.block]
    edge = cursor.typed.start == 0 or tree.text[cursor.typed.start - 1] in "\r\n"
    if cursor.blocks and edge and cursor.typed.start < cursor.typed.end:
        blocks.append("")  # at the left edge, the block may have been left open
    for block in blocks:
        there = _there(tree, cursor) if block == cursor.block else tree.statements
        taken = {s.keyword.text for s in there if s.span.start != cursor.typed.start}
        for word in words_in(block).values():
            if word.word != "NAME" and (word.often == MANY or word.word not in taken):
                for snippet in snippets(word):
                    yield _statement(word, snippet, cursor.typed)


def _statement(word: Word, snippet: Snippet, span: Span) -> Proposal:
    required = " (required)" if word.often == REQUIRED else ""
    return Proposal(
        snippet.label,
        SNIPPET if snippet.text != word.word else KEYWORD,
        f"{word.meaning}{required}",
        described(word),
        snippet.text,
        snippet.plain,
        True,
        span,
    )


def described(word: Word) -> str:
    """A statement in Markdown: form, meaning, default, example."""
    lines = [f"```envspec\n{word.form}\n```", f"{word.meaning}.", f"Default: {word.default}."]
    if word.example:
        lines.append(f"```envspec\n{word.example}\n```")
    return "\n\n".join(lines)


def _there(tree: Tree, cursor: Cursor) -> tuple[Statement, ...]:
    """The statements of the block that a cursor is in."""
    if not cursor.blocks:
        return tree.statements
    start = cursor.blocks[-1][0].span.start
    return next((s.block or () for s, _ in tree.all() if s.span.start == start), ())


# --- values -------------------------------------------------------------------------------


def _values(tree: Tree, cursor: Cursor, view: View) -> Iterator[Offer]:
    word = _word(cursor)
    if word is None:
        return
    given = cursor.values if word.word == "NAME" else cursor.values[1:]
    for form in word.forms:
        rest = list(given)
        if form.choose:
            if not rest:
                yield Offer(form.choose, word.meaning, kind=KEYWORD)
                continue
            if rest.pop(0).text != form.choose:
                continue
        for param, lead in _next(form, rest):
            if lead:
                snippet = line_snippet(param)
                yield Offer(lead, _shown(param), snippet, KEYWORD)
            else:
                yield from _for(param, word, tree, cursor, view)


def _word(cursor: Cursor) -> Word | None:
    """The statement that a cursor is in. In blocks of names, a name is the statement."""
    known = words_in(cursor.block)
    if not cursor.values:
        return known.get("NAME")
    return known.get(cursor.values[0].text) or known.get("NAME")


def _next(form: Form, given: list[Value]) -> Iterator[tuple[Param, str]]:
    """The values of a form that may come after those given: each with its leading word, where
    that has still to be written."""
    params = list(form.params)
    at, taken, pending = 0, False, False
    for value in given:
        while at < len(params) and not pending:
            param = params[at]
            later = {p.lead for p in params[at + 1 :] if p.lead}
            leads = param.lead and value.text == param.lead and value.kind == WORD
            if leads or (not param.lead and not (value.kind == WORD and value.text in later)):
                break
            at, taken = at + 1, False
        if at >= len(params):
            return
        if params[at].lead and not pending:
            pending = True
            continue
        pending = False
        taken = params[at].many
        at += not params[at].many
    if pending:
        yield params[at], ""
        return
    for i in range(at, len(params)):
        param = params[i]
        yield param, param.lead
        if not param.optional and not (i == at and taken):
            return


def _for(param: Param, word: Word, tree: Tree, cursor: Cursor, view: View) -> Iterator[Offer]:
    """Good values for one value of a statement."""
    yield from (Offer(text, param.shape.noun) for text in param.shape.words)
    key = (word.inside, word.word, param.key)
    source = _SOURCES.get(key)
    if source is not None:
        yield from source(view)
    elif param.key in {"from", "for"}:
        yield from offers.indexes(view)
    elif param.key == "specifier":
        name = normalise(cursor.values[-1 if word.word == "NAME" else 1].text.partition("[")[0])
        yield from offers.specifiers(name, view, cursor.before, alone=cursor.alone)
    elif word.inside == "extension" and cursor.blocks and len(cursor.blocks[-1]) > 1:
        yield from _of_extension(cursor.blocks[-1][1].text, word.word)
    elif word.inside == "entry" and word.word in {"service", "asset", "secret"}:
        yield from _declared(tree, word.word)
    elif (word.inside, word.word) == ("asset", "secret"):
        yield from _declared(tree, "secret")
    elif word.inside == "claims" and param.key == "name":
        yield from _claimable(tree, word.word)
    elif word.inside == "claims":
        yield from _claimed(word, param, view)


def _of_extension(name: str, word: str) -> Iterator[Offer]:
    if word == "env":
        yield from offers.build_variables(name)
    elif word == "needs":
        yield from offers.needs(name)
    elif word == "module":
        yield from offers.modules(normalise(name))


def _declared(tree: Tree, word: str) -> Iterator[Offer]:
    for statement in tree.statements:
        if statement.keyword.text == word and len(statement.values) > 1:
            yield Offer(statement.values[1].text, f"{word} of this spec", kind="reference")


def _claimable(tree: Tree, word: str) -> Iterator[Offer]:
    """Entries, and the modules of extensions, that this spec has."""
    if word == "entry":
        yield from _declared(tree, word)
        return
    for statement in tree.statements:
        if statement.keyword.text == "extension":
            lines = [s for s in statement.block or () if s.keyword.text == "module"]
            for value in (v for line in lines for v in line.values[1:]):
                yield Offer(value.text, "module of this spec", kind="reference")


def _claimed(word: Word, param: Param, view: View) -> Iterator[Offer]:
    settled = {"torch_version": view.torch.version if view.torch else ""}
    settled["python_version"] = view.spec.platform.python
    if settled.get(word.word):
        yield Offer(settled[word.word], "as this spec says")
    known = {shapes.VERDICT: ("pass", "fail"), shapes.BOOLEAN: ("true", "false")}
    yield from map(Offer, known.get(param.shape, ("0",) if param.shape == shapes.COUNT else ()))
    yield Offer(UNSTATED, "nobody has looked")


def _platforms(_: View) -> Iterator[Offer]:
    yield from (Offer("linux/amd64"), Offer("linux/arm64"))


def _durations(_: View) -> Iterator[Offer]:
    yield from map(Offer, ("30s", "5m", "10m", "30m", "1h"))


def _sizes(_: View) -> Iterator[Offer]:
    yield from map(Offer, ("8GiB", "16GiB", "32GiB", "64GiB", "128GiB"))


_SOURCES: dict[tuple[str, str, str], Callable[[View], Iterator[Offer]]] = {
    ("", "platform", "os_arch"): _platforms,
    ("", "accelerator", "toolkit"): lambda _: offers.toolkits(),
    ("", "index", "name"): lambda view: offers.well_known([i.name for i in view.spec.indexes]),
    ("", "extension", "name"): offers.extensions,
    ("platform", "python", "value"): lambda _: offers.pythons(),
    ("platform", "glibc", "value"): lambda _: offers.floors(),
    ("accelerator", "driver", "value"): lambda view: offers.drivers(view.toolkit),
    ("accelerator", "gpus", "value"): lambda _: offers.architectures(),
    ("accelerator", "cudnn", "value"): lambda _: offers.torch_column("cudnn"),
    ("accelerator", "nccl", "value"): lambda _: offers.torch_column("nccl"),
    ("packages", "NAME", "name"): offers.packages,
    ("imports", "optional", "name"): lambda _: offers.modules(),
    ("entry", "timeout", "value"): _durations,
    ("service", "timeout", "value"): _durations,
    ("resources", "memory", "value"): _sizes,
    ("resources", "shm", "value"): _sizes,
    ("resources", "disk", "value"): _sizes,
    ("", "envspec", "value"): lambda _: iter((Offer("1", "the language version"),)),
}


def _shown(param: Param) -> str:
    return param._replace(optional=False).shown


def _offer(offer: Offer, cursor: Cursor) -> Proposal:
    insert = offer.insert or offer.label
    snippet = "$" in insert
    return Proposal(
        offer.label,
        offer.kind,
        offer.detail,
        "",
        insert,
        offer.label if snippet else insert,
        snippet,
        cursor.typed,
    )
