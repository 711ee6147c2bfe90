"""A plan with every kind of step, and ways to read back what was emitted."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from typing import Any

import dockerfile
import pytest

from envspec.plan import model as plan

# Text that breaks out of one kind of quoting or another.
HOSTILE = (
    "", " ", "plain", '"', "'", "\\", "\\\\", '\\"', "\\$", "$HOME", "${HOME}", "$$", "$${x}",
    "''${x}", "$(id)", "`id`", "a b", "a=b", "#", "# x", "<<EOF", "<<-EOF", "[", "]", '"]',
    '", "x', "{}", "{{ x }}", "{% raw %}", "%s", "*", "~", ";", "&&", "|", "-", "--",
    "--mount=type=bind", "\\n", "\\u000a", "é", "字", "𝒳", "e\u0301", "x\\", "ends with \\",
    "RUN id", "syntax=x", "escape=`", "/*", "*/", "''", "<nixpkgs>", "''\\n", "\\''", "a" * 500,
)  # fmt: skip
CONTROL = tuple(map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029, 0xD800, 0xDFFF)))


def file(name: str, index: str = "pypi") -> plan.File:
    return plan.File(index, name, hashlib.sha256(name.encode()).hexdigest(), 1000)


def wheel(name: str, version: str = "1.0", index: str = "pypi") -> plan.Wheel:
    return plan.Wheel(name, version, file(f"{name}-{version}-py3-none-any.whl", index))


def deb(name: str, version: str = "1.0-1") -> plan.Deb:
    return plan.Deb(name, version, file(f"{name}_{version}_amd64.deb", "debian"))


EXTENSION = plan.BuildExtension(
    "torch-scatter",
    "2.1.2",
    file("torch_scatter-2.1.2.tar.gz"),
    (wheel("setuptools", "80.0"), wheel("torch", "2.9.1+cpu", "pytorch-cpu")),
    (("MAX_JOBS", "2"), ("SOURCE_DATE_EPOCH", "315532800")),
    ("torch_scatter",),
    "",
    "",
    25,
)


def sample(**changes: Any) -> plan.Plan:
    """A plan; ``changes`` replace its fields."""
    base = plan.Plan(
        project="demo",
        spec="spec.env",
        platform="linux/amd64",
        base=plan.Base("python:3.11-slim", "sha256:" + "a" * 64),
        base_line=8,
        python="3.11",
        glibc="2.28",
        accelerator=plan.Accelerator("none", "", "", ()),
        nixpkgs=plan.Nixpkgs("NixOS", "nixpkgs", "b" * 40, "sha256-" + "A" * 43 + "=", 1700000000),
        installer=wheel("uv", "0.9.0"),
        steps=(
            plan.InstallSystem(("libgl1",), 20, "runtime", (deb("libgl1"), deb("libglvnd0"))),
            plan.InstallSystem(("g++",), 21, "build", (deb("g++"), deb("libc6-dev"))),
            plan.CreateEnvironment(plan.PREFIX, "3.11", 9),
            plan.InstallWheels("framework", (wheel("torch", "2.9.1+cpu", "pytorch-cpu"),), 14),
            plan.InstallWheels("packages", (wheel("einops"), wheel("tqdm")), 15),
            EXTENSION,
            plan.UnpackSource(file("demo-1.0.tar.gz", ""), plan.SOURCE, 4),
            plan.RunStep("build", ("python", "setup.py", "build_ext"), 30),
        ),
        environment=(("OFFLINE", "1"),),
        import_roots=(plan.SOURCE,),
        entries=(),
        optional_imports=(),
        claims=(),
    )
    return base._replace(**changes)


def entry(**changes: Any) -> plan.Entry:
    """An entry; ``changes`` replace its fields."""
    argv = ("python", f"{plan.ENTRIES}/smoke.py", "--steps", "1")
    script = plan.Script.of("smoke.py", b"print('\xff')\n")
    base = plan.Entry("smoke", "c1", argv, script, 90, 1, (("SEED", "0"),), False, 40)
    return base._replace(**changes)


def instructions(text: str) -> list[dockerfile.Command]:
    """What BuildKit's own parser makes of a Dockerfile."""
    return list(dockerfile.parse_string(text))


def unquoted(word: str) -> str:
    r"""A double-quoted word as BuildKit reads it: \", \$ and \\ are escapes, $ expands."""
    assert word[0] == word[-1] == '"', word
    inside = word[1:-1]
    assert not re.search(r'(?<!\\)(?:\\\\)*["$]', inside), f"{word} ends early or expands"
    return re.sub(r'\\(["$\\])', r"\1", inside)


def nix(*argv: str, text: str) -> str:
    """What `nix-instantiate` says of a text; skips where it is not installed."""
    if shutil.which("nix-instantiate") is None:
        pytest.skip("nix-instantiate is not installed; on Debian and Ubuntu: apt install nix-bin")
    done = subprocess.run(
        ["nix-instantiate", *argv, "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def nix_values(expression: str) -> Any:
    """A Nix expression as data."""
    return json.loads(nix("--eval", "--strict", "--json", text=expression))
