"""The Dockerfile, read again by BuildKit's own parser and compared with the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from emit_sample import EXTENSION, HOSTILE, file, instructions, sample, unquoted, wheel
from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.diagnostics import DiagnosticError
from envspec.emit import templates
from envspec.emit.dockerfile import checksum_list, dockerfile, layer_lock
from envspec.plan import model as plan

MOUNT = "--mount=type=bind"
UV = f"{MOUNT},from=installer,source=/opt/uv,target=/opt/uv"
OFFLINE = "--network=none"


def wheels_of(folder: str, target: str = "/wheels") -> str:
    return f"{MOUNT},from=wheels,source={folder},target={target}"


def listed(name: str) -> str:
    return f"{MOUNT},source={name},target=/{name}"


def checked(folder: str) -> tuple[str, tuple[str, ...]]:
    return ("RUN", (OFFLINE, wheels_of(folder), listed(checksum_list(folder))))


def expected(value: plan.Plan) -> list[tuple[str, tuple[str, ...]]]:
    """Instructions and their flags, in order, worked out from the plan."""
    debs = [s.stage for s in value.system if s.debs]
    steps = [s for s in value.steps if isinstance(s, plan.RunStep)]
    apart = bool(steps) and value.compiles_apart
    lines: list[tuple[str, tuple[str, ...]]] = [("FROM", ())] * 3
    lines += [checked("tools"), ("RUN", (OFFLINE,))]
    if "runtime" in debs:
        lines += [("FROM", ()), checked("debs")]
    if value.extensions or apart:
        lines += [("FROM", ()), *([checked("debs-build")] if "build" in debs else [])]
    for extension in value.extensions:
        lock = layer_lock(f"build-{extension.name}")
        folders = ("framework", f"build-{extension.name}")
        mounts = tuple(wheels_of(f, f"/wheels/{f}") for f in folders)
        lines += [("FROM", ()), ("ENV", ()), ("RUN", (OFFLINE, UV))]
        lines += [("RUN", (OFFLINE, *mounts, UV, listed(lock))), ("WORKDIR", ())]
        lines += [checked(f"extension-{extension.name}"), ("RUN", (OFFLINE, UV))]
        if extension.sha256:
            lines.append(("RUN", (OFFLINE, listed(checksum_list(f"wheel-{extension.name}")))))
    if value.extensions:
        lines += [("FROM", ()), *(("COPY", (f"--from=build-{e.name}",)) for e in value.extensions)]
    lines.append(("FROM", ()))
    for step in value.steps:
        if isinstance(step, plan.CreateEnvironment):
            lines.append(("RUN", (OFFLINE, UV)))
        elif isinstance(step, plan.InstallWheels):
            own = listed(layer_lock(step.layer))
            lines.append(("RUN", (OFFLINE, wheels_of(step.layer), UV, own)))
        elif isinstance(step, plan.BuildExtension):
            built = f"{MOUNT},from=extensions,source={step.name},target=/wheels"
            lines.append(("RUN", (OFFLINE, built, UV)))
    source = [("WORKDIR", ()), checked("source")]
    environment = f"{MOUNT},from=environment,source=/opt/env,target=/opt/env"
    if apart:
        run = ("RUN", (OFFLINE, environment))
        lines += [("FROM", ()), ("ENV", ()), *source, *([run] * len(steps))]
        lines += [("FROM", ()), ("ENV", ()), ("COPY", ("--from=steps",))]
    else:
        lines += [("FROM", ()), ("ENV", ()), *source, *([("RUN", (OFFLINE,))] * len(steps))]
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
    unpack, place, debs, build_debs, create, tools, source, build, *rest = runs
    assert unpack[:2] == ("sh", "-ec")
    check = "env --chdir=/wheels sha256sum --check --strict --quiet /checksums.tools.lock && "
    assert unpack[2].startswith(f"{check}python3.11 -m zipfile -e /wheels/")
    assert place[-2:] == ("/opt/uv-wheel/uv-0.9.0.data/scripts/uv", "/opt/uv/uv")
    for run, folder in ((debs, "debs"), (build_debs, "debs-build")):
        assert f" /checksums.{folder}.lock && env DEBIAN_FRONTEND=noninteractive " in run[2]
        assert " --no-install-recommends -o Dir::Etc::SourceList=/dev/null " in run[2]
        assert " /wheels/*.deb && rm -rf " in run[2]
    assert create[-3:] == ("--python", "python3.11", plan.BUILD_PREFIX)
    assert " --requirements /requirements.build-torch-scatter.lock && find " in tools[2]
    assert "/wheels/torch_scatter-2.1.2.tar.gz --directory /opt/build/source " in source[2]
    assert build[:4] == ("env", "MAX_JOBS=2", "SOURCE_DATE_EPOCH=315532800", "/opt/uv/uv")
    assert {"--no-build-isolation", "--offline", "--wheel"} <= set(build)
    create, framework, packages, extension, source, step = rest
    assert create[-3:] == ("--python", "python3.11", plan.PREFIX)
    for run, layer in ((framework, "framework"), (packages, "packages")):
        assert run[2].startswith("/opt/uv/uv pip install --quiet --offline ")
        assert " --no-config " in run[2]
        assert " --no-index --no-deps --require-hashes " in run[2]
        assert f" --requirements /requirements.{layer}.lock && find /opt/env/lib -path " in run[2]
    assert " --no-index --no-deps " in extension[2]
    assert " --find-links /wheels torch-scatter && find /opt/env/lib -path " in extension[2]
    assert f" --file /wheels/{value.source.archive.file} --directory /opt/src " in source[2]
    assert step == ("python", "setup.py", "build_ext")
    assert [c.value for c in named(found, "COPY")] == [
        (plan.BUILD_DIST, "/torch-scatter"),
        (plan.SOURCE, plan.SOURCE),
    ]
    assert named(found, "USER")[0].value == ("65534:65534",)
    assert named(found, "CMD")[0].value == (plan.INTERPRETER,)


def stages(value: plan.Plan) -> dict[str, str]:
    """Stage → what it is built from."""
    return {c.value[2]: c.value[0] for c in named(read(value), "FROM")}


def test_what_compiles_stays_out_of_the_image() -> None:
    base = f"python:3.11-slim@sha256:{'a' * 64}"
    assert stages(sample()) == {
        "base": base,
        "wheels": "scratch",
        "installer": "base",
        "runtime": "base",
        "toolchain": "runtime",
        "build-torch-scatter": "toolchain",
        "extensions": "scratch",
        "environment": "runtime",
        "steps": "toolchain",
        "image": "environment",
    }
    devel = plan.Base("nvidia/cuda:12.8.1-devel-ubuntu22.04", f"sha256:{'d' * 64}")
    found = stages(sample(devel=devel, devel_line=9))
    assert found["toolchain"] == f"{devel.name}@{devel.digest}"
    assert found["image"] == "environment"


def test_without_a_compiler_there_are_only_the_stages_that_are_needed() -> None:
    left_out = (plan.InstallSystem, plan.BuildExtension)
    steps = tuple(s for s in sample().steps if not isinstance(s, left_out))
    found = stages(sample(steps=steps))
    assert list(found) == ["base", "wheels", "installer", "environment", "image"]
    assert found["environment"] == "base"


def test_a_recorded_wheel_is_compared() -> None:
    built = EXTENSION._replace(wheel="torch_scatter-2.1.2-cp311.whl", sha256="e" * 64)
    steps = tuple(built if s is EXTENSION else s for s in sample().steps)
    runs = [c.value for c in named(read(sample(steps=steps)), "RUN")]
    (check,) = [r for r in runs if r[-1] == "/checksums.wheel-torch-scatter.lock"]
    assert check[1] == "--chdir=/opt/build/dist"


def test_environment() -> None:
    found = read(sample(import_roots=("/opt/src/a", "/opt/src/b")))
    variables = pairs(named(found, "ENV")[-1])
    assert variables.pop("PATH").startswith(f"{plan.PREFIX}/bin:/usr/local/sbin:")
    assert variables == {
        "VIRTUAL_ENV": plan.PREFIX,
        "PYTHONPATH": "/opt/src/a:/opt/src/b",
        "OFFLINE": "1",
    }
    assert pairs(named(found, "LABEL")[0]) == {
        "org.opencontainers.image.title": "demo",
        "org.opencontainers.image.base.name": "python:3.11-slim",
        "org.opencontainers.image.base.digest": f"sha256:{'a' * 64}",
        "org.envspec.shm-size": str(1 << 30),
    }


def test_gpus_are_asked_for_only_with_cuda() -> None:
    cuda = plan.Accelerator("cuda", "12.8", "", ("sm_90",), "525.60.13")
    variables = pairs(named(read(sample(accelerator=cuda)), "ENV")[-1])
    assert variables["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert variables["NVIDIA_REQUIRE_CUDA"] == "driver>=525.60.13"
    assert "NVIDIA_VISIBLE_DEVICES" not in pairs(named(read(sample()), "ENV")[-1])


def test_nothing_asks_the_network() -> None:
    found = read(sample())
    assert all(OFFLINE in c.flags for c in named(found, "RUN"))


def test_every_step_names_its_line_of_the_spec() -> None:
    text = dockerfile(sample())
    for line, what in (
        (8, "base python:3.11-slim"),
        (20, "system packages, runtime: libgl1\n"),
        (21, "system packages, build: g++\n"),
        (25, "extension torch-scatter 2.1.2\n"),
        (25, "extension torch-scatter\n"),
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
        steps=(*sample().steps[2:-1], plan.RunStep(name, ("x", *argv), 3)),
    )
    found = read(value)
    assert named(found, "RUN")[-1].value == ("x", *argv)
    assert pairs(named(found, "LABEL")[0])["org.opencontainers.image.title"] == name
    variables = pairs(named(found, "ENV")[-1])
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
    assert {c.cmd for c in found} <= {
        "FROM",
        "RUN",
        "WORKDIR",
        "ENV",
        "COPY",
        "LABEL",
        "USER",
        "CMD",
    }
    assert all(c.json for c in found if c.cmd in {"RUN", "CMD"})


def test_the_template_is_where_the_instructions_come_from() -> None:
    folder = Path(templates.__file__).parent
    text = (folder / "Dockerfile.j2").read_text(encoding="utf-8")
    assert text.startswith("# Made by envspec."), "the first line is fixed"
