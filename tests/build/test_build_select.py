"""Which engine is taken, and the sentence that says why."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from envspec.build.docker import DockerEngine
from envspec.build.endpoint import find_endpoint, ping
from envspec.build.local import LocalEngine
from envspec.build.select import choose
from envspec.diagnostics import Diagnostic, DiagnosticError


@contextmanager
def listening(path: Path, answer: bytes | None) -> Iterator[str]:
    """A unix socket that gives one answer, or with None takes the call and stays silent."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen()
    taken: list[socket.socket] = []

    def serve() -> None:
        connection, _ = server.accept()
        taken.append(connection)
        connection.recv(4096)
        if answer is not None:
            connection.sendall(answer)
            connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"unix://{path}"
    finally:
        thread.join()
        server.close()
        for connection in taken:
            connection.close()


GOOD = b"HTTP/1.1 200 OK\r\nServer: Docker/99.1 (linux)\r\nContent-Length: 2\r\n\r\nOK"


@pytest.fixture
def docker_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with a docker command and its plugin: enough to be found."""
    programs = tmp_path / "programs"
    plugins = tmp_path / "config" / "cli-plugins"
    programs.mkdir()
    plugins.mkdir(parents=True)
    for path in (programs / "docker", plugins / "docker-buildx"):
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "config"))
    monkeypatch.delenv("DOCKER_CONTEXT", raising=False)
    return programs


def refusal(**options: str | None) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        DockerEngine.connect(**options)
    (found,) = caught.value.diagnostics
    assert found.code == "E0701"
    assert "--engine local" in found.hint
    return found


def test_auto_takes_docker_where_it_answers(
    docker_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(tmp_path / "d.sock", GOOD) as endpoint:
        monkeypatch.setenv("DOCKER_HOST", endpoint)
        engine, why = choose("auto", None, tmp_path)
    assert isinstance(engine, DockerEngine)
    assert why == "Docker 99.1 answers"
    assert engine.info().version == "Docker 99.1"


def test_auto_takes_local_where_nothing_answers(
    docker_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    engine, why = choose("auto", None, tmp_path)
    assert isinstance(engine, LocalEngine)
    assert why.startswith("no Docker Engine answers: there is no socket at")


def test_base_from_needs_an_image(
    docker_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(DiagnosticError):
        choose("auto", "some/image:1", tmp_path)


def test_local_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    engine, why = choose("local", None, tmp_path)
    assert isinstance(engine, LocalEngine)
    assert "--engine local" in why


def test_no_docker_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "`docker` command" in refusal().title
    with pytest.raises(DiagnosticError):
        choose("docker", None, tmp_path)


def test_no_buildx(docker_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if any(Path(folder, "docker-buildx").exists() for folder in _system_plugin_folders()):
        pytest.skip("this machine has the plugin in a system folder")
    (tmp_path / "config" / "cli-plugins" / "docker-buildx").unlink()
    with listening(tmp_path / "d.sock", GOOD) as endpoint:
        monkeypatch.setenv("DOCKER_HOST", endpoint)
        found = refusal()
    assert "buildx" in found.title
    assert "apt-get install docker-buildx" in found.hint


def _system_plugin_folders() -> tuple[str, ...]:
    from envspec.build import buildx

    return buildx._PLUGIN_FOLDERS


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (None, "did not answer within 0.2 s"),
        (b"", "not as a Docker Engine does"),
        (b"HTTP/1.1 503 Unavailable\r\n\r\n", "not as a Docker Engine does"),
        (b"\x00\xff\r\n\r\n", "not as a Docker Engine does"),
    ],
)
def test_answers_that_are_none(tmp_path: Path, answer: bytes | None, cause: str) -> None:
    with (
        listening(tmp_path / "d.sock", answer) as endpoint,
        pytest.raises(DiagnosticError) as caught,
    ):
        ping(endpoint, 0.2)
    assert cause in caught.value.diagnostics[0].cause


def test_socket_that_this_user_may_not_open(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may open everything")
    with listening(tmp_path / "d.sock", GOOD) as endpoint:
        (tmp_path / "d.sock").chmod(0)
        with pytest.raises(DiagnosticError) as caught:
            ping(endpoint)
        (tmp_path / "d.sock").chmod(0o700)
        ping(endpoint)
    assert "usermod" in caught.value.diagnostics[0].hint


def test_nothing_listens(tmp_path: Path) -> None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(tmp_path / "d.sock"))
    server.close()
    with pytest.raises(DiagnosticError, match="E0701") as caught:
        ping(f"unix://{tmp_path}/d.sock")
    assert "nothing listens" in caught.value.diagnostics[0].cause


def test_other_addresses_are_named() -> None:
    with pytest.raises(DiagnosticError) as caught:
        ping("ssh://somewhere")
    assert "ssh://somewhere" in caught.value.diagnostics[0].cause


def test_context_of_the_command_line_is_used(
    docker_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    assert find_endpoint() == "unix:///var/run/docker.sock"
    (docker_programs / "docker").write_text("#!/bin/sh\necho unix:///elsewhere/$3.sock\n")
    (tmp_path / "config" / "config.json").write_text('{"currentContext": "mine"}')
    assert find_endpoint() == "unix:///elsewhere/mine.sock"
    monkeypatch.setenv("DOCKER_HOST", "unix:///first.sock")
    assert find_endpoint() == "unix:///first.sock"
