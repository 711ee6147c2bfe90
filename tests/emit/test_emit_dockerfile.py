"""The Dockerfile, read again by BuildKit's own parser and compared with the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from emit_sample import HOSTILE, file, instructions, sample, unquoted, wheel
from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.diagnostics import DiagnosticError
from envspec.emit import templates
from envspec.emit.dockerfile import dockerfile, layer_lock
from envspec.plan import model as plan

MOUNT = "--mount=type=bind"
UV = f"{MOUNT},from=installer,source=/opt/uv,target=/opt/uv"


def wheels_of(folder: str) -> str:
    return f"{MOUNT},from=wheels,source={folder},target=/wheels"


def expected(value: plan.Plan) -> list[tuple[str, tuple[str, ...]]]:
    """Instructions and their flags, in order, worked out from the plan."""
    head = [("FROM", ()), ("FROM", ()), ("FROM", ())]
    if any(isinstance(s, plan.InstallSystem) for s in value.steps):
        head[1:1] = [("RUN", ())]
    offline = "--network=none"
    lines = [
        *head,
        ("RUN", (offline, wheels_of("tools"))),
        ("RUN", (offline,)),
        ("FROM", ()),
    ]
    first = next(i for i, s in enumerate(value.steps) if isinstance(s, plan.UnpackSource))
    for number, step in enumerate(value.steps):
        if number == first:  # the variables of the image are set for what comes after
            lines.append(("ENV", ()))
        if isinstance(step, plan.CreateEnvironment):
            lines.append(("RUN", (offline, UV)))
        elif isinstance(step, plan.InstallWheels):
            lock = layer_lock(step.layer)
            own = f"{MOUNT},source={lock},target=/{lock}"
            lines.append(("RUN", (offline, wheels_of(step.layer), UV, own)))
        elif isinstance(step, plan.UnpackSource):
            lines += [("WORKDIR", ()), ("RUN", (offline, wheels_of("source")))]
        elif isinstance(step, plan.RunStep):
            lines.append(("RUN", (offline,)))
    return [*lines, *((word, ()) for word in ("LABEL", "USER", "WORKDIR", "CMD"))]


def read(value: plan.Plan) -> list[Any]:
    """The instructions of a plan's Dockerfile, checked to be those the plan asks for."""
    text = dockerfile(value)
    found = instructions(text)
    assert [(c.cmd, c.flags) for c in found] == expected(value)
    assert all(c.json for c in found if c.cmd in {"RUN", "CMD"}), "no shell form anywhere"
    assert "\n\n\n" not in text
    assert text.endswith("]\n")
    return found


def pairs(command: Any) -> dict[str, str]:
    words = command.value
    assert len(words) % 2 == 0
    return {name: unquoted(v) for name, v in zip(words[::2], words[1::2], strict=True)}


def named(found: list[Any], cmd: str) -> list[Any]:
    return [c for c in found if c.cmd == cmd]


def test_every_step_of_the_plan_is_there_with_its_arguments() -> None:
    value = sample()
    found = read(value)
    runs = [c.value for c in named(found, "RUN")]
    assert runs[0][:2] == ("sh", "-ec")
    assert " --no-install-recommends -- libgl1 g++ && rm -rf /var/lib/apt/lists/*" in runs[0][2]
    assert runs[1][:4] == ("python3.11", "-m", "zipfile", "-e")
    assert runs[1][4] == f"/wheels/{value.installer.file.file}"
    assert runs[2][-2:] == ("/opt/uv-wheel/uv-0.9.0.data/scripts/uv", "/opt/uv/uv")
    assert runs[3][-3:] == ("--python", "python3.11", plan.PREFIX)
    for run, layer in zip(runs[4:6], ("framework", "packages"), strict=True):
        assert run[:3] == ("/opt/uv/uv", "pip", "install")
        assert {"--offline", "--no-index", "--no-deps", "--require-hashes", "--no-config"} <= set(
            run
        )
        assert run[-1] == f"/requirements.{layer}.lock"
    assert f"/wheels/{value.source.archive.file}" in runs[6]
    assert runs[7] == ("python", "setup.py", "build_ext")
    base, scratch, installer, environment = (c.value for c in named(found, "FROM"))
    assert base == (f"python:3.11-slim@sha256:{'a' * 64}", "AS", "base")
    assert (scratch[0], installer[0], environment[0]) == ("scratch", "base", "base")
    assert [c.value for c in named(found, "WORKDIR")] == [(plan.SOURCE,)] * 2
    assert named(found, "USER")[0].value == ("65534:65534",)
    assert named(found, "CMD")[0].value == (plan.INTERPRETER,)


def test_environment() -> None:
    found = read(sample(import_roots=("/opt/src/a", "/opt/src/b")))
    variables = pairs(named(found, "ENV")[0])
    assert variables.pop("PATH").startswith(f"{plan.PREFIX}/bin:/usr/local/sbin:")
    assert variables == {
        "VIRTUAL_ENV": plan.PREFIX,
        "PYTHONPATH": "/opt/src/a:/opt/src/b",
        "OFFLINE": "1",
    }
    assert pairs(named(found, "LABEL")[0]) == {"org.opencontainers.image.title": "demo"}


def test_gpus_are_asked_for_only_with_cuda() -> None:
    cuda = plan.Accelerator("cuda", "12.8", "525.60.13", ("sm_90",))
    variables = pairs(named(read(sample(accelerator=cuda)), "ENV")[0])
    assert variables["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert "NVIDIA_VISIBLE_DEVICES" not in pairs(named(read(sample()), "ENV")[0])


def test_without_system_packages_nothing_asks_the_network() -> None:
    steps = tuple(s for s in sample().steps if not isinstance(s, plan.InstallSystem))
    found = read(sample(steps=steps))
    assert all("--network=none" in c.flags for c in named(found, "RUN"))


def test_every_step_names_its_line_of_the_spec() -> None:
    text = dockerfile(sample())
    for line, what in (
        (8, "base python:3.11-slim"),
        (20, "system packages"),
        (9, "python 3.11"),
        (14, "packages, layer framework\n"),
        (15, "packages, layer packages\n"),
        (4, "source demo-1.0.tar.gz"),
        (30, "step build"),
    ):
        assert f"\n# spec.env:{line} {what}" in text


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=5),
    st.dictionaries(st.sampled_from(["A", "b_1", "__"]), st.sampled_from(HOSTILE), max_size=3),
    st.sampled_from(HOSTILE),
)
def test_hostile_values_stay_values(
    argv: list[str], environment: dict[str, str], name: str
) -> None:
    value = sample(
        project=name,
        spec=name or "spec.env",
        environment=tuple(environment.items()),
        steps=(*sample().steps[1:-1], plan.RunStep(name, ("x", *argv), 3)),
    )
    found = read(value)
    assert named(found, "RUN")[-1].value == ("x", *argv)
    assert pairs(named(found, "LABEL")[0])["org.opencontainers.image.title"] == name
    variables = pairs(named(found, "ENV")[0])
    assert {k: v for k, v in variables.items() if k in environment} == environment


@pytest.mark.parametrize("where", ["spec", "project", "argv", "step", "variable", "file", "base"])
@pytest.mark.parametrize("char", ["\n", "\r", "\x00", "\x1b", "\u2028"])
def test_control_characters_are_refused_wherever_they_come_from(where: str, char: str) -> None:
    evil = f"x{char}RUN id"
    step, archive = plan.RunStep("s", ("x",), 1), file("a.tar.gz")
    changes: dict[str, dict[str, Any]] = {
        "spec": {"spec": evil},
        "project": {"project": evil},
        "argv": {"steps": (step._replace(argv=("a", evil)),)},
        "step": {"steps": (step._replace(name=evil),)},
        "variable": {"environment": (("A", evil),)},
        "file": {"steps": (plan.UnpackSource(archive._replace(file=evil), plan.SOURCE, 1),)},
        "base": {"base": plan.Base(evil, "sha256:0")},
    }
    with pytest.raises(DiagnosticError) as caught:
        dockerfile(sample(**changes[where]))
    assert caught.value.diagnostics[0].code == "E0603"


@pytest.mark.parametrize(
    "changes",
    [
        {"base": plan.Base("python:3.11 AS x", "sha256:0")},
        {"base": plan.Base("$BASE", "sha256:0")},
        {"base": plan.Base("--platform=x", "sha256:0")},
        {"environment": (("A B", "1"),)},
        {"environment": (('A="x" B', "1"),)},
        {"steps": (plan.InstallWheels("a b", (wheel("x"),), 1),)},
    ],
)  # fmt: skip
def test_words_that_stand_without_quotes_are_held_to_their_shape(changes: dict[str, Any]) -> None:
    with pytest.raises(DiagnosticError) as caught:
        dockerfile(sample(**changes))
    assert caught.value.diagnostics[0].code == "E0603"


def test_spec_text_never_reaches_the_lines_where_directives_are_read() -> None:
    """`# syntax=` loads another front end and `# escape=` changes quoting, on the first lines."""
    text = dockerfile(sample(spec="syntax=evil"))
    head = text.split("\n\n", 1)[0].splitlines()
    assert head[0].startswith("# Made by envspec.")
    assert head[1] == "#", "a comment that is no directive ends the place for directives"


def test_a_set_of_variables_that_no_line_can_hold_is_refused() -> None:
    many = tuple((f"V{n}", "x" * 1000) for n in range(70))
    with pytest.raises(DiagnosticError, match="E0603"):
        dockerfile(sample(environment=many))


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parents[2] / "generated").glob("*/Dockerfile")),
    ids=lambda p: p.parent.name,
)
def test_committed_dockerfiles_are_read_without_a_shell(path: Path) -> None:
    found = instructions(path.read_text(encoding="utf-8"))
    assert {c.cmd for c in found} <= {"FROM", "RUN", "WORKDIR", "ENV", "LABEL", "USER", "CMD"}
    assert all(c.json for c in found if c.cmd in {"RUN", "CMD"})


def test_the_template_is_where_the_instructions_come_from() -> None:
    folder = Path(templates.__file__).parent
    text = (folder / "Dockerfile.j2").read_text(encoding="utf-8")
    assert text.startswith("# Made by envspec."), "the first line is fixed"
