"""The files for editors and for pre-commit say what the language and the command line say."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from envspec import __version__
from envspec.language.statements import WORDS, words_in

ROOT = Path(__file__).parents[2]
VSCODE = ROOT / "editors" / "vscode"
UGLY = "envspec 1\npackages { torch   ==1.0 }\n"
GOOD = """envspec 1

project demo {
  source archive "demo-1.0.tar.gz" sha256 "%s" from pypi
}

platform linux/amd64 {
  base   "python:3.11-slim-bookworm"
  python 3.11
}
""" % ("0" * 64)
NEAT = "envspec 1\n\npackages {\n  torch ==1.0\n}\n"


def generator() -> ModuleType:
    place = importlib.util.spec_from_file_location("generate", VSCODE / "generate.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VSCODE / name).read_text(encoding="utf-8"))
    return found


def rules(node: object) -> Iterator[dict[str, Any]]:
    """Every object of a grammar."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from rules(value)
    elif isinstance(node, list):
        for value in node:
            yield from rules(value)


def test_the_textmate_grammar_is_fresh() -> None:
    committed = (VSCODE / "envspec.tmLanguage.json").read_text(encoding="utf-8")
    assert committed == generator().text(), "run `python editors/vscode/generate.py`"


def test_every_word_of_the_table_is_in_it() -> None:
    grammar = read("envspec.tmLanguage.json")
    top = {rule.get("begin") for rule in grammar["patterns"]}
    for word in (*WORDS, *words_in("claims").values()):
        if word.word == "NAME":
            continue
        block = grammar["repository"].get(f"block-{word.inside}", {}).get("patterns", [])
        begins = {rule.get("begin") for rule in block} if word.inside else top
        assert rf"(?:{re.escape(word.word)})(?![^\s\"{{}}#])".replace('\\"', '"') in begins


def test_it_includes_nothing_that_is_not_there_and_every_pattern_is_one() -> None:
    grammar = read("envspec.tmLanguage.json")
    for rule in rules(grammar):
        if "include" in rule:
            assert rule["include"].removeprefix("#") in grammar["repository"]
        for key in ("match", "begin", "end"):
            if isinstance(rule.get(key), str):
                re.compile(rule[key].removeprefix(r"\G"))


def test_the_folder_is_an_extension() -> None:
    package = read("package.json")
    assert package["version"] == __version__
    (language,) = package["contributes"]["languages"]
    (grammar,) = package["contributes"]["grammars"]
    assert language["id"] == grammar["language"] == "envspec"
    assert language["filenames"] == ["spec.env"]
    assert language["filenamePatterns"] == ["*.spec.env"]
    for name in (language["configuration"], grammar["path"]):
        assert (VSCODE / name).is_file()
    assert read("envspec.tmLanguage.json")["scopeName"] == grammar["scopeName"]
    configuration = read("language-configuration.json")
    for pattern in (configuration["wordPattern"], *configuration["indentationRules"].values()):
        re.compile(pattern)


def hooks() -> dict[str, dict[str, str]]:
    """The hooks by id. The file keeps to `key: value` lines, so no YAML reader is needed."""
    found: dict[str, dict[str, str]] = {}
    hook: dict[str, str] = {}
    for line in (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"(?:- |  )([a-z_]+): (.+)", line)
        if match is None:
            assert not line or line.startswith("# ")
            continue
        if line.startswith("- "):
            hook = found[match[2]] = {}
        hook[match[1]] = match[2]
    return found


def run_hook(home: Path, hook: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a hook as pre-commit does: its entry, and behind it the files of git that it is for."""
    listed = subprocess.run(["git", "ls-files"], cwd=home, capture_output=True, check=True)
    names = [n for n in listed.stdout.decode().splitlines() if re.search(hook["files"], n)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [*shlex.split(hook["entry"]), *names],
        cwd=home,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A git repository with specs in two places, and files that are none."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    (tmp_path / "sub").mkdir()
    (tmp_path / "spec.env").write_text(GOOD)
    (tmp_path / "sub" / "my.spec.env").write_text(UGLY)
    for name in (".env", "myspec.env", "spec.env.orig"):
        (tmp_path / name).write_text("A=1   \n")
    for argv in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *argv], cwd=tmp_path, check=True)
    return tmp_path


def test_the_hooks_are_complete() -> None:
    assert set(hooks()) == {"envspec-fmt", "envspec-check"}
    for hook in hooks().values():
        assert {"name", "description", "entry", "files"} <= set(hook)
        assert (hook["language"], hook["types"]) == ("python", "[text]")


def test_the_fmt_hook_changes_specs_and_nothing_else(home: Path) -> None:
    done = run_hook(home, hooks()["envspec-fmt"])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "spec.env: unchanged\nsub/my.spec.env: formatted\n"
    assert (home / "sub" / "my.spec.env").read_text() == NEAT
    changed = subprocess.run(
        ["git", "diff", "--name-only"], cwd=home, capture_output=True, text=True, check=True
    )
    assert changed.stdout == "sub/my.spec.env\n"


def test_the_check_hook_fails_for_a_spec_with_errors_and_for_no_other(home: Path) -> None:
    done = run_hook(home, hooks()["envspec-check"])
    assert done.returncode == 1
    assert "--> sub/my.spec.env:" in done.stderr
    assert "--> spec.env:" not in done.stderr
    subprocess.run(["git", "rm", "--force", "--quiet", "sub/my.spec.env"], cwd=home, check=True)
    done = run_hook(home, hooks()["envspec-check"])
    assert done.returncode == 0, done.stderr
