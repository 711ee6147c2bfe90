"""One index per package, and no guessing: a name that two indexes have must be settled by the spec.

What a spec does not take `from` an index comes from the default one. Where an index of the spec's
own has a package of that name as well, either may be meant: the one of the own index by whoever
wrote the spec, the other by whoever registered the same name in public. Neither is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from envspec.diagnostics import Diagnostic, DiagnosticError, Label, in_order
from envspec.lock import crew
from envspec.lock.indexes import PYPI, Indexes, UnreachableError
from envspec.lock.request import Chosen, Request
from envspec.lock.transfer import Desk
from envspec.reporter import Reporter

HANDS = 8
"""Questions asked at a time."""


def check_one_index(
    chosen: Sequence[Chosen], request: Request, indexes: Indexes, reporter: Reporter | None
) -> None:
    """Ask every index that the spec declares and uses for the packages taken from the default.

    The very same file on both is no doubt: an index that mirrors another has its files. The
    indexes of torch builds are known and hold copies of what torch needs; they are not asked.

    Raises:
        DiagnosticError: E0410 at the line of the package or of who requires it, E0501.
    """
    settled = {p.name for p in request.packages if p.index}
    own = sorted({p.index for p in request.packages if p.index in request.indexes} - {PYPI})
    open_ = [c for c in chosen if c.name not in settled]
    doubtful: list[tuple[str, Chosen]] = []

    def ask(alias: str, file: Chosen, _: Desk) -> None:
        try:
            files = indexes.files(alias, file.name)
        except UnreachableError as error:
            span = next((p.span for p in request.packages if p.index == alias), request.fallback)
            raise error.finding(request.source, span) from None
        if files and not any(
            f.filename == file.filename and (not f.sha256 or f.sha256 == file.sha256) for f in files
        ):
            doubtful.append((alias, file))

    crew.run([partial(ask, alias, file) for alias in own for file in open_], 0, reporter, HANDS)
    if doubtful:
        raise DiagnosticError(in_order(_finding(a, f, request) for a, f in sorted(doubtful)))


def _finding(alias: str, file: Chosen, request: Request) -> Diagnostic:
    named = next((p for p in request.packages if p.name == file.name), None)
    parent = next((p for p in file.parents if p != "spec"), "")
    span = named.span if named else request.span_of(parent)
    who = "the spec" if named else f"`{parent}`" if parent else "another package"
    return Diagnostic(
        "E0410",
        f"`{file.name}` is on the index `{alias}` and on `{PYPI}`, and the spec does not say which",
        request.source,
        (Label(span, "asked for here" if named else "required from here"),),
        cause=f"{who} asks for it without an index; two projects of one name need not be one",
        hint=f"write `{file.name} from {alias}` or `{file.name} from {PYPI}` in `packages`",
    )
