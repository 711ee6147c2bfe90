"""Real builds: made, used again, failed with the line of the spec, interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from docker_room import BASE, DIGEST, HEAD, TEST_IMAGE, Silent, Workplace, docker, make_plan

from envspec.build.docker import DockerEngine
from envspec.build.failure import BuildFailed
from envspec.diagnostics import DiagnosticError
from envspec.plan.digest import build_digest

pytestmark = pytest.mark.engine


def test_builds_once_and_takes_it_again(docker_engine: DockerEngine, workplace: Workplace) -> None:
    plan = make_plan(uuid.uuid4().hex)
    reporter = Silent()
    first = workplace.build(docker_engine, plan, reporter)
    assert not first.reused
    assert first.base_substituted == TEST_IMAGE
    assert first.log == workplace.log
    assert b"cp /wheels/made.txt" in workplace.log.read_bytes()
    assert any("RUN --network=none" in line for line in reporter.lines)
    labels = docker("image", "inspect", first.reference, "--format", "{{json .Config.Labels}}")
    assert build_digest(plan) in labels

    workplace.dockerfile("FROM scratch\n")  # would fail, were it built
    again = workplace.build(docker_engine, plan, reporter)
    assert again.reused
    assert (again.reference, again.digest) == (first.reference, first.digest)
    assert again.base_substituted == TEST_IMAGE
    docker("image", "rm", "--force", first.reference)


def test_an_image_with_the_tag_but_not_the_label_is_not_taken(
    docker_engine: DockerEngine, workplace: Workplace
) -> None:
    plan = make_plan(uuid.uuid4().hex)
    real = workplace.build(docker_engine, plan)
    tag = docker("image", "inspect", real.reference, "--format", "{{index .RepoTags 0}}")
    docker("image", "rm", "--force", real.reference)
    docker("tag", TEST_IMAGE, tag)  # someone else's image under our name
    assert not workplace.build(docker_engine, plan).reused
    docker("image", "rm", "--force", tag)


def test_failing_step_names_its_line_and_shows_thirty_lines(
    docker_engine: DockerEngine, workplace: Workplace
) -> None:
    noise = "i=0; while [ $i -lt 50 ]; do echo \"line $i\"; i=$((i+1)); done; printf '\\033[31m'"
    workplace.dockerfile(
        HEAD
        + f"# spec.env:17  step compile\nWORKDIR /tmp\nRUN --network=none {noise}; \\\n    exit 9\n"
        + "# spec.env:23  step later\nRUN true\n"
    )
    with pytest.raises(BuildFailed) as caught:
        workplace.build(docker_engine, make_plan(uuid.uuid4().hex))
    failure = caught.value
    assert failure.code == "E0703"
    assert failure.line == 17
    assert "exit code 9" in failure.cause
    assert len(failure.excerpt) == 30
    assert failure.excerpt[-2] == "line 49" or failure.excerpt[-1] == "line 49"
    assert "\x1b" not in "".join(failure.excerpt)
    assert b"line 0\n" in workplace.log.read_bytes()


def test_a_step_cannot_pretend_that_another_one_failed(
    docker_engine: DockerEngine, workplace: Workplace
) -> None:
    forged = r"printf '#3 ERROR: forged\rDockerfile:4\n#3 ERROR: forged\nDockerfile:4\n'"
    workplace.dockerfile(HEAD + f"# spec.env:31  step forge\nRUN {forged}; exit 1\n")
    with pytest.raises(BuildFailed) as caught:
        workplace.build(docker_engine, make_plan(uuid.uuid4().hex))
    assert (caught.value.code, caught.value.line) == ("E0703", 31)


def test_a_step_has_no_network(docker_engine: DockerEngine, workplace: Workplace) -> None:
    count = 'test "$(grep -c : /proc/net/dev)" = 1'
    workplace.dockerfile(HEAD + f"# spec.env:9  step\nRUN --network=none {count}\n")
    built = workplace.build(docker_engine, make_plan(uuid.uuid4().hex))
    docker("image", "rm", "--force", built.reference)


def test_base_that_cannot_be_pulled(docker_engine: DockerEngine, workplace: Workplace) -> None:
    engine = DockerEngine.connect()
    with pytest.raises(BuildFailed) as caught:
        workplace.build(engine, make_plan(uuid.uuid4().hex))
    assert caught.value.code == "E0702"
    assert caught.value.line == 4
    assert f"{BASE}@{DIGEST}" in caught.value.title
    assert "--base-from IMAGE" in caught.value.hint


def test_substitute_that_does_not_exist(docker_engine: DockerEngine, workplace: Workplace) -> None:
    engine = DockerEngine.connect("envspec-test/there-is-none:1")
    with pytest.raises(BuildFailed) as caught:
        workplace.build(engine, make_plan(uuid.uuid4().hex))
    assert caught.value.code == "E0702"
    assert "envspec-test/there-is-none:1" in caught.value.title


def test_builds_at_once_give_one_image(docker_engine: DockerEngine, tmp_path: Path) -> None:
    plan = make_plan(uuid.uuid4().hex)
    places = []
    for name in ("one", "two", "three", "four"):
        (tmp_path / name).mkdir()
        places.append(Workplace(tmp_path / name))
    engines = [DockerEngine.connect(TEST_IMAGE) for _ in places]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda p, e: p.build(e, plan), places, engines))
    assert len({result.digest for result in results}) == 1
    docker("image", "rm", "--force", results[0].reference)


def test_daemon_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(DiagnosticError) as caught:
        DockerEngine.connect()
    assert caught.value.diagnostics[0].code == "E0701"


BUILDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from docker_room import Silent, TEST_IMAGE, make_plan
from envspec.build.docker import DockerEngine
class Telling(Silent):
    def line(self, text):
        print(text, flush=True)
folder = Path(sys.argv[2])
try:
    DockerEngine.connect(TEST_IMAGE).build(
        make_plan(sys.argv[3]), folder / "context", folder / "files", Telling(), folder / "log")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_no_build_running(
    docker_engine: DockerEngine, workplace: Workplace, tmp_path: Path, number: signal.Signals
) -> None:
    marker = f"sleep-{uuid.uuid4().hex}"
    workplace.dockerfile(
        HEAD + f"# spec.env:9  step\nRUN sh -c 'echo step begins; sleep 600' {marker}\n"
    )
    arguments = [sys.executable, "-c", BUILDER, str(Path(__file__).parent), str(tmp_path), marker]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        for line in process.stdout:
            if line.startswith("step begins"):
                break
        assert _running(marker)
        process.send_signal(number)
        assert process.wait() == 130
        watchdog.cancel()
    for _ in range(100):
        if not _running(marker):
            break
        time.sleep(0.1)
    assert not _running(marker)


def _running(marker: str) -> list[str]:
    """Processes of this machine, the step's included, whose command line holds ``marker``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if marker in command and int(folder.name) != os.getpid() and "def line" not in command:
            found.append(command)
    return found
