"""Pages of indexes and names of files, as they come from strangers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.lock.listing import (
    IndexFile,
    local_path,
    parse,
    projects_of,
    read_folder,
    safe_name,
)

SHA = "0f" * 32
BASE = "https://index.example/simple/lib/"


def test_json() -> None:
    body = {
        "files": [
            {
                "filename": "lib-1.0-py3-none-any.whl",
                "url": "../../f/lib-1.0-py3-none-any.whl",
                "hashes": {"sha256": SHA.upper(), "md5": "x"},
                "size": 7,
                "requires-python": ">=3.8",
                "yanked": "broken",
            },
            {"filename": "../x.whl", "url": "x"},
            {"filename": "lib-2.0.tar.gz", "url": "http://["},
            {"filename": "lib-3.0.tar.gz", "url": "x", "hashes": [], "size": -1, "yanked": False},
            {"filename": 3, "url": "x"},
            "text",
        ]
    }
    assert parse(json.dumps(body).encode(), "application/vnd.pypi.simple.v1+json", BASE) == (
        IndexFile(
            "lib-1.0-py3-none-any.whl",
            "https://index.example/f/lib-1.0-py3-none-any.whl",
            SHA,
            7,
            ">=3.8",
            True,
        ),
        IndexFile("lib-3.0.tar.gz", BASE + "x", "", 0, "", False),
    )


def test_html() -> None:
    body = (
        f'<base href="/files/"><a href="lib-1.0%2Bcpu-py3-none-any.whl#sha256={SHA}" '
        'data-requires-python="&gt;=3.8" data-yanked>x</a><a>no</a>'
        '<a href="lib-2.0.tar.gz#md5=00">y</a><a href="http://[">z</a>'
        '<a href="-r.txt">q</a><A HREF="a/../lib-3.0.zip">r</A>'
    )
    assert parse(body.encode(), "text/html; charset=utf-8", BASE) == (
        IndexFile(
            "lib-1.0+cpu-py3-none-any.whl",
            "https://index.example/files/lib-1.0%2Bcpu-py3-none-any.whl",
            SHA,
            0,
            ">=3.8",
            True,
        ),
        IndexFile("lib-2.0.tar.gz", "https://index.example/files/lib-2.0.tar.gz", "", 0, "", False),
        IndexFile("lib-3.0.zip", "https://index.example/files/lib-3.0.zip", "", 0, "", False),
    )


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["text/html", "application/json"]))
def test_any_bytes(body: bytes, kind: str) -> None:
    """Whatever a server sends, the answer is files with safe names or a ValueError."""
    try:
        files = parse(body, kind, BASE)
    except ValueError:
        return
    assert all(safe_name(file.filename) for file in files)


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "b-1.0.tar.gz").write_bytes(b"123")
    (tmp_path / "a b.whl").write_bytes(b"")
    (tmp_path / "sub").mkdir()
    files = read_folder(tmp_path)
    assert [(f.filename, f.size) for f in files] == [("a b.whl", 0), ("b-1.0.tar.gz", 3)]
    assert local_path(files[0].url) == tmp_path / "a b.whl"


@pytest.mark.parametrize(
    ("file", "projects"),
    [
        ("x_transformers-2.31.10.tar.gz", ("x-transformers",)),
        ("x-transformers-2.31.10.tar.gz", ("x-transformers", "x")),
        ("Zope.Interface-1.0-1.zip", ("zope-interface-1-0", "zope-interface")),
        ("torch-2.0+cpu-cp311-cp311-linux_x86_64.whl", ("torch",)),
        ("noversion.tgz", ("noversion",)),
        ("---", ()),
    ],
)
def test_projects_of_a_file(file: str, projects: tuple[str, ...]) -> None:
    assert projects_of(file) == projects


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "a/b", "a\\b", "-a", "a\nb", "a\x00", "a\u202eb", "x" * 256]
)
def test_unsafe_names(name: str) -> None:
    assert not safe_name(name)
