"""The digest of a base image by its tag, through whatever `docker` is on the path."""

from __future__ import annotations

from pathlib import Path

import pytest

from envspec.diagnostics import DiagnosticError
from envspec.lock.base import base_digest
from envspec.source import SourceFile, Span

TEXT = 'base "python:3.11"\n'
SOURCE = SourceFile("spec.env", TEXT)
AT = Span(5, 18)
DIGEST = "sha256:" + "a" * 64


def path_with(folder: Path, script: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that holds a `docker` of our own, or none."""
    if script is not None:
        (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_digest_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f'case "$*" in *" python:3.11 "*) echo "{DIGEST}" ;; *) exit 1 ;; esac'
    path_with(tmp_path, script, monkeypatch)
    assert base_digest("python:3.11", SOURCE, AT) == DIGEST


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        (None, "the `docker` command, which asks registries, is missing"),
        ("echo denied >&2; exit 1", "its registry did not give one"),
        ("exit 0", "its registry did not give one"),
        ("echo sha256:abc", "its registry did not give one"),
        (f"echo {DIGEST}; echo {DIGEST}", "its registry did not give one"),
        (f"echo {DIGEST}; exit 1", "its registry did not give one"),
    ],
)
def test_e0406_where_nobody_can_tell(
    script: str | None, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path_with(tmp_path, script, monkeypatch)
    with pytest.raises(DiagnosticError) as caught:
        base_digest("python:3.11", SOURCE, AT)
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.span, finding.cause) == ("E0406", AT, cause)
    assert '`base "python:3.11@sha256:…"`' in finding.hint
