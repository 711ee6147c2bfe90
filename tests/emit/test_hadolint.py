"""Dockerfiles are clean to hadolint, and so is what a shell runs in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from emit_sample import EXTENSION, file, sample

from envspec.emit.dockerfile import dockerfile
from envspec.plan import model as plan

ROOT = Path(__file__).parents[2]
COMMITTED = sorted(
    (
        *(ROOT / "generated").glob("*/Dockerfile"),
        *(ROOT / "tests" / "golden" / "outputs").glob("*/expected/Dockerfile"),
    )
)
DEVEL = plan.Base("nvidia/cuda:12.8.1-devel-ubuntu22.04", f"sha256:{'d' * 64}")
CUDA = plan.Accelerator("cuda", "12.8", "", ("sm_90",), "525.60.13")
PLAIN = tuple(
    s for s in sample().steps if not isinstance(s, (plan.InstallSystem, plan.BuildExtension))
)
RECORDED = EXTENSION._replace(wheel="torch_scatter-2.1.2-cp311.whl", sha256="e" * 64)
PLANS = {
    "every kind of step": sample(),
    "a devel image": sample(devel=DEVEL, devel_line=9),
    "CUDA": sample(accelerator=CUDA),
    "no compiler": sample(steps=PLAIN),
    "a recorded wheel": sample(
        steps=tuple(RECORDED if s is EXTENSION else s for s in sample().steps)
    ),
    # What a step's own shell does is its author's: with a pipe in it DL4006 would be right.
    "steps of many words": sample(
        steps=(
            *PLAIN,
            plan.RunStep("s", ("sh", "-c", "cd sub && make -j 2"), 31),
            plan.RunStep("t", ("env", "A=b c", "python", "-c", "print('x')"), 32),
        )
    ),
    "odd names": sample(
        project='"$x',
        spec="a b.env",
        steps=(*PLAIN[:-2], plan.UnpackSource(file("a'b.tgz"), plan.SOURCE, 4)),
    ),
}

# Rule → why a Dockerfile of ours may break it. None does.
IGNORED: dict[str, str] = {}


def complaints(text: str) -> list[str]:
    """What hadolint says of a Dockerfile: `line rule message`."""
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
        "hadolint"
    )
    if program is None:
        pytest.skip("hadolint is not installed; it is a wheel for x86-64 alone")
    argv = [program, "--no-color", "--format", "json", "--disable-ignore-pragma", "-"]
    done = subprocess.run(
        argv, input=text, capture_output=True, text=True, timeout=60, check=False, cwd="/"
    )
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    return [f"{f['line']} {f['code']} {f['message']}" for f in found if f["code"] not in IGNORED]


def for_a_shell(text: str) -> str:
    """The same Dockerfile with every command of a shell in the shell form, into which hadolint
    looks; only `-e` is lost by that."""

    def written(match: re.Match[str]) -> str:
        argv = json.loads(match.group(1))
        return str(argv[2]) if argv[:2] == ["sh", "-ec"] else match.group()

    return re.sub(r'(?m)(?<=^    )(\["sh", "-ec", .*\])$', written, text)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda p: p.parts[-2])
def test_committed_dockerfiles_are_clean(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert complaints(text) == []
    shells = for_a_shell(text)
    assert '["sh", "-ec"' in text
    assert '["sh", "-ec"' not in shells
    assert complaints(shells) == []


@pytest.mark.parametrize("name", PLANS)
def test_dockerfiles_with_every_kind_of_step_are_clean(name: str) -> None:
    text = dockerfile(PLANS[name])
    assert complaints(text) == []
    assert complaints(for_a_shell(text)) == []


def test_no_rule_is_switched_off_in_a_dockerfile() -> None:
    """An `ignore` line would silence the check for users as well; `IGNORED` is the one place."""
    for path in COMMITTED:
        assert "hadolint" not in path.read_text(encoding="utf-8")
    assert all(len(reason) > 20 for reason in IGNORED.values())


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ("@sha256:" + "a" * 64, "", "DL3006"),
        ("WORKDIR /opt/src", "WORKDIR opt/src", "DL3000"),
        ('CMD ["/opt/env/bin/python"]', "CMD /opt/env/bin/python", "DL3025"),
        (" AS installer", " AS wheels", "DL3024"),
        ("USER 65534:65534", "USER root", "DL3002"),
        (" /wheels/*.deb", " $x/*.deb", "SC2086"),
    ],
)
def test_a_slip_is_found(before: str, after: str, rule: str) -> None:
    """The tests above are worth something: hadolint looks at the places that matter."""
    text = for_a_shell(dockerfile(sample(base=sample().base._replace(name="python"))))
    assert before in text
    found = complaints(text.replace(before, after))
    assert rule in {f.split()[1] for f in found}, found
