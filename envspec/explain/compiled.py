"""What a lock holds of an extension, and of what only builds import."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.credentials import masked
from envspec.explain.asked import LOCK, SPEC, origin
from envspec.lock.model import Lock, LockedExtension
from envspec.lock.reasons import build_reasons, build_tools
from envspec.model import Extension
from envspec.rules.view import View
from envspec.solve import links
from envspec.solve.values import Link
from envspec.wording import listed

_MOST = 12


def compiled(view: View, lock: Lock, extension: LockedExtension) -> Iterator[Link]:
    """Its source, what it was locked against, for which GPUs, and what came of its build."""
    stated = view.stated.get(extension.name)
    git = stated.git if isinstance(stated, Extension) else None
    if git is not None:
        packed = f"{extension.artefact.file}, sha256 {extension.artefact.sha256[:12]}…"
        yield Link(
            f"its source is {masked(git.url)} at {git.commit[:12]}, packed as {packed}", LOCK
        )
    else:
        yield Link(f"its source is {origin(extension.artefact)}", LOCK)
    yield from _against(view, extension)
    tools = build_tools(lock, extension)
    if tools:
        more = f" and {len(tools) - _MOST} more" if len(tools) > _MOST else ""
        yield Link(
            f"its build imports, beside the environment, {', '.join(tools[:_MOST])}{more}", LOCK
        )
    if extension.requires:
        yield Link(f"it requires {listed(extension.requires)} at run time", LOCK)
    if view.cuda and view.spec.accelerator.gpus:
        gpus = listed(view.spec.accelerator.gpus)
        yield Link(f"it is compiled for {gpus}, unless its own variables say otherwise", SPEC)
    if extension.wheel:
        digest = extension.wheel_sha256[:12]
        yield Link(
            f"its build gave {extension.wheel}, sha256 {digest}…: any other is refused", LOCK
        )
    else:
        yield links.unknown("no build of it is recorded yet: which bytes it gives is open")


def _against(view: View, extension: LockedExtension) -> Iterator[Link]:
    torch = next((p for p in extension.build if p.name == "torch"), None)
    if torch is None:
        return
    said = f"it is locked against torch {torch.version}"
    installed = view.locked.get("torch")
    if installed == torch.version:
        yield Link(f"{said}, the one that is installed", LOCK)
    else:
        yield Link(f"{said}, and torch {installed or 'of no version'} is installed", LOCK)


def tool(lock: Lock, name: str) -> Iterator[Link]:
    """Who imports a package to build."""
    for reason in build_reasons(lock, name):
        version = f"{name} {reason.version}"
        way = min(reason.chains.ways, key=len, default=(name,))
        by = f", by way of {way[-2]}" if len(way) > 1 else ""
        only = "only the build" if reason.only else "the build"
        yield Link(f"{only} of {reason.extension} imports {version}{by}", LOCK)
        extension = next(e for e in lock.extensions if e.name == reason.extension)
        package = next(p for p in extension.build if p.name == name)
        yield Link(f"the file is {origin(package.artefact)}", LOCK)
