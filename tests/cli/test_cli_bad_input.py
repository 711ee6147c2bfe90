"""What a user is told of a bad spec, a bad lock and a bad index; nothing is written meanwhile."""

from __future__ import annotations

import json
import shlex
import socket
from pathlib import Path

import pytest
from local_index import make_wheel
from user_room import Room, tar

from envspec.lock.uvrun import uv_version

VERBS = (["check"], ["compile"], ["verify", "--engine", "local"])


@pytest.mark.parametrize("argv", VERBS, ids=lambda argv: argv[0])
def test_every_syntax_error_at_once(room: Room, argv: list[str]) -> None:
    text = room.spec.read_text()
    for old, new in (
        ("python 3.11", 'python "3.11'),
        ("tiny >=1", 'tiny >=1 because "\\n"'),
        ("level   c1", "level   \x1b[31mc1"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    room.spec.write_text(text)
    before = room.snapshot()
    found = room.findings(*argv)
    lines = [room.at(words)[0] for words in ('"3.11', "\\n", "\x1b[31m")]
    assert sorted({d["labels"][0]["line"] for d in found}) == lines
    assert {d["code"] for d in found} <= {"E0101", "E0102", "E0103", "E0104"}
    assert all(d["hint"] for d in found)
    done = room.run(*argv)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("error[E01") == len(found)
    assert [f"spec.env:{line}:" in done.stderr for line in lines] == [True] * 3
    assert "\x1b" not in done.stderr
    room.nothing_left(before)


@pytest.mark.parametrize("argv", VERBS, ids=lambda argv: argv[0])
def test_e0201_an_unknown_word(room: Room, argv: list[str]) -> None:
    room.write(more="packges {\n}")
    assert "packages" in room.refused(*argv, code="E0201", at="packges")["hint"]


def test_e0202_a_duplicate_points_at_both_places(room: Room) -> None:
    room.write("tiny >=1\n  Tiny ==1.0")
    found = room.refused("compile", code="E0202", at="Tiny ==1.0")
    first, second = ((label["line"], label["column"]) for label in found["labels"])
    assert (first, second) == (room.at("Tiny"), room.at("tiny"))


def test_errors_of_shape_and_of_meaning_are_all_told(room: Room) -> None:
    room.write("tiny >=1\n  tiny >=1\n  other =>2", more="wrong {\n}")
    codes = {d["code"] for d in room.findings("lock")}
    assert {"E0201", "E0202", "E0203"} <= codes


@pytest.mark.parametrize("argv", [["compile", "--frozen"], ["compile", "--check"], ["fetch"]])
def test_e0401_no_lock(room: Room, argv: list[str]) -> None:
    assert "envspec lock" in room.refused(*argv, code="E0401", at="project")["hint"]


def test_e0401_verify_frozen(room: Room) -> None:
    argv = ("verify", "--frozen", "--engine", "local")
    assert "envspec lock" in room.refused(*argv, code="E0401", at="project")["hint"]


@pytest.mark.parametrize("argv", [["compile"], ["fetch"], ["verify", "--engine", "local"]])
def test_e0402_a_stale_lock(room: Room, argv: list[str]) -> None:
    room.good("lock")
    room.write("tiny >=0.5")
    found = room.refused(*argv, code="E0402", at="tiny >=0.5")
    assert ">=1" in found["cause"]
    assert "envspec lock" in found["hint"]


def test_e0407_a_torn_lock(room: Room) -> None:
    room.good("lock")
    lock = room.home / "spec.lock"
    lock.write_text(lock.read_text()[:-40])
    found = room.findings("compile")[0]
    assert (found["code"], found["file"]) == ("E0407", "spec.lock")
    assert found["hint"]
    assert not (room.home / "generated").exists()


def test_e0502_other_bytes_than_locked_are_kept_aside_and_named(room: Room) -> None:
    room.good("lock")
    honest = room.index.projects["tiny"][0]
    room.index.projects["tiny"] = [honest._replace(data=b"something else")]
    for argv in (["fetch"], ["verify", "--engine", "local"]):
        found = room.refused(*argv, code="E0502", at="tiny >=1")
        assert honest.sha256 in found["cause"]
        kept = Path(found["cause"].rpartition(" kept at ")[2])
        assert kept.read_bytes() == b"something else"
        assert kept.is_relative_to(room.cache)
    room.index.projects["tiny"] = [honest]
    room.good("fetch")


def test_e0502_the_source_archive_is_not_the_one_named(room: Room) -> None:
    room.good("lock")
    tar(room.home / "demo-1.0.tar.gz", {"demo.py": "import os\n"})
    changed = (room.home / "demo-1.0.tar.gz").read_bytes()
    for argv in (["lock"], ["fetch"], ["verify", "--engine", "local"]):
        found = room.refused(*argv, code="E0502", at="source archive")
        assert room.archive in found["cause"]
    assert (room.home / "demo-1.0.tar.gz").read_bytes() == changed


def test_e0502_a_file_in_the_store_that_was_changed_is_fetched_again(room: Room) -> None:
    room.good("lock")
    room.good("fetch")
    (stored,) = room.cache.glob("store/sha256/*/*/tiny-*.whl")
    honest = stored.read_bytes()
    stored.unlink()
    stored.write_bytes(b"rotten")
    room.good("fetch")
    assert stored.read_bytes() == honest
    assert [p.read_bytes() for p in room.cache.glob("store/rejected/*")] == [b"rotten"]


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
def test_e0403_a_package_that_does_not_exist(room: Room, resolver: str) -> None:
    room.write("tiny >=1\n  absent-thing")
    argv = ("compile", "--resolver", resolver)
    found = room.refused(*argv, code="E0403", at="absent-thing")
    assert "absent-thing" in found["title"]
    assert "spelling" in found["hint"]


def test_e0403_a_release_that_does_not_exist(room: Room) -> None:
    room.write("tiny >=7")
    assert "1.0" in room.refused("lock", code="E0403", at="tiny >=7")["cause"]


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("cp312-cp312-manylinux_2_28_x86_64", "cp312"),
        ("cp311-cp311-win_amd64", "win_amd64"),
        ("py3-none-manylinux_2_39_x86_64", "manylinux_2_39"),
        ("", "only a source archive"),
    ],
    ids=["python", "platform", "glibc", "sdist"],
)
def test_e0404_no_wheel_for_the_target(room: Room, tag: str, said: str) -> None:
    wheel = make_wheel("picky", "1.0", tag=tag or "py3-none-any")
    room.index.projects["picky"] = [wheel if tag else wheel._replace(name="picky-1.0.tar.gz")]
    room.write("tiny >=1\n  picky ==1.0")
    found = room.refused("verify", "--engine", "local", code="E0404", at="picky ==1.0")
    assert "Python 3.11 on linux/amd64" in found["title"]
    assert said in found["cause"]


def test_e0405_requirements_that_exclude_each_other(room: Room) -> None:
    room.index.add(make_wheel("base", "1.0"), make_wheel("base", "2.0"))
    room.index.add(make_wheel("needy", "1.0", requires=("base<2",)))
    room.write("base >=2\n  needy")
    found = room.refused("lock", code="E0405", at="base >=2")
    assert "`needy` requires `base<2`" in found["title"]


@pytest.fixture
def closed_port() -> str:
    """An address of this machine at which nothing listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listening.getsockname()[1]}/simple"


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
def test_e0501_an_index_that_does_not_answer(room: Room, closed_port: str, resolver: str) -> None:
    room.variables["ENVSPEC_INDEX_PYPI"] = closed_port
    found = room.refused("lock", "--resolver", resolver, code="E0501", at="tiny >=1")
    assert "ENVSPEC_INDEX_PYPI" in found["hint"]
    assert "127.0.0.1" not in json.dumps(found)


def test_e0501_a_declared_index_that_does_not_answer(room: Room, closed_port: str) -> None:
    room.write("tiny >=1\n  hidden from lab", more=f'index lab "{closed_port}"')
    found = room.refused("lock", code="E0501", at="hidden from lab")
    assert "`lab`" in found["title"]
    assert "ENVSPEC_INDEX_LAB" in found["hint"]


def test_e0501_the_index_is_gone_when_a_file_is_fetched(room: Room, closed_port: str) -> None:
    room.good("lock")
    room.good("fetch", "-o", "elsewhere")
    (stored,) = room.cache.glob("store/sha256/*/*/tiny-*.whl")
    stored.unlink()
    room.variables["ENVSPEC_INDEX_PYPI"] = closed_port
    room.refused("verify", "--engine", "local", code="E0501", at="tiny >=1")
    # What needs no index still works.
    room.good("compile", "--frozen")


def test_e0902_a_path_that_does_not_exist(room: Room) -> None:
    for argv in VERBS:
        found = room.refused(*argv, "no/where.env", code="E0902", spec="no/where.env")
        assert "no such file" in found["title"]


def test_a_folder_instead_of_a_spec(room: Room) -> None:
    before = room.snapshot()
    for argv in VERBS:
        done = room.run(*argv, ".")
        assert done.returncode == 2  # a usage error, as click has it
        assert "directory" in done.stderr
    room.nothing_left(before)


def test_a_project_name_for_a_shell_is_refused(room: Room) -> None:
    room.project = "$(touch-pwned)"
    room.write()
    found = room.refused("compile", code="E0203", at="$(touch")
    assert "project" in json.dumps(found)


def test_e0902_a_file_name_with_a_line_of_its_own(room: Room) -> None:
    name = "new\nRUN touch pwned.env"
    room.spec.rename(room.home / name)
    before = room.snapshot()
    done = room.run("compile", name)
    assert done.returncode == 1
    assert "error[E0902]" in done.stderr
    assert "--> new\\u{a}RUN touch pwned.env:1:1\n" in done.stderr
    assert "hint: rename" in done.stderr
    room.nothing_left(before)


@pytest.mark.parametrize("name", ['it\'s "$(touch pwned)" `touch pwned`;  &', "-o x"])
def test_names_of_folder_and_spec_that_a_shell_would_act_on(room: Room, name: str) -> None:
    folder = room.home / name
    folder.mkdir()
    for file in ("demo-1.0.tar.gz", "smoke.py"):
        (room.home / file).rename(folder / file)
    spec = room.spec.rename(folder / f"{name}.env")
    argument = f"./{spec.relative_to(room.home)}"
    room.good("compile", argument, "-o", f"./{name}/out")
    text = (folder / "out" / "Dockerfile").read_text()
    runs = [line for line in text.splitlines() if line.startswith("RUN")]
    assert len(runs) > 3
    assert all(line.startswith("RUN --network=none ") for line in runs)
    # The hint is a command for a shell: it has to name the same file there.
    spec.write_text(spec.read_text().replace("tiny >=1", "tiny >=0.9"))
    hint = room.findings("compile", argument, "-o", f"./{name}/out")[0]["hint"]
    command = shlex.split(hint.partition("run `")[2].rpartition("`")[0])
    assert command[:2] == ["envspec", "lock"]
    room.good(*command[1:])
    room.good("verify", argument, "--engine", "local", "--report", f"./{name}/r.json")
    assert json.loads((folder / "r.json").read_text())["verdict"] == "pass"
    assert not list(room.home.rglob("pwned"))
    room.no_remains()


def test_the_installed_uv_is_what_the_index_of_these_tests_offers(room: Room) -> None:
    assert uv_version() in room.index.projects["uv"][0].name
