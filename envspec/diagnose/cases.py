"""A failure together with what would mend it: what is shown."""

from __future__ import annotations

from typing import NamedTuple

from envspec.diagnose.evidence import Failure
from envspec.diagnose.mends import Mend
from envspec.source import SourceFile


class Told(NamedTuple):
    """A mend, the text of the spec after it and the difference as `patch` takes it; None and empty
    where it is no edit, or no spec was given."""

    mend: Mend
    after: SourceFile | None = None
    difference: str = ""


class Case(NamedTuple):
    """A failure and what would mend it; ``tried`` says that there was a spec to try it on."""

    failure: Failure
    mends: tuple[Told, ...]
    tried: bool
