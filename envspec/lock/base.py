"""The digest of a base image whose spec names a tag only."""

from __future__ import annotations

import re
import shutil
import subprocess

from envspec.diagnostics import DiagnosticError
from envspec.source import SourceFile, Span

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SECONDS = 60


def base_digest(name: str, source: SourceFile, span: Span) -> str:
    """Ask the registry, through `docker buildx`, which digest a tag has today.

    Raises:
        DiagnosticError: E0406 where nobody here can tell.
    """
    docker = shutil.which("docker")
    if docker is None:
        raise _unknown(
            name, source, span, "the `docker` command, which asks registries, is missing"
        )
    argv = [docker, "buildx", "imagetools", "inspect", name, "--format", "{{.Manifest.Digest}}"]
    try:
        answer = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise _unknown(name, source, span, "its registry did not answer in time") from None
    digest = answer.stdout.strip()
    if answer.returncode != 0 or not _DIGEST.fullmatch(digest):
        raise _unknown(name, source, span, "its registry did not give one")
    return digest


def _unknown(name: str, source: SourceFile, span: Span, why: str) -> DiagnosticError:
    return DiagnosticError.of(
        "E0406",
        f"the digest of the base image `{name}` is not known",
        source=source,
        span=span,
        label="a tag can move",
        cause=why,
        hint=f'write the digest into the spec: `base "{name}@sha256:…"`',
    )
