"""What the build of an extension imports, by name. Pure."""

from __future__ import annotations

from envspec.model import DEFAULT_NEEDS, Extension


def needs_of(extension: Extension) -> tuple[str, ...]:
    """The packages that the spec names for it, else the usual ones."""
    return extension.needs or DEFAULT_NEEDS
