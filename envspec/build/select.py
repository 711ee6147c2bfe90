"""Which engine does the work, and why."""

from __future__ import annotations

from pathlib import Path

from envspec.build.protocol import Engine
from envspec.diagnostics import DiagnosticError

AUTO, DOCKER, LOCAL = "auto", "docker", "local"
NAMES = (AUTO, DOCKER, LOCAL)


def choose(name: str, base_from: str | None, cache: Path) -> tuple[Engine, str]:
    """The engine ``name`` (one of `NAMES`) and a sentence on why it is this one.

    ``auto`` takes Docker where one answers within two seconds, else the local engine, whose
    prefixes are below ``cache``. ``base_from`` means an image, so it rules the local one out.

    Raises:
        DiagnosticError: E0701 where Docker was asked for and does not answer.
    """
    if name == LOCAL:
        return _local(cache), "asked for by `--engine local`"
    from envspec.build.docker import DockerEngine  # noqa: PLC0415 - `local` needs none of it

    try:
        engine = DockerEngine.connect(base_from)
    except DiagnosticError as error:
        if name == DOCKER or base_from is not None:
            raise
        found = error.diagnostics[0]
        return _local(cache), f"{found.title}: {found.cause}"
    version = engine.info().version
    why = "asked for by `--engine docker`" if name == DOCKER else f"{version} answers"
    return engine, why


def _local(cache: Path) -> Engine:
    from envspec.build.local import LocalEngine  # noqa: PLC0415 - `docker` needs none of it

    return LocalEngine(cache)
