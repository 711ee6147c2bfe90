"""E0315: the C library of the base image, or the floor that the spec states, does not carry the
wheels of the spec."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts import lookup
from envspec.facts.versions import older
from envspec.rules.shared import places, pytorch
from envspec.rules.view import View
from envspec.source import Span
from envspec.wording import either

CODE = "E0315"


def check(view: View) -> Iterator[Diagnostic]:
    """Findings at the base image, and at the line of glibc."""
    platform = view.spec.platform
    image = lookup.distribution_of_image(platform.base)
    needed = _needed(view)
    if image is not None and image.libc == "musl":
        if "torch" in view.stated and pytorch.is_official(view):
            yield _finding(
                view,
                f"`{platform.base}` has musl, and torch has wheels for glibc only",
                platform.base_span,
                "an image with musl",
                pytorch.place(view),
                "needs glibc",
                "a wheel for glibc cannot be loaded by musl, and torch has no source archive",
                f"take a Debian or Ubuntu image, such as `python:{platform.python}-slim-bookworm`",
            )
        return
    found = image.glibc if image else None
    if found and needed and older(found, needed):
        yield _finding(
            view,
            f"`{platform.base}` has glibc {found}, and {pytorch.shown(view)} needs {needed}",
            platform.base_span,
            f"glibc {found}",
            pytorch.place(view),
            f"needs glibc {needed}",
            f"wheels of this release are built against glibc {needed} and do not load on an older "
            "one",
            f"take a base image with glibc {needed} or newer, or torch {_last(view, found)}",
        )
    elif found and platform.glibc and older(found, platform.glibc):
        yield _finding(
            view,
            f"`{platform.base}` has glibc {found}, and the spec allows wheels for {platform.glibc}",
            platform.base_span,
            f"glibc {found}",
            platform.glibc_span,
            f"wheels may need glibc {platform.glibc}",
            f"a wheel for glibc {platform.glibc} does not load on {found}",
            f"write `glibc >={found}`, or take a newer base image",
        )
    if platform.glibc and needed and older(platform.glibc, needed):
        yield _finding(
            view,
            f"`glibc >={platform.glibc}` takes no wheel of {pytorch.shown(view)}, which needs "
            f"{needed}",
            platform.glibc_span,
            "the newest that wheels may need",
            pytorch.place(view),
            f"needs glibc {needed}",
            f"its wheels are built for glibc {needed}, and those for a newer one than stated are "
            "not taken",
            f"write `glibc >={needed}`",
            places.replace(
                view.source,
                platform.glibc_span,
                f">={platform.glibc}",
                f">={needed}",
                f"allow wheels for glibc {needed}",
            ),
        )


def _needed(view: View) -> str:
    """The glibc of torch's wheels, ``""`` where it is not known."""
    if view.torch is None or not pytorch.is_official(view):
        return ""
    row = view.torch_build
    return (row.glibc if row else None) or ""


def _last(view: View, found: str) -> str:
    """The newest torch series whose wheels run on a glibc."""
    for series in reversed(lookup.torch_series(view.machine)):
        rows = lookup.torch_builds(series, view.machine)
        if any(r.glibc and not older(found, r.glibc) for r in rows):
            builds = either(r.build for r in rows if r.glibc and not older(found, r.glibc))
            return f"{series} in build {builds}"
    return "of a release for it"


def _finding(
    view: View,
    title: str,
    at: Span,
    label: str,
    other: Span,
    also: str,
    cause: str,
    hint: str,
    fix: Fix | None = None,
) -> Diagnostic:
    labels = (Label(at, label), Label(other, also))
    return Diagnostic(CODE, title, view.source, labels, cause=cause, hint=hint, fix=fix)
