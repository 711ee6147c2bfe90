"""The Apptainer definition, read as Apptainer reads it, its commands run by a real shell."""

from __future__ import annotations

import base64
import subprocess
from typing import Any

import pytest
from definition import commands, read
from emit_sample import HOSTILE, entry, sample
from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.diagnostics import DiagnosticError
from envspec.emit import contract
from envspec.emit.apptainer import apptainer
from envspec.plan import model as plan

BRACES = ("{{ x }}", "{{x}}", "{{{", "{{wheels}}", "%post", " %post", "bootstrap: x")


def words(line: str) -> list[str]:
    """The words a shell makes of a command, which is not run."""
    done = subprocess.run(
        ["sh", "-c", f"show() {{ printf '%s\\0' \"$@\"; }}; show {line}"],
        capture_output=True, check=True, timeout=30, env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    return done.stdout.decode("utf-8").split("\0")[:-1]


def started(value: plan.Plan, one: plan.Entry) -> list[str]:
    variables = contract.environment(value, one)
    return [
        "env", *(f"{k}={v}" for k, v in variables.items()),
        "timeout", str(one.timeout), *one.argv,
    ]  # fmt: skip


def test_the_sections_hold_the_plan() -> None:
    value = sample(entries=(entry(), entry(name="gpu", level="c3", script=None)))
    found = read(apptainer(value))
    assert found.header == {"bootstrap": "docker", "from": f"python@sha256:{'a' * 64}"}
    assert list(found.sections) == [
        "arguments", "files", "post", "environment", "labels", "test", "runscript",
        "apprun smoke", "apprun gpu",
    ]  # fmt: skip
    assert found.sections["files"] == [
        *(f"../../wheels/{f} /opt/envspec-wheels/{f}" for f, _ in value.layers),
        *(
            f"{name}.lock /opt/envspec-wheels/{name}.lock"
            for name in (
                *("checksums.debs-build", "checksums.debs", "checksums.extension-torch-scatter"),
                *("checksums.source", "checksums.tools", "requirements.build-torch-scatter"),
                *("requirements.framework", "requirements.packages"),
            )
        ),
    ]
    assert found.sections["labels"] == ["org.opencontainers.image.title demo"]
    assert found.sections["test"].count("status=0") == 1, "c1 alone: a build has no GPU"
    assert 'test "$status" -eq 0' in found.sections["test"]
    assert "export PYTHONPATH=/opt/src" in found.sections["environment"]
    post = commands(found.sections["post"])
    assert post[:2] == ["set -eu", "umask 022"]
    assert "--chdir=/opt/envspec-wheels/debs sha256sum --check" in post[2]
    assert " --no-install-recommends " in post[2]
    installs = [line for line in post if " pip install " in line]
    assert len(installs) == 4
    assert "/opt/build/dist torch-scatter && " in installs.pop(), "the wheel that was compiled"
    for line in installs:
        inner = words(line)[2].split(" && ")[0].split()
        assert {"--offline", "--no-index", "--no-deps", "--require-hashes"} <= set(inner)
    assert words(post[-1]) == ["rm", "-rf", "/opt/envspec-wheels"], "wheels do not stay"
    assert post.index("export OFFLINE=1") < post.index("env -- python setup.py build_ext")


def test_a_script_is_written_byte_for_byte() -> None:
    one = entry()
    assert one.script is not None
    post = read(apptainer(sample(entries=(one,)))).sections["post"]
    (line,) = (line for line in post if "base64 -d" in line)
    command, _, path = line.partition(" > ")
    assert words(path) == [f"{plan.ENTRIES}/smoke.py"]
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True, timeout=30)
    assert done.stdout == one.script.content
    assert base64.b64encode(one.script.content).decode() in command


def test_a_devel_image_is_refused() -> None:
    devel = plan.Base("nvidia/cuda:12.8.1-devel-ubuntu22.04", f"sha256:{'d' * 64}")
    with pytest.raises(DiagnosticError, match="E0603"):
        apptainer(sample(devel=devel))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a:1", "a"),
        ("localhost:5000/x/y:1", "localhost:5000/x/y"),
        ("localhost:5000/x", "localhost:5000/x"),
    ],
)
def test_a_digest_stands_alone(name: str, expected: str) -> None:
    value = sample(base=plan.Base(name, "sha256:" + "0" * 64))
    assert read(apptainer(value)).header["from"] == f"{expected}@sha256:{'0' * 64}"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from((*HOSTILE, *BRACES)), min_size=1, max_size=4))
def test_hostile_values_stay_values(texts: list[str]) -> None:
    one = entry(name=texts[0], argv=("x", *texts), environment=(("A", texts[-1]),), script=None)
    value = sample(
        spec=texts[0] or "spec.env",
        environment=(("B", texts[0]),),
        entries=(one,),
        steps=(*sample().steps[1:-1], plan.RunStep(texts[-1], ("x", *texts), 3)),
    )
    found = read(apptainer(value))
    plain = read(apptainer(sample(entries=(entry(script=None),), steps=value.steps)))
    names = [n for n in found.sections if not n.startswith("apprun")]
    assert names == [n for n in plain.sections if not n.startswith("apprun")]
    for name in names:
        assert len(found.sections[name]) == len(plain.sections[name]), name
    (app,) = (lines for name, lines in found.sections.items() if name.startswith("apprun"))
    assert words(app[1].removeprefix("exec ")) == started(value, one)
    step = commands(found.sections["post"])[-3]
    assert words(step) == ["env", "--", "x", *texts]
    (export,) = (e for e in found.sections["environment"] if e.startswith("export B="))
    assert words(export.removeprefix("export ")) == [f"B={texts[0]}"]


def test_a_build_argument_in_a_value_would_stop_apptainer() -> None:
    """The test above is worth something: unprotected braces are an error for the reader."""
    text = apptainer(sample(entries=(entry(argv=("x", "{{ y }}"), script=None),)))
    with pytest.raises(AssertionError, match="no build argument 'y'"):
        read(text.replace("{''{", "{{"))


@pytest.mark.parametrize(
    "changes",
    [
        {"project": "{{ x }}"},
        {"project": "x\n%post"},
        {"spec": "x\n%post"},
        {"environment": (("A B", "1"),)},
        {"base": plan.Base("a b", "sha256:0")},
        {"entries": (entry(environment=(("A;id", "1"),)),)},
        {"entries": (entry(argv=("x\ny",)),)},
        {"entries": (entry(script=plan.Script.of("s.py", b"x" * 50_000)),)},
    ],
)
def test_what_cannot_be_written_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DiagnosticError) as caught:
        apptainer(sample(**changes))
    assert caught.value.diagnostics[0].code == "E0603"


def test_a_section_that_apptainer_could_not_read_is_refused() -> None:
    """Each line is short enough; together they are longer than its reader's buffer."""
    scripts = (plan.Script.of(f"s{n}.py", b"%d" % n * 30_000) for n in range(2))
    several = tuple(entry(name=s.name, script=s, level="c3") for s in scripts)
    read(apptainer(sample(entries=several[:1])))
    with pytest.raises(DiagnosticError, match="`post`"):
        apptainer(sample(entries=several))
