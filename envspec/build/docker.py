"""The Docker engine: builds through BuildKit, runs in containers without a network."""

from __future__ import annotations

import errno
import re
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from envspec.build import buildx
from envspec.build.endpoint import find_endpoint, ping, silent
from envspec.build.failure import BuildFailed
from envspec.build.protocol import Built, Completed, EngineInfo, Invocation, Limits
from envspec.diagnostics import DiagnosticError
from envspec.interrupt import terminable
from envspec.plan.digest import build_digest
from envspec.plan.model import Plan
from envspec.reporter import Reporter

if TYPE_CHECKING:
    import docker as sdk

    from envspec.build.container import Runner

BUILD = "org.envspec.build"
BASE_FROM = "org.envspec.base-from"
BASE_ID = "org.envspec.base-id"
_NO_SPACE = ("no space left on device", "disk quota exceeded")
_BASE_STEPS = ("[internal] load metadata for", "[base 1/1] FROM", "[context ")
_EXIT = re.compile(r"exit code: (\d+)")
_KILLED = 137


class DockerEngine:
    """An engine that answers. Make one with `connect`."""

    def __init__(self, endpoint: str, version: str, base_from: str | None = None) -> None:
        self._endpoint = endpoint
        self._version = version
        self._base_from = base_from
        self._api: sdk.APIClient | None = None
        self._runs: Runner | None = None

    @classmethod
    def connect(cls, base_from: str | None = None) -> DockerEngine:
        """The engine of this machine. ``base_from`` is a local image that stands in for the
        base of every plan, where that cannot be pulled.

        Raises:
            DiagnosticError: E0701 without the docker command, buildx or an answering daemon.
        """
        if buildx.docker_command() is None:
            raise DiagnosticError.of(
                "E0701",
                "the `docker` command is not on this machine",
                cause="images are built through the docker command line and its buildx plugin",
                hint="install Docker, or choose `--engine local`",
            )
        endpoint = find_endpoint()
        version = ping(endpoint)
        if not buildx.have_buildx():
            raise DiagnosticError.of(
                "E0701",
                "the docker command has no buildx plugin",
                cause="images are built with BuildKit, which buildx drives",
                hint="install it (`sudo apt-get install docker-buildx`, or Docker's own package "
                "`docker-buildx-plugin`), or choose `--engine local`",
            )
        return cls(endpoint, version, base_from)

    @property
    def _client(self) -> sdk.APIClient:
        if self._api is None:
            # A quarter of a second of imports, paid only where an engine is really used.
            from envspec.build.container import connect  # noqa: PLC0415

            self._api = connect(self._endpoint)
            weakref.finalize(self, self._api.close)
        return self._api

    @property
    def _runner(self) -> Runner:
        if self._runs is None:
            from envspec.build.container import Runner  # noqa: PLC0415

            self._runs = Runner(self._client, self._endpoint)
        return self._runs

    def info(self) -> EngineInfo:
        """Name, version and isolation."""
        weaknesses = ["the container shares the kernel of this machine"]
        if self._base_from:
            weaknesses.append(f"the base image is replaced by `{self._base_from}`")
        return EngineInfo(
            "docker",
            self._version,
            "container: no network, read-only root, user 65534, no capabilities, "
            "limits on memory, processes, files and time",
            tuple(weaknesses),
        )

    def build(self, plan: Plan, context: Path, files: Path, reporter: Reporter, log: Path) -> Built:
        """Build offline, or take the image that was built from the same inputs before.

        Raises:
            BuildFailed: E0702 base image, E0703 a step failed, each with its line of the spec.
            DiagnosticError: E0701 the engine is gone, E0504 no space is left.
        """
        begun = time.monotonic()
        digest = build_digest(plan)
        substitute = self._base_from or ""
        base_id = self._image_id(substitute) if substitute else ""
        tag = _tag(plan.project, digest, base_id or substitute)
        labels = {BUILD: digest, BASE_FROM: substitute, BASE_ID: base_id}
        if not substitute or base_id:
            found = self._matching(tag, labels)
            if found:
                seconds = time.monotonic() - begun
                return Built(found, found, True, substitute, (), seconds, None, immutable=True)
        reporter.stage(f"building the image of {plan.project}")
        contexts = {"wheels": str(files)}
        if substitute:
            contexts[f"{plan.base.name}@{plan.base.digest}"] = f"docker-image://{substitute}"
        argv = buildx.arguments(context, contexts, tag, labels, plan.platform)
        try:
            with terminable():
                failure = buildx.build(argv, self._endpoint, reporter, log)
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise _no_space() from None
            raise silent("the docker command cannot be started") from None
        # Asked even after a failure: of two builds at once, the engine lets one fail at the very
        # end, because the other one has just given its image this name.
        built = self._matching(tag, labels)
        if not built and failure is not None:
            raise self._explain(failure, plan, (context / "Dockerfile").read_text("utf-8"))
        if not built:
            raise DiagnosticError.of(
                "E0701",
                "the engine built an image and then did not have it",
                cause=f"there is no image `{tag}` with the labels that the build was given",
                hint="see that no clean-up of images runs beside the build, then try again",
            )
        seconds = time.monotonic() - begun
        return Built(built, built, False, substitute, (), seconds, log, immutable=True)

    def run(self, built: Built, invocation: Invocation, limits: Limits) -> Completed:
        """Run one program in a container, which is gone afterwards, however it ends.

        A status of 128 + N counts as death by signal N, as shells have it.

        Raises:
            DiagnosticError: E0701 the engine is gone or refuses.
        """
        return self._runner.run(built.reference, invocation, limits)

    def sweep(self) -> int:
        """Remove containers of runs whose process is dead; how many."""
        return self._runner.sweep()

    def _matching(self, tag: str, labels: dict[str, str]) -> str:
        """The id of the image with this tag, where it carries these labels; else empty."""
        image = self._inspect(tag)
        config = image.get("Config") or {} if image else {}
        have = config.get("Labels") or {} if isinstance(config, dict) else {}
        same = all(have.get(name) == value for name, value in labels.items())
        return str(image["Id"]) if image and same else ""

    def _image_id(self, reference: str) -> str:
        image = self._inspect(reference)
        return str(image["Id"]) if image else ""

    def _inspect(self, reference: str) -> dict[str, object] | None:
        client = self._client
        from envspec.build import container  # noqa: PLC0415 - the SDK, see `_client`

        return container.inspect_image(client, reference)

    def _explain(
        self, failure: buildx.Failure, plan: Plan, dockerfile: str
    ) -> BuildFailed | DiagnosticError:
        ping(self._endpoint)  # raises where the daemon died under the build
        said = " ".join((failure.error, *failure.excerpt)).lower()
        if any(words in said for words in _NO_SPACE):
            return _no_space()
        if failure.step.startswith(_BASE_STEPS):
            return self._base_failed(plan)
        line = buildx.spec_line(dockerfile, failure.line)
        code = _EXIT.search(failure.error)
        if code is None:
            cause = "BuildKit stopped before the step had run; its words are below"
        elif int(code[1]) == _KILLED:
            cause = "it was killed (exit code 137), most often because memory ran out"
        else:
            cause = f"it ended with exit code {code[1]}"
        return BuildFailed(
            "E0703",
            "a build step failed",
            line=line,
            cause=cause,
            hint="the whole log is kept; the last lines are below",
            excerpt=failure.excerpt,
        )

    def _base_failed(self, plan: Plan) -> BuildFailed:
        if self._base_from:
            return BuildFailed(
                "E0702",
                f"the image `{self._base_from}` that replaces the base cannot be used",
                line=plan.base_line,
                cause="the engine does not have it and cannot pull it",
                hint="name an image that `docker image ls` lists",
            )
        return BuildFailed(
            "E0702",
            f"the base image `{plan.base.name}@{plan.base.digest}` cannot be pulled",
            line=plan.base_line,
            cause="the engine does not have it and its registry did not give it",
            hint="pull or load it into the engine, or build on another image with "
            "`--base-from IMAGE`; the report will say so",
        )


def _tag(project: str, digest: str, substitute: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", project.lower()).strip("-") or "project"
    suffix = ""
    if substitute:
        # Images on another base are kept apart: a verified one must never be mistaken for them.
        suffix = "-on-" + re.sub(r"[^a-z0-9]+", "", substitute.lower().removeprefix("sha256:"))[:12]
    return f"envspec/{name}:{digest[:24]}{suffix}"


def _no_space() -> DiagnosticError:
    return DiagnosticError.of(
        "E0504",
        "no space is left on the disk",
        cause="the engine could not write the image or its log",
        hint="free some space (`docker system df` says what the engine holds), then try again",
    )
