"""Finding the Docker Engine and asking whether it answers, without the SDK.

The SDK takes a quarter of a second to import and knows nothing of the contexts of the command
line, so the first question ("is there an engine at all?") is one small HTTP request of ours.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

from envspec.diagnostics import DiagnosticError

DEFAULT = "unix:///var/run/docker.sock"
ANSWER_WITHIN = 2.0  # seconds
_LONGEST_ANSWER = 64 * 1024
_PING = b"GET /_ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def find_endpoint() -> str:
    """Where the engine listens: ``DOCKER_HOST``, else the command line's current context."""
    host = os.environ.get("DOCKER_HOST", "").strip()
    if host:
        return host
    context = os.environ.get("DOCKER_CONTEXT", "").strip() or _configured_context()
    if context in {"", "default"}:
        return DEFAULT
    argv = ["docker", "context", "inspect", context, "--format", "{{.Endpoints.docker.Host}}"]
    try:
        found = subprocess.run(argv, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return DEFAULT
    return found.stdout.strip() or DEFAULT


def config_folder() -> Path:
    """The configuration folder of the docker command line."""
    return Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")


def _configured_context() -> str:
    try:
        config = json.loads((config_folder() / "config.json").read_bytes())
    except (OSError, ValueError):
        return ""
    context = config.get("currentContext", "") if isinstance(config, dict) else ""
    return context if isinstance(context, str) else ""


def ping(endpoint: str, seconds: float = ANSWER_WITHIN) -> str:
    """Ask for a sign of life; returns name and version, such as ``Docker 26.1.5``.

    Raises:
        DiagnosticError: E0701 where nothing answers within ``seconds``, with the reason.
    """
    try:
        answer = _exchange(endpoint, seconds)
    except FileNotFoundError:
        raise silent(f"there is no socket at {endpoint}") from None
    except PermissionError:
        raise silent(
            f"this user may not open {endpoint}",
            "add the user to the group `docker` (`sudo usermod -aG docker $USER`, then log in "
            "again), or choose `--engine local`",
        ) from None
    except ConnectionRefusedError:
        raise silent(f"nothing listens at {endpoint}") from None
    except TimeoutError:
        raise silent(f"{endpoint} did not answer within {seconds:g} s") from None
    except OSError as error:
        raise silent(f"{endpoint}: {error.strerror or type(error).__name__}") from None
    head, _, _ = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    if status.split(" ")[1:2] != ["200"]:
        raise silent(f"{endpoint} answered, but not as a Docker Engine does")
    headers = {name.lower(): value for name, _, value in (line.partition(":") for line in lines)}
    server = headers.get("server", "").split("(")[0].strip()
    return server.replace("/", " ", 1) or "Docker"


def silent(cause: str, hint: str = "") -> DiagnosticError:
    """E0701, with the reason."""
    hint = hint or "start the engine (`sudo systemctl start docker`), or choose `--engine local`"
    return DiagnosticError.of("E0701", "no Docker Engine answers", cause=cause, hint=hint)


def _exchange(endpoint: str, seconds: float) -> bytes:
    deadline = time.monotonic() + seconds
    with dial(endpoint, seconds) as connection:
        connection.sendall(_PING)
        answer = b""
        while b"\r\n\r\n" not in answer and len(answer) < _LONGEST_ANSWER:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            part = connection.recv(4096)
            if not part:
                break
            answer += part
    return answer


def dial(endpoint: str, seconds: float) -> socket.socket:
    """A connection to the engine; ``seconds`` is the time-out of each of its calls.

    Raises:
        OSError: nothing takes the connection.
        DiagnosticError: E0701 for an address of a kind that is not spoken here.
    """
    parts = urlsplit(endpoint)
    if parts.scheme == "unix":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(seconds)
            connection.connect(endpoint.removeprefix("unix://"))
        except OSError:
            connection.close()
            raise
        return connection
    if parts.scheme in {"tcp", "http", "https"}:
        secure = parts.scheme == "https" or bool(os.environ.get("DOCKER_TLS_VERIFY"))
        port = parts.port or (2376 if secure else 2375)
        plain = socket.create_connection((parts.hostname or "localhost", port), timeout=seconds)
        return _secured(plain, parts.hostname or "localhost") if secure else plain
    raise silent(
        f"DOCKER_HOST names {endpoint}, which is not a unix or tcp address",
        "give a `unix://` or `tcp://` address, or choose `--engine local`",
    )


def _secured(plain: socket.socket, name: str) -> socket.socket:
    import ssl  # noqa: PLC0415 - only engines behind TLS pay for it

    folder = Path(os.environ.get("DOCKER_CERT_PATH") or config_folder())
    try:
        context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        return context.wrap_socket(plain, server_hostname=name)
    except OSError:
        plain.close()
        raise
