"""W0357: extensions are compiled on a newer C library than they run on.

A library binds to the newest versions of the symbols that the `devel` image has. Where the base has
an older glibc, such a library may stop at import with ``GLIBC_2.34 not found``.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec import toolchain
from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.facts import lookup
from envspec.facts.versions import older
from envspec.rules.view import View

CODE = "W0357"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding, at `devel`."""
    platform = view.spec.platform
    if not platform.devel or not view.spec.extensions:
        return
    built, run = (lookup.glibc_of(image) for image in (platform.devel, platform.base))
    if not built or not run or not older(run, built):
        return
    fitting = toolchain.devel_for(view.toolkit, run)
    if older(run, lookup.glibc_of(fitting) or ""):
        fitting = ""
    yield Diagnostic(
        CODE,
        f"`devel` has glibc {built}, and the base has {run}",
        view.source,
        (
            Label(platform.devel_span, f"compiles against glibc {built}"),
            Label(platform.base_span, f"loads with glibc {run}"),
        ),
        cause=f"what is compiled on glibc {built} may ask for symbols that {run} does not have, "
        f"and stops at import with `GLIBC_{built} not found` or the like",
        hint=(f'write `devel "{fitting}"`, or' if fitting else "take an older `devel` image, or")
        + f" take a base with glibc {built} or newer",
        severity=WARNING,
    )
