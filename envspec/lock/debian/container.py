"""One run of a script in a container of an image: bounded in time and output, never left behind."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, NamedTuple

from envspec.interrupt import finish, terminable

_SECONDS = 600
_LIMIT = 4 * 1024 * 1024
_BUFFER = 1 << 20
_ENDINGS = {
    0: "",
    125: "no engine answers, or the image cannot be pulled",
    127: "the image has no `timeout` or `sh`: it is no Debian or Ubuntu",
}
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class Ran(NamedTuple):
    """How a run ended. ``failure`` says why there is no answer, ``""`` where there is one."""

    text: str
    failure: str


def run(image: str, platform: str, script: str, arguments: Sequence[str]) -> Ran:
    """Run a shell script in a fresh container with network; what it printed, both streams."""
    with tempfile.TemporaryFile() as out:
        failure = run_into(out, _LIMIT, image, platform, script, arguments, subprocess.STDOUT)
        out.seek(0)
        return Ran(out.read(_LIMIT).decode("utf-8", "replace"), failure)


def run_into(
    out: IO[bytes],
    limit: int,
    image: str,
    platform: str,
    script: str,
    arguments: Sequence[str],
    errors: int = subprocess.DEVNULL,
) -> str:
    """The same with the standard output in a file, of at most ``limit`` bytes; why there is no
    answer, ``""`` where there is one. ``errors`` is the place of the other stream."""
    docker = shutil.which("docker")
    if docker is None:
        return "the `docker` command is missing"
    name = f"envspec-lock-{secrets.token_hex(8)}"
    argv = [docker, "run", "--rm", "--name", name, "--platform", platform, "--user", "0:0"]
    for variable in _PROXIES:  # by name: docker takes the value from the environment
        argv += ["--env", variable]
    argv += ["--entrypoint", "timeout", image, str(_SECONDS), "sh", "-c", script, "sh", *arguments]
    with terminable():
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError:
            return "the `docker` command does not start"
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(_SECONDS, stop)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None
            left = limit
            while left >= 0 and (data := process.stdout.read(_BUFFER)):
                left -= len(data)
                out.write(data)
            code = process.wait() if left >= 0 else 0
        finally:
            timer.cancel()
            finish(lambda: _end(docker, name, process))
    if late.is_set():
        return f"there was no answer within {_SECONDS} s"
    if left < 0:
        return f"it printed more than {limit} bytes"
    return _ENDINGS.get(code, f"the run ended with status {code}")


def _end(docker: str, name: str, process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    subprocess.run(
        [docker, "rm", "--force", "--volumes", name],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
