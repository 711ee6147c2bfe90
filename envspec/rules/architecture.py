"""E0313: a GPU of the spec that the torch build has no code for, or that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts import lookup
from envspec.facts.device_code import (
    arch,
    closest_arch,
    is_newer_than_known,
    parse_sm,
    sm_name,
    torch_runs_on,
)
from envspec.facts.versions import version
from envspec.placing import within
from envspec.rules.shared import pytorch
from envspec.rules.view import View
from envspec.source import Span
from envspec.wording import either

CODE = "E0313"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each GPU, at its name."""
    if not view.cuda:
        return
    for gpu in dict.fromkeys(view.spec.accelerator.gpus):
        unknown = _unknown(view, gpu)
        if unknown:
            yield unknown
        elif view.torch_cuda and pytorch.is_official(view):
            yield from _uncovered(view, gpu)


def _place(view: View, gpu: str) -> Span:
    line = view.spec.accelerator.gpus_span
    return within(view.source, line, gpu) or line


def _unknown(view: View, gpu: str) -> Diagnostic | None:
    if arch(gpu):
        return None
    sm, near = parse_sm(gpu), closest_arch(gpu)
    if sm is None or near is None:
        return None
    # A letter is read by compilers alone: `a` came with 9.0 and `f` with 10.0.
    plain = arch(f"{sm.major}.{sm.minor}")
    first = {"a": 9, "f": 10}.get(sm.suffix, 0)
    if plain and sm.major >= first:
        return None
    if not plain and is_newer_than_known(gpu):
        return None
    name = sm_name(near.sm)
    who = f"{near.generation}: {', '.join(near.gpus)}" if near.gpus else near.generation
    cause = (
        f"architectures with `{sm.suffix}` begin at sm_{first}0"
        if plain
        else f"no GPU has compute capability {sm.major}.{sm.minor}; the nearest is {near.sm}"
    )
    return Diagnostic(
        CODE,
        f"`{gpu}` is not an architecture of a GPU",
        view.source,
        (Label(_place(view, gpu), "written here"),),
        cause=cause,
        hint=f"did you mean `{name}` ({who})?",
    )


def _uncovered(view: View, gpu: str) -> Iterator[Diagnostic]:
    row = view.torch_build
    if row is None or not row.architectures or torch_runs_on(row, gpu) is not False:
        return
    known = arch(gpu)
    card = f" ({', '.join(known.gpus[:3])})" if known and known.gpus else ""
    native = " ".join(map(sm_name, row.architectures))
    hint, fix = _mend(view, gpu)
    yield Diagnostic(
        CODE,
        f"{pytorch.shown(view)} has no code for `{gpu}`{card}",
        view.source,
        (
            Label(_place(view, gpu), "asked for here"),
            Label(pytorch.place(view), "the build of torch"),
        ),
        cause=f"the `{row.build}` build of torch {row.release} holds native code for {native}, and "
        f"none of it, nor PTX of it, runs on {gpu}",
        hint=hint,
        fix=fix,
    )


def _mend(view: View, gpu: str) -> tuple[str, Fix | None]:
    gpus = view.spec.accelerator.gpus
    release = view.torch.public if view.torch else ""
    here = [r for r in pytorch.cuda_builds(view) if torch_runs_on(r, gpu)]
    for_all = [r for r in here if all(torch_runs_on(r, g) for g in gpus)]
    if for_all:
        names = either(r.build for r in for_all)
        covers = "covers" if len(for_all) == 1 else "cover"
        what = "all of `gpus`" if len(gpus) > 1 else "it"
        fix = pytorch.rebuilt(view, for_all[0]) if len(for_all) == 1 else None
        return f"take torch {release} in build {names}, which {covers} {what}", fix
    if here:
        names = either(r.build for r in here)
        return (
            f"{names} of torch {release} has code for `{gpu}`, but no build of it covers all of "
            "`gpus`: take a GPU out, or make a spec for each",
            None,
        )
    known = lookup.torch_series(view.machine)
    older, newer = _split(known, release)
    for candidate in (*newer, *reversed(older)):
        rows = lookup.torch_builds(candidate, view.machine)
        builds = [r.build for r in rows if r.cuda and torch_runs_on(r, gpu)]
        if builds:
            return (
                f"no build of torch {release} covers it; torch {candidate} does, in build "
                f"{either(builds)}",
                None,
            )
    return f"no known build of torch covers it: take `{gpu}` out of `gpus`", None


def _split(known: tuple[str, ...], release: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    asked = (version(release) or ())[:2]
    ordered = [(version(s) or (), s) for s in known]
    return (
        tuple(s for v, s in ordered if v < asked),
        tuple(s for v, s in ordered if v > asked),
    )
