"""Names one statement uses and another declares: indexes, services, assets, secrets, entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from envspec.diagnostics import Label
from envspec.language.reader import Reader
from envspec.model import DEFAULT_INDEX, TORCH_INDEX, ArchiveSource, Spec
from envspec.source import Span
from envspec.suggest import closest

# Aliases that the clients themselves can find: pip and uv know their default index, and uv
# knows where the builds of torch for each backend are.
WELL_KNOWN = (DEFAULT_INDEX,)


def check_references(reader: Reader, spec: Spec) -> None:
    """Report E0205 for each name that is used and declared nowhere."""
    for index in spec.indexes:
        if not index.url and not well_known(index.name):
            reader.report(
                "E0205",
                f"index `{index.name}` has no address",
                index.span,
                cause="only `pypi` and `pytorch-…` are known to the clients themselves",
                hint=f'write `index {index.name} "https://…"`',
            )
    users: list[tuple[str, Span]] = [(p.index, p.span) for p in spec.packages]
    users += [(e.index, e.span) for e in spec.extensions]
    if isinstance(spec.project.source, ArchiveSource):
        users.append((spec.project.source.index, spec.project.source.span))
    users += [(m.index, m.span) for m in spec.mirrors]
    declared = {index.name: index.span for index in spec.indexes}
    foreign = [(name, span) for name, span in users if name and not well_known(name)]
    _declared(reader, "index", foreign, declared, 'add `index {} "https://…"`', WELL_KNOWN)
    entries = spec.entries
    used = [(name, e.span) for e in entries for name in e.services]
    _declared(reader, "service", used, {s.name: s.span for s in spec.services}, "add it")
    used = [(name, e.span) for e in entries for name in e.assets]
    _declared(reader, "asset", used, {a.name: a.span for a in spec.assets}, "add it")
    claimed = [(c.subject, c.span) for c in spec.claims if c.name == "entry" and c.subject]
    _declared(reader, "entry", claimed, {e.name: e.span for e in entries}, "add it")
    used = [(name, e.span) for e in entries for name in e.secrets]
    used += [(a.secret, a.span) for a in spec.assets if a.secret]
    hint = 'add `secret {} because "REASON"`'
    _declared(reader, "secret", used, {s.name: s.span for s in spec.secrets}, hint)


def _declared(
    reader: Reader,
    kind: str,
    used: Iterable[tuple[str, Span]],
    declared: Mapping[str, Span],
    hint: str,
    known: tuple[str, ...] = (),
) -> None:
    for name, span in used:
        if name in declared:
            continue
        if reader.full:
            return
        near = closest(name, (*declared, *known))
        also = (Label(declared[near], "declared here"),) if near in declared else ()
        add = hint.format(name) if "{}" in hint else f"add `{kind} {name} {{ … }}`"
        reader.report(
            "E0205",
            f"{kind} `{name}` is not declared",
            span,
            "used here",
            also=also,
            hint=f"did you mean `{near}`?" if near else add,
        )


def well_known(name: str) -> bool:
    """True for the aliases that need no `index` statement."""
    return name in WELL_KNOWN or name.startswith(TORCH_INDEX)
