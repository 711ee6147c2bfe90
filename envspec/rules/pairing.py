"""E0318: torchvision, torchaudio, xformers or vLLM beside a torch that it was not built for.

Several of them say nothing of torch in their metadata, so a resolver lets the pair pass. A pair
that the tables do not know is not found.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts import lookup
from envspec.facts.builds import COMPANIONS, cuda_of_build
from envspec.facts.rows import TorchPairing
from envspec.facts.versions import older, version
from envspec.model import TORCH_INDEX, Extension, Package
from envspec.rules.shared import places, pytorch
from envspec.rules.view import Settled, View
from envspec.stated import build_of_index, exact, from_default_index
from envspec.wording import either

CODE = "E0318"
_FOLLOWERS = ("torchvision", "torchaudio")


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each companion, at its line."""
    torch = view.torch
    if torch is None or not pytorch.is_official(view):
        return
    for name in COMPANIONS:
        companion = view.settled.get(name)
        compiled_here = isinstance(view.stated.get(name), Extension)
        if companion is None or compiled_here or not pytorch.is_official(view, name):
            continue
        rows = lookup.companion(name, companion.public)
        if rows and _is_wrong(rows, torch.public, view.machine):
            yield _release(view, torch, companion, rows)
        elif name == "torchvision":
            yield from _build(view, torch, companion)


def _is_wrong(rows: tuple[TorchPairing, ...], torch: str, machine: str) -> bool:
    if any(lookup.pairs(row, torch) is not False for row in rows):
        return False
    newest = max(rows, key=lambda row: version(row.torch) or ())
    if not older(newest.torch, torch):
        return True
    # What several series of torch take is built for those to come, and of a torch that is newer
    # than the tables nothing is known.
    known = lookup.torch_series(machine)
    return len(rows) == 1 and bool(known) and not older(known[-1], torch)


def _release(
    view: View, torch: Settled, companion: Settled, rows: tuple[TorchPairing, ...]
) -> Diagnostic:
    found = lookup.pairings(torch.public, companion.name)
    fitting = tuple(dict.fromkeys(row.version for row in found))
    if fitting:
        hint = f"torch {torch.public} goes with {companion.name} {either(fitting[:3])}"
    else:
        hint = f"take torch {_asked(rows)}"
    return Diagnostic(
        CODE,
        f"{companion.name} {companion.public} does not go with torch {torch.public}",
        view.source,
        (
            Label(companion.span, f"built for torch {_asked(rows)}"),
            Label(pytorch.place(view), f"torch {torch.public}"),
        ),
        cause=f"{companion.name} {companion.public} is compiled against torch {_asked(rows)}; on "
        "another one its library misses symbols",
        hint=hint,
        fix=_move(view, companion, fitting),
    )


def _asked(rows: tuple[TorchPairing, ...]) -> str:
    found = sorted({row.torch for row in rows}, key=lambda t: version(t) or ())
    if len(rows) == 1 and rows[0].relation == "at_least":
        return f"{found[0]} and newer"
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _move(view: View, companion: Settled, fitting: tuple[str, ...]) -> Fix | None:
    """Torch stays, and what follows it moves; only where one version alone goes with it."""
    stated = view.stated.get(companion.name)
    if companion.name not in _FOLLOWERS or len(fitting) != 1 or not isinstance(stated, Package):
        return None
    pinned = exact(stated.specifier)
    if not pinned:
        return None
    local = pinned.partition("+")[2]
    wanted = f"=={fitting[0]}{'+' * bool(local)}{local}"
    edits = places.request(view.source, stated, wanted, "")
    return Fix(f"take {companion.name} {fitting[0]}", edits) if edits else None


def _build(view: View, torch: Settled, vision: Settled) -> Iterator[Diagnostic]:
    """A torchvision of the CPU, or of another CUDA major, than torch: its operators do not load,
    and its metadata, which names the release alone, lets it pass."""
    ours, its = view.torch_build_name, _build_of(view, torch, vision)
    if not ours or not its or _major(ours) == _major(its):
        return
    pin = f"=={vision.public}+{ours}"
    fix = None
    stated = view.stated.get(vision.name)
    if isinstance(stated, Package) and exact(stated.specifier):
        edits = places.request(view.source, stated, pin, f"{TORCH_INDEX}{ours}")
        fix = Fix(f"take the `{ours}` build of torchvision", edits) if edits else None
    yield Diagnostic(
        CODE,
        f"torchvision is the `{its}` build, and torch is the `{ours}` build",
        view.source,
        (Label(vision.span, f"build `{its}`"), Label(pytorch.place(view), f"build `{ours}`")),
        cause="the operators of torchvision are linked with the libraries of their own build of "
        "torch; with another one `torchvision::nms` is missing",
        hint=f"write `torchvision {pin} from {TORCH_INDEX}{ours}`",
        fix=fix,
    )


def _build_of(view: View, torch: Settled, vision: Settled) -> str:
    if vision.local:
        return vision.local if vision.local == "cpu" or cuda_of_build(vision.local) else ""
    stated = view.stated.get(vision.name)
    if stated and not from_default_index(stated):
        return build_of_index(view.spec, stated.index)
    if view.machine != "x86_64":
        return ""  # which build of torchvision its default index has there is not known
    row = lookup.torch_build(torch.public, None, view.machine)
    return row.build if row else ""


def _major(build: str) -> str:
    return (cuda_of_build(build) or build).partition(".")[0]
