"""The Docker engine: builds through BuildKit, runs in containers without a network."""

from __future__ import annotations

import errno
import re
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envspec.build import buildx, oci
from envspec.build.endpoint import find_endpoint, ping, silent
from envspec.build.failure import BuildFailed
from envspec.build.image_failure import explain, no_space
from envspec.build.protocol import (
    Built,
    BuiltWheel,
    Completed,
    Difference,
    EngineInfo,
    Invocation,
    Limits,
    Rebuilt,
)
from envspec.build.tree import hash_file
from envspec.diagnostics import DiagnosticError
from envspec.interrupt import terminable
from envspec.plan.digest import build_digest
from envspec.plan.model import EXTENSIONS, Plan
from envspec.reporter import Reporter

if TYPE_CHECKING:
    import docker as sdk

    from envspec.build.container import Runner

BUILD = "org.envspec.build"
BASE_FROM = "org.envspec.base-from"
BASE_ID = "org.envspec.base-id"


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
                wheels = self._wheels(plan, context, files, reporter, log)
                seconds = time.monotonic() - begun
                return Built(found, found, True, substitute, (), seconds, None, True, wheels)
        reporter.stage(f"building the image of {plan.project}")
        failure = self._buildx(
            plan, context, files, reporter, log, buildx.image_output(tag, labels)
        )
        # Asked even after a failure: of two builds at once, the engine lets one fail at the very
        # end, because the other one has just given its image this name.
        built = self._matching(tag, labels)
        if not built and failure is not None:
            raise self._explained(failure, plan, context)
        if not built:
            raise DiagnosticError.of(
                "E0701",
                "the engine built an image and then did not have it",
                cause=f"there is no image `{tag}` with the labels that the build was given",
                hint="see that no clean-up of images runs beside the build, then try again",
            )
        wheels = self._wheels(plan, context, files, reporter, log)
        seconds = time.monotonic() - begun
        return Built(built, built, False, substitute, (), seconds, log, True, wheels)

    def rebuild(
        self, plan: Plan, context: Path, files: Path, reporter: Reporter, log: Path
    ) -> Rebuilt:
        """Build twice from nothing, as OCI archives, and compare them.

        Raises:
            BuildFailed, DiagnosticError: as `build`.
        """
        begun = time.monotonic()
        archives = []
        with tempfile.TemporaryDirectory(dir=files.parent) as folder:
            for number in (1, 2):
                reporter.stage(f"building {plan.project} from nothing, {number} of 2")
                path = Path(folder, f"{number}.tar")
                output = buildx.archive_output(path)
                failure = self._buildx(plan, context, files, reporter, log, output)
                if failure is not None:
                    raise self._explained(failure, plan, context)
                archives.append(oci.read(path))
            changed = oci.compare(*archives)
        text = (context / "Dockerfile").read_text("utf-8")
        found = (Difference(c.file, c.what, buildx.made_at(text, c.made_by)) for c in changed)
        first, second = archives
        return Rebuilt((first.digest, second.digest), tuple(found), time.monotonic() - begun)

    def _wheels(
        self, plan: Plan, context: Path, files: Path, reporter: Reporter, log: Path
    ) -> tuple[BuiltWheel, ...]:
        """The wheels of extensions, out of the stage that holds them; nothing is compiled again
        as long as the engine has its cache."""
        if not plan.extensions:
            return ()
        with tempfile.TemporaryDirectory(dir=files.parent) as folder:
            output = buildx.folder_output(EXTENSIONS, Path(folder))
            more = log.with_name(f"{log.stem}-extensions{log.suffix}")
            failure = self._buildx(plan, context, files, reporter, more, output)
            if failure is not None:
                raise self._explained(failure, plan, context)
            return tuple(
                BuiltWheel(step.name, path.name, hash_file(path))
                for step in plan.extensions
                for path in sorted(Path(folder, step.name).glob("*.whl"))
            )

    def _buildx(
        self,
        plan: Plan,
        context: Path,
        files: Path,
        reporter: Reporter,
        log: Path,
        output: Sequence[str],
    ) -> buildx.Failure | None:
        contexts = {"wheels": str(files)}
        if self._base_from:
            contexts[f"{plan.base.name}@{plan.base.digest}"] = f"docker-image://{self._base_from}"
        argv = buildx.arguments(context, contexts, plan.platform, plan.epoch, output)
        try:
            with terminable():
                return buildx.build(argv, self._endpoint, reporter, log)
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise no_space() from None
            raise silent("the docker command cannot be started") from None

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

    def _explained(
        self, failure: buildx.Failure, plan: Plan, context: Path
    ) -> BuildFailed | DiagnosticError:
        ping(self._endpoint)  # raises where the daemon died under the build
        text = (context / "Dockerfile").read_text("utf-8")
        return explain(failure, plan, text, self._base_from or "")

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


def _tag(project: str, digest: str, substitute: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", project.lower()).strip("-") or "project"
    suffix = ""
    if substitute:
        # Images on another base are kept apart: a verified one must never be mistaken for them.
        suffix = "-on-" + re.sub(r"[^a-z0-9]+", "", substitute.lower().removeprefix("sha256:"))[:12]
    return f"envspec/{name}:{digest[:24]}{suffix}"
