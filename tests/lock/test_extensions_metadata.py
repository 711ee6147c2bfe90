"""What an archive says it requires, read from its files; hostile ones are refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from sdists import HERE, pack, pkg_info

from envspec.lock.extensions.metadata import UnreadableError, described, read
from envspec.lock.extensions.requirements import Need, WrongRequirementError, needed
from envspec.lock.request import Request

TARGET = Request("3.11", "linux/arm64", "2.28", ())
PROJECT = '[project]\nname = "ops"\nversion = "3.0"\ndependencies = ["from-toml"]\n'


@pytest.mark.parametrize(
    ("files", "requires"),
    [
        ({"PKG-INFO": pkg_info("ops", "1", ("a>1", "b"))}, ("a>1", "b")),
        ({"PKG-INFO": pkg_info("ops", "1", ("a",)), "requires.txt": "z\n"}, ("a",)),
        (
            {
                "PKG-INFO": pkg_info("ops", "1"),
                "requires.txt": "a>=1\n\n[:python_version < '3']\nb\n\n[test]\nc\n",
            },
            ("a>=1", "b ; python_version < '3'"),
        ),
        ({"PKG-INFO": pkg_info("ops", "1"), "pyproject.toml": PROJECT}, ("from-toml",)),
        ({"PKG-INFO": pkg_info("ops", "1")}, None),
        ({"PKG-INFO": pkg_info("ops", "1", metadata="2.2")}, ()),
        ({"PKG-INFO": pkg_info("ops", "1"), "egg-info": ""}, ()),
        (
            {"PKG-INFO": "Metadata-Version: 2.2\nName: o\nVersion: 1\nDynamic: Requires-Dist\n"},
            None,
        ),
        ({"pyproject.toml": '[project]\nname = "ops"\nversion = "1"\n'}, ()),
        ({"pyproject.toml": '[project]\nname = "ops"\ndynamic = ["dependencies"]\n'}, None),
        ({"pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'}, None),
        ({}, None),
    ],
)
def test_where_requirements_stand(files: dict[str, str], requires: tuple[str, ...] | None) -> None:
    """None where only a setup.py would tell: that is another thing than nothing."""
    assert described(files).requires == requires


def test_the_rest_that_is_read(tmp_path: Path) -> None:
    """Of files of one name, the one nearest to the top counts."""
    toml = '[build-system]\nrequires = ["setuptools>=61", "pybind11"]\n'
    toml += f'{PROJECT}requires-python = ">=3.9"\n'
    files = {
        "third_party/other/pyproject.toml": "not toml",
        "tests/PKG-INFO": pkg_info("wrong", "9"),
        "pyproject.toml": toml,
    }
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(pack(files))
    said = read(archive)
    assert said[:3] == ("ops", "3.0", ">=3.9")
    assert (said.requires, said.build) == (("from-toml",), ("setuptools>=61", "pybind11"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no archive", "damaged"),
        (pack({"PKG-INFO": "x" * 9000})[:-40], "damaged"),
        (gzip.compress(b"x" * 5000), "damaged"),
        (pack({"pyproject.toml": "= ["}), "not valid TOML"),
        (pack({"pyproject.toml": "a = " + "[" * 100_000}), "not valid TOML"),
        (pack({"pyproject.toml": "[build-system]\nrequires = 1\n"}), "no list of texts"),
        (pack({"pyproject.toml": "[project]\ndependencies = [1]\n"}), "no list of texts"),
        (pack({"PKG-INFO": b"x" * (5 << 20)}), "longer than 4 MiB"),
    ],
)
def test_unreadable(tmp_path: Path, data: bytes, said: str) -> None:
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(data)
    with pytest.raises(UnreadableError, match=said):
        read(archive)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("NumPy>=1.2,<3", Need("numpy", (), "<3,>=1.2")),
        ("a[Big,small]==1", Need("a", ("big", "small"), "==1")),
        ("a; python_version < '3.10'", None),
        ("a; python_full_version >= '3.11'", Need("a", (), "")),
        ("a; sys_platform == 'win32'", None),
        ("a; platform_machine == 'aarch64'", Need("a", (), "")),
        ("a; platform_machine == 'x86_64'", None),
        ("a; extra == 'test'", None),
        ("a; platform_release == ''", Need("a", (), "")),
        ("a @ https://example.org/a.zip ; os_name == 'nt'", None),
    ],
)
def test_markers_are_the_targets(line: str, found: Need | None) -> None:
    """Not this machine's: the target is another processor and perhaps another Python."""
    assert needed([line], TARGET) == ((found,) if found else ())


@pytest.mark.parametrize(
    "line",
    [
        "a @ https://example.org/a.zip",
        "a @ file:///etc/passwd",
        "--index-url x",
        "-e .",
        "a b",
        "",
        "a; nonsense == 'x'",
        "a" * 3000,
    ],
)
def test_a_wrong_requirement_is_refused(line: str) -> None:
    with pytest.raises(WrongRequirementError):
        needed([line], TARGET)


def test_this_python_is_a_target_too() -> None:
    assert needed([f"a; python_version == '{HERE}'"], TARGET._replace(python=HERE))
