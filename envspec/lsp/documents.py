"""The open documents, and what is worked out of each version of them once."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from envspec.diagnostics import Diagnostic, in_order
from envspec.lsp.locks import Beside, Locks
from envspec.lsp.text import Text
from envspec.lsp.tree import Tree
from envspec.model import Spec
from envspec.pipeline import scripts
from envspec.pipeline.check import of_text
from envspec.pipeline.fix import fix
from envspec.source import SourceFile


class Document:
    """One version of an open document. ``path`` is None for one that is on no disk."""

    def __init__(
        self, uri: str, path: Path | None, version: int | None, text: Text, locks: Locks
    ) -> None:
        self.uri = uri
        self.path = path
        self.version = version
        self.text = text
        self._locks = locks

    @cached_property
    def source(self) -> SourceFile:
        """The text under the name that findings show."""
        return SourceFile(self.path.name if self.path else "spec.env", self.text.text)

    @cached_property
    def tree(self) -> Tree:
        """Its statements, however broken it is."""
        return Tree(self.text.text)

    @property
    def locked(self) -> dict[str, str]:
        """Versions in the lock beside it."""
        return dict(self._locks.beside(self.path).versions)

    @cached_property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What `envspec check` finds in this text, the lock beside it and its scripts."""
        return self._check(self.source, self._locks.beside(self.path))

    def _check(self, source: SourceFile, lock: Beside) -> tuple[Diagnostic, ...]:
        def look(spec: Spec) -> tuple[Diagnostic, ...]:
            return scripts.read(spec, source, self.path.parent)[1] if self.path else ()

        return in_order((*of_text(source, lock.text, look), *lock.unreadable))

    @cached_property
    def mended(self) -> str:
        """The text after every fix that can be applied, as `envspec check --fix` does it."""
        lock = self._locks.beside(self.path)
        return fix(self.source, self.findings, lambda s: self._check(s, lock)).source.text

    def changed(self, text: Text, version: int | None) -> Document:
        """The next version."""
        return Document(self.uri, self.path, version, text, self._locks)
