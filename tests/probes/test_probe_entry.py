"""C1: how an entry failed and in whose code, read from what it wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from probe_host import Probe

MODEL = """
class Model:
    def __init__(self, width):
        self.width = width

    def forward(self, x):
        return x

def outer():
    def inner(a):
        return a
    return inner
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "model.py").write_text(MODEL)
    library = tmp_path / "lib" / "site-packages"
    library.mkdir(parents=True)
    (library / "vendor.py").write_text(
        "def call(n):\n    return n\n\n"
        "class Layer:\n    def __init__(self, a):\n        self.a = a\n\n"
        "def deep():\n    call(1, 2, 3)\n"
    )
    return tmp_path / "repo"


def run(probe: Probe, repository: Path, code: str, **config: Any) -> dict[str, Any]:
    (repository / "main.py").write_text(code)
    return probe(
        "c1_entry",
        argv=[sys.executable, "main.py"],
        cwd=str(repository),
        environment={"PYTHONPATH": str(repository.parent / "lib" / "site-packages")},
        source_roots=[str(repository)],
        **config,
    )


def test_a_good_entry(probe: Probe, repository: Path) -> None:
    observed = run(probe, repository, "print('x' * 10)\nblock = b'y' * (64 << 20)")
    assert observed["exit_code"] == 0
    assert observed["exception"] is None
    assert observed["stdout"] == "x" * 10 + "\n"
    assert observed["peak_rss_kb"] > 64 << 10
    assert observed["killed"] is False
    assert observed["innermost"] == "unknown"


def test_what_is_expected_is_looked_for(probe: Probe, repository: Path) -> None:
    mark = f"envspec-{repository.parent.name}"
    code = (
        f"import os, sys\nopen('/tmp/{mark}', 'w').close()\nos.makedirs('/tmp/{mark}-folder')\n"
        "print('step 1')\nprint('loss 0.25')\nsys.stderr.write('warned\\n')"
    )
    try:
        observed = run(
            probe,
            repository,
            code,
            expect_files=[mark, f"{mark}-folder", "no-such"],
            expect_output=[r"^loss [0-9.]+$", "warned", "^loss$", "step 2"],
        )
    finally:
        Path("/tmp", mark).unlink(missing_ok=True)
        Path("/tmp", f"{mark}-folder").rmdir()
    assert observed["files"] == {mark: True, f"{mark}-folder": False, "no-such": False}
    assert observed["output"] == {
        "^loss [0-9.]+$": True, "warned": True, "^loss$": False, "step 2": False,
    }  # fmt: skip


def test_c3_and_c4_entries_are_served_too(probe: Probe, repository: Path) -> None:
    for name in ("c3_entry", "c4_entry"):
        config: dict[str, Any] = {"argv": [sys.executable, "-c", ""], "cwd": str(repository)}
        document = probe("c1_entry", raw=True, **{**config, "probe": name})
        assert document["probe"] == name
        assert document["observed"]["exit_code"] == 0


@pytest.mark.parametrize(
    ("code", "kind", "place", "missing"),
    [
        ("import nowhere.deep", "ModuleNotFoundError", "repository", "nowhere"),
        ("import json\njson.loads('{')", "json.decoder.JSONDecodeError", "stdlib", None),
        ("import vendor\nvendor.deep()", "TypeError", "library", None),
        ("1/0", "ZeroDivisionError", "repository", None),
        ("def f(:\n", "SyntaxError", "repository", None),
        ("raise KeyError", "KeyError", "repository", None),
        ("exec('1/0')", "ZeroDivisionError", "unknown", None),
        (
            "try:\n  import nowhere\nexcept ImportError as e:\n  raise ValueError from e",
            "ValueError",
            "repository",
            None,
        ),
    ],
)
def test_the_exception_and_whose_code_raised_it(
    probe: Probe, repository: Path, code: str, kind: str, place: str, missing: str | None
) -> None:
    observed = run(probe, repository, code)
    assert observed["exit_code"] == 1
    assert observed["exception"]["type"] == kind
    assert observed["innermost"] == place
    assert observed["missing_module"] == missing


@pytest.mark.parametrize(
    ("code", "kind", "inside"),
    [
        ("from model import Model\nModel(width=1, depth=2)", "unexpected_keyword", True),
        ("from model import Model\nModel()", "missing_required", True),
        ("from model import Model\nModel(1).forward(1, 2)", "positional_count", True),
        ("from model import Model\nModel(1, width=1)", "multiple_values", True),
        ("import vendor\nvendor.Layer(b=2)", "unexpected_keyword", False),
        ("import vendor\nvendor.deep()", "positional_count", False),
        ("from model import outer\nouter()(1, 2)", "positional_count", True),
        ("raise TypeError('forward() is odd')", None, None),
    ],
)
def test_calls_that_do_not_fit(
    probe: Probe, repository: Path, code: str, kind: str | None, inside: bool | None
) -> None:
    """The benchmark's lesson: a repository that calls its own model wrongly is not a broken
    environment; a library that takes other arguments than the repository gives is."""
    call = run(probe, repository, code)["call_error"]
    assert (call and call["kind"], call and call["callee_in_source"]) == (kind, inside)


def test_python_m_without_the_module(probe: Probe, repository: Path) -> None:
    for name in ("nowhere", "nowhere.tool"):
        argv = [sys.executable, "-m", name]
        observed = probe("c1_entry", argv=argv, cwd=str(repository))
        assert observed["exit_code"] == 1
        assert observed["exception"] is None
        assert observed["missing_module"] == "nowhere"


def test_a_traceback_that_was_survived_is_shown_beside_exit_0(
    probe: Probe, repository: Path
) -> None:
    code = "import traceback\ntry:\n  1/0\nexcept ZeroDivisionError:\n  traceback.print_exc()"
    observed = run(probe, repository, code)
    assert observed["exit_code"] == 0
    assert observed["exception"]["type"] == "ZeroDivisionError"


def test_the_last_exception_of_a_spawned_worker(probe: Probe, repository: Path) -> None:
    code = """
import sys
sys.stderr.write('''Traceback (most recent call last):
  File "main.py", line 1, in <module>
    spawn()
spawn.ProcessRaisedException:

-- Process 0 terminated with the following error:
Traceback (most recent call last):
  File "model.py", line 3, in train
    step()
model.Broken: first
second line
''')
sys.exit(1)
"""
    exception = run(probe, repository, code)["exception"]
    assert exception["type"] == "model.Broken"
    assert exception["message"] == "first\nsecond line"
    frame = {"file": "model.py", "line": 3, "function": "train", "code": "step()"}
    assert exception["frames"] == [frame]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups came with Python 3.11")
def test_an_exception_group_gives_its_last_member(probe: Probe, repository: Path) -> None:
    code = "def f():\n  1/0\ntry:\n  f()\nexcept Exception as e:\n  raise ExceptionGroup('g', [e])"
    exception = run(probe, repository, code)["exception"]
    assert exception["type"] == "ZeroDivisionError"
    assert [f["function"] for f in exception["frames"]] == ["<module>", "f"]


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\n",
        "Traceback (most recent call last):\n" * 3000,
        "Traceback (most recent call last):\nwarning here\n",
        '  File "x", line 1\n' * 5000,
        'Traceback (most recent call last):\n  File "x", line 99999999999999999999, in y\n',
    ],
)
def test_a_torn_traceback_is_no_exception(probe: Probe, repository: Path, text: str) -> None:
    observed = run(probe, repository, f"import sys; sys.stderr.write({text!r}); sys.exit(1)")
    assert observed["exception"] is None
    assert observed["exit_code"] == 1


@pytest.mark.parametrize(
    ("argv", "cwd"), [(["/nonexistent/python"], "."), ([sys.executable], "/nonexistent")]
)
def test_an_entry_that_cannot_be_started(
    probe: Probe, repository: Path, argv: list[str], cwd: str
) -> None:
    observed = probe("c1_entry", argv=argv, cwd=str(repository / cwd))
    assert observed["start_error"]["type"] == "FileNotFoundError"
    ending = (observed["exit_code"], observed["signal"], observed["timed_out"])
    assert ending == (None, None, False)
