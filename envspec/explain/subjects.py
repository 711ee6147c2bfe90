"""Which packages there are, and what is said of each."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.explain import asked, compiled, frameworks, native
from envspec.explain.values import Explained, UnknownPackageError
from envspec.facts import lookup
from envspec.facts.builds import COMPANIONS
from envspec.lock.graph import Graph
from envspec.lock.model import Lock
from envspec.model import Spec
from envspec.names import normalise
from envspec.rules.view import View
from envspec.solve import links
from envspec.solve.values import Link
from envspec.source import SourceFile
from envspec.stated import from_default_index

ACCELERATOR = "accelerator"


class Subjects:
    """The packages of one spec and its lock."""

    def __init__(self, spec: Spec, source: SourceFile, lock: Lock | None) -> None:
        self._locked = {p.name: p for p in lock.packages} if lock else {}
        self._compiled = {e.name: e for e in lock.extensions} if lock else {}
        versions = {name: p.version for name, p in self._locked.items()}
        versions.update({name: e.version for name, e in self._compiled.items()})
        self._view = View(spec, source, versions)
        self._tools = frozenset(p.name for e in self._compiled.values() for p in e.build)
        self._lock = lock
        self._up = Graph(*((lock.packages, lock.extensions) if lock else ((),))).parents()
        self._known = frozenset({*self._view.stated, *self._locked, *self._compiled, *self._tools})

    def every(self) -> tuple[Explained, ...]:
        """The accelerator, what is stated, and the rest of the lock."""
        stated = list(self._view.stated)
        rest = sorted(self._locked.keys() - set(stated))
        head = (Explained(ACCELERATOR, "", tuple(self._accelerator())),)
        return head + tuple(self.one(name) for name in (*stated, *rest))

    def one(self, name: str) -> Explained:
        """One package, by its name in any spelling."""
        wanted = normalise(name)
        if wanted == ACCELERATOR and wanted not in self._known:
            return Explained(ACCELERATOR, "", tuple(self._accelerator()))
        if wanted not in self._known:
            raise UnknownPackageError(wanted, sorted(self._known))
        settled = self._view.settled.get(wanted)
        version = settled.version if settled else ""
        return Explained(wanted, version, tuple(self._said(wanted, version)))

    def _accelerator(self) -> Iterator[Link]:
        view = self._view
        accelerator = view.spec.accelerator
        if not view.cuda:
            yield Link("the spec has no accelerator: everything runs on the CPU")
            return
        if view.toolkit:
            whose = "as stated" if accelerator.toolkit else "that of torch"
            yield Link(f"CUDA {view.toolkit}, {whose}")
            yield links.driver(view.torch_cuda or accelerator.toolkit, accelerator.driver)
        else:
            yield links.unknown("the CUDA release is open; `envspec solve` finds one")
        if not accelerator.gpus:
            yield Link("the spec names no GPUs, so nothing has to have code for one")

    def _said(self, name: str, version: str) -> Iterator[Link]:
        view = self._view
        package, extension = self._locked.get(name), self._compiled.get(name)
        yield from asked.requests(view, self._locked, self._up, name)
        if package is not None:
            yield asked.file(package)
        elif extension is not None and self._lock is not None:
            yield from compiled.compiled(view, self._lock, extension)
        elif self._lock is not None and name in self._tools:
            yield from compiled.tool(self._lock, name)
        elif not version:
            yield links.unknown(
                "no lock settles its version"
                if self._lock is None
                else "the lock does not have it: it is built on its own"
            )
        yield from self._facts(name, version)

    def _facts(self, name: str, version: str) -> Iterator[Link]:
        view = self._view
        other, stated = lookup.namesake(name), view.stated.get(name)
        if other is not None and (stated is None or from_default_index(stated)):
            yield links.fact(
                f"on the default index `{name}` is {other.what}, not {other.meant}", other
            )
        if name == "torch":
            yield from frameworks.torch(view)
        elif name in COMPANIONS:
            yield from frameworks.companion(view, name, version)
        elif name == "jax":
            yield from frameworks.jax(view)
        elif name == "tensorflow":
            yield from frameworks.tensorflow(view, version)
        extension = next((e for e in view.spec.extensions if e.name == name), None)
        if extension is not None or lookup.extension(name) is not None:
            yield from native.native(view, name, version, extension)
