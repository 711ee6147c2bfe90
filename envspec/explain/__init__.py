"""Why each pin of a spec is possible: from the driver to CUDA, to torch, to what is built on it.

Pure: the spec, the versions of its lock and the facts in, sentences out. What the facts do not
tell is a sentence too.
"""

from __future__ import annotations

from envspec.explain.values import Explained, UnknownPackageError
from envspec.lock.model import Lock
from envspec.model import Spec
from envspec.source import SourceFile

__all__ = ["Explained", "UnknownPackageError", "explain"]


def explain(
    spec: Spec, source: SourceFile, lock: Lock | None = None, name: str = ""
) -> tuple[Explained, ...]:
    """What is to be said of a package, or, for ``""``, of everything that is installed: first the
    accelerator, then what the spec states in its order, then the rest of the lock by name.

    Raises:
        UnknownPackageError: neither the spec nor the lock has that package.
    """
    from envspec.explain.subjects import Subjects  # noqa: PLC0415 - reads the tables

    subjects = Subjects(spec, source, lock)
    return (subjects.one(name),) if name else subjects.every()
