"""The floors of the house, held by import-linter; and what `compile` may not pay for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "x-transformers"
HEAVY = ("docker", "rich", "torch", "requests", "urllib3", "pip", "pyright", "packaging", "uv")


def run(*argv: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in argv],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def contracts() -> list[dict[str, Any]]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return found


def test_every_contract_is_kept() -> None:
    done = run(Path(sys.executable).with_name("lint-imports"), "--no-cache", NO_COLOR="1")
    assert done.returncode == 0, done.stdout
    assert f"Contracts: {len(contracts())} kept, 0 broken." in done.stdout


def test_every_third_party_library_has_its_room() -> None:
    graph = grimp.build_graph("envspec", include_external_packages=True)
    outside = {m for m in graph.modules if not m.startswith("envspec")} - sys.stdlib_module_names
    held = {m for c in contracts() if c["type"] == "forbidden" for m in c["forbidden_modules"]}
    assert sorted(outside - held - {"tomli"}) == []


_ALONE = """
import importlib, os, sys, warnings
warnings.simplefilter("error")
names, running, failed = sys.argv[1:], {}, []
while names or running:
    if names and len(running) < 2:
        name = names.pop(0)
        if (child := os.fork()) == 0:
            try:
                importlib.import_module(name)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        running[child] = name
    else:
        child, status = os.wait()
        name = running.pop(child)
        if status:
            failed.append(name)
assert not any(m.startswith("envspec") for m in sys.modules), "the parent has to stay fresh"
print(" ".join(failed))
"""


def test_every_module_can_be_imported_alone() -> None:
    """Each in a process of its own, forked from one that has imported nothing yet."""
    files = sorted((ROOT / "envspec").rglob("*.py"))
    names = [".".join(f.relative_to(ROOT).with_suffix("").parts) for f in files]
    names = [n.removesuffix(".__init__") for n in names if not n.endswith("__main__")]
    assert len(names) > 60
    done = run(sys.executable, "-c", _ALONE, *names)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "", done.stderr


_COMPILE = """
import json, sys
sys.argv = ["envspec", *sys.argv[1:]]
from envspec.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)))
"""


def test_compile_loads_nothing_heavy(tmp_path: Path) -> None:
    argv = ("compile", "--frozen", EXAMPLE / "spec.env", "-o", tmp_path / "out")
    done = run(sys.executable, "-c", _COMPILE, *argv)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "Dockerfile").is_file()
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert {"lark", "jinja2", "click"} <= loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_help_loads_no_verb() -> None:
    done = run(sys.executable, "-c", _COMPILE, "--help")
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert (
        sorted(m for m in loaded if re.match(r"lark|jinja2|envspec\.(pipeline|lock|emit)", m)) == []
    )


@pytest.mark.parametrize("verb", ["check", "compile", "lock"])
def test_hash_seed_changes_no_output(verb: str, tmp_path: Path) -> None:
    """`--help` of a verb is text from tables; so is everything else that is printed."""
    texts = {
        run(sys.executable, "-m", "envspec", verb, "--help", PYTHONHASHSEED=seed).stdout
        for seed in "012"
    }
    assert len(texts) == 1
    assert "Usage" in texts.pop()
