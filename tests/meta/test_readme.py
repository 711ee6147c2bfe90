"""What README shows can be typed: every verb and option exists, and every finding is drawn so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from envspec import render
from envspec.cli.verbs import cli
from envspec.pipeline.check import of_text
from envspec.source import SourceFile

TEXT = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"^(envspec [a-z].+?)(?:\s+#.*)?$", TEXT, re.MULTILINE)))
SPEC = """\
envspec 1

project lab {
  source archive "lab-1.0.tar.gz" sha256 "%s"
}

platform linux/amd64 {
  base   "python:3.11-slim-bookworm"
  python 3.11
}

accelerator cuda 13.0 {
  driver >=550
  gpus   sm_80 sm_90
}

packages {
  torch       ==2.11.0
  jax[cuda12] ==0.8.2
}
"""


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_exist(line: str) -> None:
    _, verb, *argv = shlex.split(line)
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None, verb
    known = {option for p in command.params for option in p.opts}
    assert {word for word in argv if word.startswith("-")} <= known


def test_every_verb_is_there() -> None:
    shown = {line.split()[1] for line in COMMANDS} | set(re.findall(r"`envspec (\w+)", TEXT))
    assert set(cli.list_commands(click.Context(cli))) <= shown


def test_the_findings_are_drawn_as_shown() -> None:
    drawn = render.text(of_text(SourceFile("spec.env", SPEC % ("a" * 64))))
    assert drawn.strip() in TEXT
