"""One run in a container: the policy as SDK keywords, and a life that always ends.

Create, start, wait, kill and remove are separate calls, since each can hang or race on its
own. The deadline is ours: the engine's own time-outs are about HTTP, not about the program.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import docker
import docker.errors
import docker.types
import docker.utils
import requests

from envspec.build.attach import Attached
from envspec.build.endpoint import silent
from envspec.build.owner import Owner
from envspec.build.protocol import Completed, Invocation, Limits
from envspec.build.status import ended
from envspec.build.tail import printable
from envspec.diagnostics import DiagnosticError
from envspec.interrupt import finish, terminable

RUN = "org.envspec.run"
OWNER = "org.envspec.owner"
EXPIRES = "org.envspec.expires"
USER = "65534:65534"

_CALL_SECONDS = 30
_REMOVE_TRIES = 5
# A container whose owner cannot be seen from here (another machine, another pid namespace) is
# an orphan once its deadline has passed by this much.
_GRACE = 3600
_NOT_THERE = re.compile(r"exec: .*(?:executable file not found|no such file or directory)")
_GONE = (requests.exceptions.ConnectionError, requests.exceptions.Timeout)


def connect(endpoint: str) -> docker.APIClient:
    """A client of the engine at ``endpoint``, speaking the version both sides know."""
    options: dict[str, Any] = {**docker.utils.kwargs_from_env(), "timeout": _CALL_SECONDS}
    options.setdefault("base_url", endpoint)
    try:
        return docker.APIClient(version="auto", **options)
    except (docker.errors.DockerException, *_GONE):
        raise silent(f"{endpoint} does not speak the engine's API") from None


def inspect_image(client: docker.APIClient, reference: str) -> dict[str, object] | None:
    """What the engine knows of an image; None where it has none of that name.

    Raises:
        DiagnosticError: E0701 where the engine is gone.
    """
    try:
        image: dict[str, object] = client.inspect_image(reference)  # type: ignore[no-untyped-call]
    except (docker.errors.ImageNotFound, docker.errors.NotFound):
        return None
    except (docker.errors.APIError, *_GONE) as error:
        raise gone(error) from None
    return image


def gone(error: Exception) -> DiagnosticError:
    """E0701 for an engine that stopped answering, or that refused what we asked of it."""
    if isinstance(error, docker.errors.APIError):
        return DiagnosticError.of(
            "E0701",
            "the Docker Engine refused to run a container",
            cause="its own words are below",
            hint="see the engine's log, or choose `--engine local`",
            excerpt=[printable(str(error.explanation or error.status_code))],
        )
    return silent("the engine stopped answering during the work")


class Runner:
    """Runs programs in containers of one engine."""

    def __init__(self, client: docker.APIClient, endpoint: str) -> None:
        self._client = client
        self._endpoint = endpoint

    def run(self, image: str, invocation: Invocation, limits: Limits) -> Completed:
        """Run one program. On any way out the container is gone.

        Raises:
            DiagnosticError: E0701 where the engine is gone or refuses.
        """
        mark = uuid.uuid4().hex
        created: list[str] = []
        with terminable():
            try:
                return self._live(image, invocation, limits, mark, created)
            except (docker.errors.DockerException, *_GONE) as error:
                raise gone(error) from None
            finally:
                finish(lambda: self._remove(mark, created))

    def _live(
        self, image: str, invocation: Invocation, limits: Limits, mark: str, created: list[str]
    ) -> Completed:
        settings = self._policy(invocation, limits, mark)
        container = self._client.create_container(image, **settings)["Id"]
        created.append(container)
        with Attached(self._endpoint, container, limits.output) as output:
            try:
                self._client.start(container)
            except docker.errors.APIError as error:
                if _NOT_THERE.search(str(error.explanation)):
                    return _not_there(invocation.argv[0])
                raise
            return self._watch(container, output, invocation.seconds)

    def _watch(self, container: str, output: Attached, seconds: float) -> Completed:
        started = time.monotonic()
        waiting = _Waiting(self._client, container)
        timed_out = not waiting.ended(seconds)
        if timed_out:
            self._kill(container)
            waiting.ended(_CALL_SECONDS)
        elif waiting.failure is not None:
            raise waiting.failure
        took = time.monotonic() - started
        output.finish(_CALL_SECONDS)
        state = self._client.inspect_container(container)["State"]
        exit_code, number = ended(int(state["ExitCode"]))
        return Completed(
            exit_code=None if timed_out else exit_code,
            signal=None if timed_out else number,
            timed_out=timed_out,
            out_of_memory=bool(state.get("OOMKilled")),
            stdout=output.stdout.content,
            stderr=output.stderr.content,
            truncated=output.stdout.truncated or output.stderr.truncated,
            seconds=took,
        )

    def _policy(self, invocation: Invocation, limits: Limits, mark: str) -> dict[str, Any]:
        version = str(self._client.api_version)
        return policy(invocation, limits, mark, version)

    def _kill(self, container: str) -> None:
        # It may have ended by itself in this very moment; removal makes sure either way.
        with suppress(docker.errors.APIError):
            self._client.kill(container, "SIGKILL")

    def _remove(self, mark: str, created: list[str]) -> None:
        # A create that was interrupted may still be on its way: then there is no id, only the
        # label, and it may appear a moment later.
        for attempt in range(_REMOVE_TRIES):
            try:
                found = created or self._labelled(f"{RUN}={mark}")
                for container in found:
                    self._client.remove_container(container, force=True, v=True)
                if found or attempt >= 2:
                    return
            except docker.errors.NotFound:
                return
            except _GONE:
                return  # the engine is gone or stuck; the sweep of a later run takes it
            except docker.errors.APIError:
                pass  # it is being removed already, say: look again
            time.sleep(0.2 * (attempt + 1))

    def _labelled(self, label: str) -> list[str]:
        found = self._client.containers(all=True, filters={"label": label})
        return [container["Id"] for container in found]

    def sweep(self) -> int:
        """Remove containers of ours whose process is gone; how many."""
        removed = 0
        try:
            for container in self._client.containers(all=True, filters={"label": RUN}):
                if _orphan(container.get("Labels") or {}):
                    self._client.remove_container(container["Id"], force=True, v=True)
                    removed += 1
        except docker.errors.APIError:
            pass  # another process sweeps the same; what is left, the next one takes
        except _GONE as error:
            raise gone(error) from None
        return removed


def _orphan(labels: dict[str, str]) -> bool:
    owner = Owner.parse(labels.get(OWNER, ""))
    if owner is not None and owner.near:
        return not owner.alive
    expires = labels.get(EXPIRES, "")
    return expires.isdecimal() and int(expires) < time.time()


def policy(invocation: Invocation, limits: Limits, mark: str, version: str) -> dict[str, Any]:
    """The whole sandbox as keywords of the SDK's ``create_container``. No name is given."""
    mounts = [
        docker.types.Mount(m.inside, str(m.host.absolute()), type="bind", read_only=not m.writable)
        for m in invocation.mounts
    ]
    gpus = [docker.types.DeviceRequest(count=-1, capabilities=[["gpu", "compute", "utility"]])]
    host = docker.types.HostConfig(
        version=version,
        network_mode="bridge" if invocation.network else "none",
        read_only=True,
        tmpfs={"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={limits.scratch}"},  # noqa: S108
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        pids_limit=limits.processes,
        mem_limit=limits.memory,
        memswap_limit=limits.memory,  # equal: no swap
        nano_cpus=int(limits.cpus * 1e9) or None,
        ulimits=[
            docker.types.Ulimit(name="nofile", soft=limits.open_files, hard=limits.open_files),
            docker.types.Ulimit(name="core", soft=0, hard=0),
        ],
        shm_size=limits.shared_memory,
        # The output is read as it comes; kept nowhere, it cannot fill the disk.
        log_config=docker.types.LogConfig(type="none"),
        # No docker-init in front: it would hold the probe's nonce and its output, in a process
        # that code under test may read. The probe reaps and kills for itself.
        init=False,
        mounts=mounts,
        device_requests=gpus if invocation.gpus else None,
    )
    return {
        "entrypoint": [invocation.argv[0]],
        "command": list(invocation.argv[1:]),
        "environment": dict(invocation.environment),
        "working_dir": invocation.cwd,
        "user": USER,
        "host_config": host,
        "labels": {
            RUN: mark,
            OWNER: str(Owner.current()),
            EXPIRES: str(int(time.time() + invocation.seconds + _GRACE)),
        },
    }


def _not_there(program: str) -> Completed:
    """How a shell reports a program that it cannot find."""
    said = f"{printable(program)}: not found in the environment\n".encode()
    return Completed(127, None, False, False, b"", said, False, 0.0)


class _Waiting:
    """Waits for a container in a thread, so that our deadline is ours."""

    def __init__(self, client: docker.APIClient, container: str) -> None:
        self.failure: Exception | None = None
        self._done = threading.Event()
        wait: Callable[[], object] = lambda: client.wait(container, timeout=None)  # noqa: E731
        threading.Thread(target=self._wait, args=(wait,), daemon=True).start()

    def _wait(self, wait: Callable[[], object]) -> None:
        try:
            wait()
        except (docker.errors.DockerException, *_GONE) as error:
            self.failure = error
        finally:
            self._done.set()

    def ended(self, seconds: float) -> bool:
        """Whether it ended within ``seconds``."""
        return self._done.wait(seconds)
