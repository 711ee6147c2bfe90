"""One build through ``docker buildx``: its arguments, its process, and what its log says.

The SDK cannot drive BuildKit, so the command line does. The plain progress format is read
because every release of buildx has it, and its error names the line of the Dockerfile.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from envspec.build.endpoint import config_folder
from envspec.build.tail import printable
from envspec.reporter import Reporter

EXCERPT_LINES = 30
_LINE = re.compile(r"#(\d+) (.*)")
_OUTPUT = re.compile(r"\d+\.\d+ ?(.*)")
_STATE = re.compile(r"(?:DONE|CACHED|CANCELED|\.\.\.|sha256:|transferring |resolve )")
_PLACE = re.compile(r"Dockerfile:(\d+)")
_NUMBER = re.compile(r"\[(?:\S+ )?(\d+)/(\d+)\]")
_QUIET = ("[internal]", "[context ", "exporting", "importing", "building with")
_COMMENT = re.compile(r"^# .*:(\d+)\b")
_PLUGIN_FOLDERS = (
    "/usr/local/lib/docker/cli-plugins",
    "/usr/local/libexec/docker/cli-plugins",
    "/usr/lib/docker/cli-plugins",
    "/usr/libexec/docker/cli-plugins",
)
# The log of a build is kept whole up to here; BuildKit itself clips each step at 2 MiB.
LARGEST_LOG = 64 << 20


class Failure(NamedTuple):
    """Where and how a build failed: the step as BuildKit names it, the line of the Dockerfile
    (0: unknown), BuildKit's own error, and the last lines that the step printed."""

    step: str
    line: int
    error: str
    excerpt: tuple[str, ...]


def have_buildx() -> bool:
    """Whether the docker command line has its buildx plugin. Looks at files before it asks."""
    folders = (str(config_folder() / "cli-plugins"), *_PLUGIN_FOLDERS)
    if any(os.access(Path(folder, "docker-buildx"), os.X_OK) for folder in folders):
        return True
    try:
        asked = subprocess.run(
            ["docker", "buildx", "version"], capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.returncode == 0


def arguments(
    context: Path,
    contexts: Mapping[str, str],
    platform: str,
    epoch: int,
    output: Sequence[str],
) -> list[str]:
    """The argument list of a build.

    ``contexts`` are named contexts: a stage or image name of the Dockerfile and what stands in
    for it. ``epoch`` is the time stamp of what is built. ``output`` are the words that say what
    becomes of it, of `image_output` or `archive_output`.
    """
    argv = ["docker", "buildx", "build", "--builder", "default", "--progress", "plain"]
    argv += ["--file", str(context / "Dockerfile"), "--platform", platform]
    for name, value in contexts.items():
        argv += ["--build-context", f"{name}={value}"]
    argv += ["--provenance=false", "--build-arg", f"SOURCE_DATE_EPOCH={epoch}"]
    return [*argv, *output, str(context)]


def image_output(tag: str, labels: Mapping[str, str]) -> list[str]:
    """An image of the engine, uncompressed: it is run here and never sent anywhere."""
    words = [word for name, value in labels.items() for word in ("--label", f"{name}={value}")]
    return [*words, "--output", f"type=image,name={tag},compression=uncompressed"]


def folder_output(stage: str, folder: Path) -> list[str]:
    """What one stage holds, as files in a folder."""
    return ["--target", stage, "--output", f"type=local,dest={folder}"]


def archive_output(path: Path) -> list[str]:
    """An OCI archive of a build that takes nothing from an earlier one. Times that the build gave
    become the epoch. Uncompressed, so that no compressor's release is part of the digest."""
    options = "rewrite-timestamp=true,compression=uncompressed,force-compression=true"
    return ["--no-cache", "--output", f"type=oci,dest={path},{options}"]


def build(argv: Sequence[str], endpoint: str, reporter: Reporter, log: Path) -> Failure | None:
    """Run one build to its end; None where it went well.

    The process and what it starts are in a group of their own: Ctrl-C reaches only us, and on
    any way out the whole group is gone (which also cancels the build in the daemon).

    Raises:
        OSError: the log cannot be written, or there is no docker command.
    """
    environment = dict(os.environ, DOCKER_HOST=endpoint, BUILDX_NO_DEFAULT_ATTESTATIONS="1")
    for name in ("DOCKER_CONTEXT", "BUILDX_BUILDER", "BUILDKIT_PROGRESS"):
        environment.pop(name, None)
    reading = Reading(reporter)
    with log.open("wb") as kept:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            _follow(process.stdout, kept, reading)
            code = process.wait()
        finally:
            _end(process)
            process.stdout.close()
    return None if code == 0 else reading.failure()


def _follow(stream: IO[bytes], kept: IO[bytes], reading: Reading) -> None:
    written = 0
    # Not universal newlines: a step that prints a carriage return must not start a line.
    for raw in stream:
        if written < LARGEST_LOG:
            kept.write(raw)
            kept.flush()
            written += len(raw)
        reading.line(raw.decode("utf-8", errors="replace").rstrip("\n"))


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            continue


class Reading:
    """Reads plain progress, line by line, and tells the reporter what a person wants to know."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._names: dict[str, str] = {}
        self._output: dict[str, deque[str]] = {}
        self._errors: list[tuple[str, str]] = []
        self._place = 0
        self._last: deque[str] = deque(maxlen=EXCERPT_LINES)

    def line(self, text: str) -> None:
        """Take the next line."""
        match = _LINE.fullmatch(text)
        if match is None:
            place = _PLACE.fullmatch(text)
            if place:
                self._place = int(place[1])
            if text.strip():
                self._last.append(printable(text))
            return
        vertex, rest = match[1], match[2]
        if vertex not in self._names:
            self._begin(vertex, rest)
        elif output := _OUTPUT.fullmatch(rest):
            shown = printable(output[1])
            self._output[vertex].append(shown)
            self._reporter.line(shown)
        elif rest.startswith("ERROR: "):
            self._errors.append((vertex, printable(rest.removeprefix("ERROR: "))))
        elif rest != self._names[vertex] and not _STATE.match(rest):
            self._output[vertex].append(printable(rest))

    def _begin(self, vertex: str, name: str) -> None:
        self._names[vertex] = name
        self._output[vertex] = deque(maxlen=EXCERPT_LINES)
        if name.startswith(_QUIET):
            return
        number = _NUMBER.match(name)
        if number:
            self._reporter.advance(int(number[1]) - 1, int(number[2]), "steps")
        self._reporter.line(printable(name))

    def failure(self) -> Failure:
        """What the log says of a build that failed."""
        if not self._errors:
            excerpt = tuple(self._last)
            return Failure("", self._place, excerpt[-1] if excerpt else "", excerpt)
        # Stages run side by side, and one that fails cancels the others: the first error counts,
        # unless it is that very cancellation.
        causes = [e for e in self._errors if "context canceled" not in e[1]] or self._errors
        vertex, error = causes[0]
        excerpt = tuple(self._output[vertex]) or (error,)
        return Failure(printable(self._names[vertex]), self._place, error, excerpt)


def spec_line(dockerfile: str, line: int) -> int:
    """The line of the spec that a line of the Dockerfile comes from; 0 where none is named.

    The emitter writes ``# spec.env:12  …`` above each block, so the nearest comment of that
    form above the instruction says it.
    """
    for text in reversed(dockerfile.split("\n")[:line]):
        match = _COMMENT.match(text)
        if match:
            return int(match[1])
    return 0


def made_at(dockerfile: str, made_by: str) -> int:
    """The line of the spec behind a layer, by the words that BuildKit keeps of its instruction; 0
    where it is none of this Dockerfile's."""
    words = made_by.removeprefix("RUN ").removesuffix(" # buildkit")
    for number, text in enumerate(dockerfile.split("\n"), 1):
        start = text.find('["')
        if start >= 0 and words == " ".join(json.loads(text[start:])):
            return spec_line(dockerfile, number)
    return 0


def docker_command() -> str | None:
    """Where the docker command line is; None without it."""
    return shutil.which("docker")
