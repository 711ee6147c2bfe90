"""What an engine is: something that builds a plan and runs programs in the result.

Two engines stand behind this protocol: `envspec.build.docker` and `envspec.build.local`.
`envspec.verify` knows the protocol only, never an engine.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from envspec.plan.model import Plan
from envspec.reporter import Reporter


class EngineInfo(NamedTuple):
    """Which engine, and how far it isolates. ``weaknesses`` are sentences for the report.
    ``system`` tells whether it installs packages of the distribution, or only looks for them."""

    name: str
    version: str
    isolation: str
    weaknesses: tuple[str, ...]
    system: bool = True


class BuiltWheel(NamedTuple):
    """The wheel that the build of an extension gave."""

    name: str
    file: str
    sha256: str


class Built(NamedTuple):
    """A finished environment. ``wheels`` are those of the plan's extensions.

    ``reference`` is what the engine runs (an image id or a prefix folder), ``digest`` what
    identifies its content, ``reused`` whether nothing had to be built. ``roots`` maps the
    logical folders of `envspec.plan.model` to real ones; it is empty where they are the same.
    ``immutable`` says that no run can change it, whatever it does.
    """

    reference: str
    digest: str
    reused: bool
    base_substituted: str
    roots: tuple[tuple[str, str], ...]
    seconds: float
    log: Path | None
    immutable: bool = False
    wheels: tuple[BuiltWheel, ...] = ()

    def locate(self, text: str) -> str:
        """Rewrite a logical path (``/opt/env/bin/python``) to where it really stands."""
        for logical, real in self.roots:
            if text == logical or text.startswith(logical + "/"):
                return real + text[len(logical) :]
        return text


class Difference(NamedTuple):
    """A file that two builds of one plan hold differently: what differs, and the line of the spec
    whose step wrote it, 0 where that is not known."""

    file: str
    what: str
    line: int


class Rebuilt(NamedTuple):
    """Two builds from nothing, with no cache between them, and how they compare."""

    digests: tuple[str, str]
    differences: tuple[Difference, ...]
    seconds: float


class Mount(NamedTuple):
    """A host file or folder shown inside, read-only unless it is scratch of our own."""

    host: Path
    inside: str
    writable: bool = False


class Limits(NamedTuple):
    """What a program in the sandbox may use. Sizes in bytes."""

    memory: int = 8 << 30
    processes: int = 512
    open_files: int = 4096
    shared_memory: int = 1 << 30
    scratch: int = 4 << 30
    output: int = 1 << 20
    cpus: float = 0.0  # 0: all


class Invocation(NamedTuple):
    """One run. Paths in ``argv``, ``environment`` and ``cwd`` are logical; the engine maps
    them with `Built.locate` (``environment`` values: each ``:``-separated part).

    ``seconds`` is the host-side deadline: past it the run is killed, not asked. ``gpus`` shows
    the accelerators. ``network`` False means loopback only.
    """

    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    cwd: str
    mounts: tuple[Mount, ...]
    seconds: float
    gpus: bool = False
    network: bool = False


class Completed(NamedTuple):
    """How a run ended. Exactly one of: an ``exit_code``, a ``signal``, ``timed_out``.

    ``stdout`` and ``stderr`` hold at most `Limits.output` bytes each, from the end;
    ``truncated`` says that there was more.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    out_of_memory: bool
    stdout: bytes
    stderr: bytes
    truncated: bool
    seconds: float


class Engine(Protocol):
    """Builds plans and runs programs in what it built."""

    def info(self) -> EngineInfo:
        """Name, version and isolation, without building anything."""

    def build(self, plan: Plan, context: Path, files: Path, reporter: Reporter, log: Path) -> Built:
        """Build offline. ``context`` holds the compile outputs, ``files`` every artefact of
        the plan as ``files/<layer>/<file name>`` with the layers of `Plan.layers`
        (``tools``, ``framework``, ``packages``, ``source``).

        Raises:
            BuildFailed: what has a line of the spec: E0702 base image, E0703 a step failed (with
                the last 30 log lines), E0704 no interpreter, E0705 a system package is missing
                (local), E0706 the source archive is refused (local).
            DiagnosticError: E0504 no space, E0701 the engine is gone, E0707 the cache folder
                cannot be used (local).
        """

    def rebuild(
        self, plan: Plan, context: Path, files: Path, reporter: Reporter, log: Path
    ) -> Rebuilt:
        """Build twice from nothing and compare; neither build is kept. ``context`` and ``files``
        are those of `build`. Raises as `build` does."""

    def run(self, built: Built, invocation: Invocation, limits: Limits) -> Completed:
        """Run one program in the sandbox. Leaves nothing behind, however it ends."""

    def sweep(self) -> int:
        """Remove what runs that were killed left behind; the number of things removed."""
