"""Running probes in a built environment and keeping the evidence of every run."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from envspec.build.protocol import Built, Engine, Invocation, Limits, Mount
from envspec.plan import model as plan
from envspec.plan.model import Plan
from envspec.reporter import Reporter
from envspec.verify.results import Observation, read

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# `/tmp` is the sandbox's own scratch; an engine without mounts puts another folder there.
_BASICS = {"PATH": SYSTEM_PATH, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
# Time the probe has beyond what it watches over, to kill, reap and write its line.
GRACE = 30.0


# One program answers to three names: what differs is which GPUs the host shows.
_PROGRAMS = {"c3_entry": "c1_entry", "c4_entry": "c1_entry"}


class Evidence(NamedTuple):
    """The record of one probe run. ``log`` is the name of a file beside the report."""

    id: str
    probe: str
    argv: tuple[str, ...]
    cwd: str
    environment: tuple[str, ...]
    network: bool
    gpus: bool
    started: str
    seconds: float
    exit_code: int | None
    signal: int | None
    timed_out: bool
    out_of_memory: bool
    error: str
    log: str
    log_sha256: str


class Session:
    """One environment under test; every run leaves an `Evidence` in ``evidence``."""

    def __init__(
        self,
        subject: Plan,
        engine: Engine,
        built: Built,
        mounts: tuple[Mount, ...],
        pycache: Path,
        logs: Path,
        reporter: Reporter,
    ) -> None:
        self.plan = subject
        self.evidence: list[Evidence] = []
        self._engine = engine
        self._built = built
        self._mounts = (*mounts, Mount(pycache, plan.PYCACHE))
        self._ready = pycache.with_suffix(".ready")
        pycache.mkdir(parents=True, exist_ok=True)
        pycache.chmod(0o777)  # the sandbox's user is not ours
        self._logs = logs
        self._reporter = reporter
        asked = subject.resources
        self._limits = Limits()._replace(
            **{k: v for k, v in (("memory", asked.memory), ("shared_memory", asked.shm)) if v}
        )

    def locate(self, text: str) -> str:
        """A logical path as the programs inside have to spell it."""
        for mount in self._mounts:
            if self._built.roots and (text == mount.inside or text.startswith(mount.inside + "/")):
                return str(mount.host) + text[len(mount.inside) :]
        return self._built.locate(text)

    def environment(self, extra: Mapping[str, str] = {}, *, gpus: bool = False) -> dict[str, str]:
        """What programs under test see: the image's variables and nothing of the host's."""
        prefix = self.locate(plan.PREFIX)
        values = {
            "PATH": f"{prefix}/bin:{SYSTEM_PATH}",
            "VIRTUAL_ENV": prefix,
            "PYTHONPATH": ":".join(self.locate(r) for r in self.plan.import_roots),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPYCACHEPREFIX": self.locate(plan.PYCACHE),
            "GLOO_SOCKET_IFNAME": "lo",
            "NCCL_SOCKET_IFNAME": "lo",
            **dict(self.plan.environment),
            **dict(extra),
        }
        if not gpus:
            values["CUDA_VISIBLE_DEVICES"] = ""
        return values

    @contextmanager
    def warm(self, *, last: bool = False) -> Iterator[str]:
        """Within, runs may leave compiled modules behind, for every later run to read.

        Importing torch without them takes three times as long, and it is imported a dozen
        times. Only programs that run none of the repository's code belong in here; ``last``
        marks the folder as filled. Gives its path inside, ``""`` where it was filled before.
        """
        if self._ready.exists():
            yield ""
            return
        shown = self._mounts
        self._mounts = tuple(m._replace(writable=m.inside == plan.PYCACHE) for m in shown)
        try:
            yield self.locate(plan.PYCACHE)
            if last:
                self._ready.touch()
        finally:
            self._mounts = shown

    def run(
        self,
        identity: str,
        probe: str,
        config: Mapping[str, Any],
        *,
        seconds: float,
        gpus: bool = False,
        network: bool = False,
    ) -> Observation:
        """Run one probe. ``config`` is its part of the contract in probes/README.md."""
        nonce = secrets.token_hex(16)
        settings = {"schema": 1, "probe": probe, "nonce": nonce, "seconds": seconds, **config}
        program = f"{plan.PROBES}/{_PROGRAMS.get(probe, probe)}.py"
        argv = (plan.INTERPRETER, "-I", "-S", "-B", program)
        variables = {"ENVSPEC_PROBE": json.dumps(settings), **_BASICS}
        if not gpus:
            variables["CUDA_VISIBLE_DEVICES"] = ""
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        completed = self._engine.run(
            self._built,
            Invocation(
                argv,
                tuple(variables.items()),
                plan.SOURCE,
                self._mounts,
                seconds + GRACE,
                gpus,
                network,
            ),
            self._limits,
        )
        observation = read(completed, probe, nonce)
        log = self._keep(identity, observation, completed.stderr)
        environment = config.get("environment") or {}
        self.evidence.append(
            Evidence(
                identity,
                probe,
                tuple(config.get("argv") or argv),
                str(config.get("cwd") or plan.SOURCE),
                tuple(f"{k}={v}" for k, v in sorted(environment.items())),
                network,
                gpus,
                started,
                round(completed.seconds, 3),
                completed.exit_code,
                completed.signal,
                completed.timed_out,
                completed.out_of_memory,
                observation.error,
                log.name,
                hashlib.sha256(log.read_bytes()).hexdigest(),
            )
        )
        return observation

    def _keep(self, identity: str, observation: Observation, stderr: bytes) -> Path:
        """The whole observation and what the probe said of itself, as one file."""
        path = self._logs / f"{identity}.json"
        document = {
            "probe": observation.probe,
            "error": observation.error,
            "observed": observation.observed,
            "stderr": stderr[-65536:].decode("utf-8", "backslashreplace"),
        }
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        return path
