"""`envspec lock`: only what must change changes, and nothing where nothing must."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from local_index import make_wheel
from user_room import Room


def versions(room: Room) -> dict[str, str]:
    return {p["name"]: p["version"] for p in lock(room)["packages"]}


def lock(room: Room) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((room.home / "spec.lock").read_text("utf-8"))
    return data


def text(room: Room) -> str:
    return (room.home / "spec.lock").read_text("utf-8")


@pytest.fixture(params=["uv", "pip-tools"])
def locked(room: Room, request: pytest.FixtureRequest) -> Room:
    """A lock of `app` and `tiny` 1.0; since then, 2.0 of all packages came out."""
    room.index.add(make_wheel("app", "1.0", ("lib",)), make_wheel("lib", "1.0"))
    room.write("tiny >=1\n  app")
    room.good("lock", "--resolver", request.param)
    assert versions(room) == {"app": "1.0", "lib": "1.0", "tiny": "1.0"}
    room.index.add(make_wheel("tiny", "2.0"), make_wheel("lib", "2.0"))
    room.index.add(make_wheel("app", "2.0", ("lib",)), make_wheel("late", "1.0", ("lib",)))
    room.index.asked.clear()
    return room


def test_nothing_changed_asks_nobody_and_writes_nothing(locked: Room) -> None:
    path = locked.home / "spec.lock"
    before, stamp = text(locked), path.stat().st_mtime_ns
    done = locked.good("lock")
    assert done.stdout == "spec.lock: 3 packages, unchanged\n"
    assert (text(locked), path.stat().st_mtime_ns, locked.index.asked) == (before, stamp, [])
    # Neither does what a lock does not depend on.
    locked.write("tiny >=1\n  app", timeout="3m")
    assert "unchanged" in locked.good("lock").stdout
    assert locked.index.asked == []


def test_a_package_more_leaves_the_others_alone(locked: Room) -> None:
    before = lock(locked)
    locked.write("tiny >=1\n  app\n  late")
    done = locked.good("lock")
    assert done.stdout.splitlines()[1:] == ["  + late 1.0"]
    after = lock(locked)
    packages = {p["name"]: p for p in after.pop("packages")}
    for package in before.pop("packages"):
        if package["name"] == "lib":  # required from one more
            package["why"] = ["app", "late"]
        assert packages[package["name"]] == package
    # Nothing else of the lock moves but what the spec says.
    assert {key for key in after if after[key] != before[key]} == {"inputs", "resolver"}


def test_what_must_change_changes(locked: Room) -> None:
    locked.write("tiny >=2\n  app")
    done = locked.good("lock")
    assert "  tiny 1.0 → 2.0\n" in done.stdout
    assert versions(locked) == {"app": "1.0", "lib": "1.0", "tiny": "2.0"}


def test_upgrade_of_one_package_and_of_all(locked: Room) -> None:
    locked.good("lock", "-P", "Lib")
    assert versions(locked) == {"app": "1.0", "lib": "2.0", "tiny": "1.0"}
    locked.good("lock", "--upgrade-package", "tiny", "--upgrade-package", "app")
    assert versions(locked) == {"app": "2.0", "lib": "2.0", "tiny": "2.0"}
    locked.index.add(make_wheel("tiny", "3.0"), make_wheel("lib", "3.0"))
    locked.good("lock", "--upgrade")
    assert versions(locked) == {"app": "2.0", "lib": "3.0", "tiny": "3.0"}
    assert locked.good("lock", "--upgrade").stdout == "spec.lock: 3 packages, unchanged\n"


def test_upgrade_keeps_the_resolver_of_the_lock(locked: Room) -> None:
    name = lock(locked)["resolver"]["name"]
    locked.good("lock", "--upgrade")
    assert lock(locked)["resolver"]["name"] == name
    tools = lock(locked)["tools"]
    assert set(tools) == ({"envspec"} if name == "uv" else {"envspec", "pip", "python"})


def test_a_name_to_upgrade_that_is_misspelt(locked: Room) -> None:
    found = locked.refused("lock", "-P", "tinny", code="E0403", at="project")
    assert found["title"] == "`tinny` cannot be upgraded: neither the spec nor the lock has it"
    assert found["hint"] == "did you mean `tiny`?"


@pytest.mark.parametrize("spoil", ["old version", "merge"])
def test_a_lock_that_cannot_be_read_still_tells_its_pins(room: Room, spoil: str) -> None:
    room.good("lock")
    room.index.add(make_wheel("tiny", "2.0"))
    path = room.home / "spec.lock"
    if spoil == "merge":
        path.write_text("<<<<<<< ours\n" + text(room) + ">>>>>>> theirs\n")
    else:
        old = json.loads(text(room))
        old["resolver"] = {k: old["resolver"][k] for k in ("name", "version")}
        kept = {k: v for k, v in old.items() if k not in {"tools", "facts", "nixpkgs", "driver"}}
        package = json.dumps(kept.pop("packages")[0])
        path.write_text(
            json.dumps({**kept, "envspec_lock": 1})[:-1] + f',\n"packages": [\n    {package}]}}'
        )
        assert "the file says 1" in room.run("compile").stderr
    room.good("lock")
    assert versions(room) == {"tiny": "1.0"}


def test_the_same_inputs_give_the_same_bytes(room: Room) -> None:
    room.good("lock")
    first = text(room)
    (room.home / "spec.lock").unlink()
    room.good("lock")
    assert text(room) == first


# --- --check ------------------------------------------------------------------------------


def test_check_of_a_fresh_lock_asks_nobody(locked: Room) -> None:
    before = locked.snapshot()
    assert locked.good("lock", "--check").stdout == "spec.lock: 3 packages, fresh\n"
    assert (locked.index.asked, locked.snapshot()) == ([], before)


def test_check_says_absent_stale_and_unreadable(room: Room) -> None:
    room.refused("lock", "--check", code="E0401", at="project")
    room.good("lock")
    room.write("tiny >=0.5")
    room.index.asked.clear()
    found = room.refused("lock", "--check", code="E0402", at="tiny >=0.5")
    assert found["cause"] == "package tiny: lock has >=1, the spec says >=0.5"
    room.write()
    (room.home / "spec.lock").write_text("{}")
    assert room.run("lock", "--check").returncode == 1
    assert room.findings("lock", "--check")[0]["code"] == "E0407"
    assert room.index.asked == []


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ('"version": "1.0", "index": "pypi", "file": "tiny', None, ""),
        ('"file": "tiny-1.0', '"file": "tinier-1.0', "`tinier-1.0-py3-none-any.whl` is a file of"),
        ('"file": "tiny-1.0', '"file": "tiny-1.1', "is a file of another version than 1.0"),
        ("py3-none-any.whl", "cp27-cp27m-win32.whl", "does not fit linux/amd64, Python 3.11"),
        ("-py3-none-any.whl", ".tar.gz", "is a source archive, which the spec does not allow"),
        ('"name": "tiny", "version": "1.0", "index": "pypi"', '"name": "tiny", "version": "1.0", '
         '"index": "lab"', "it is locked from `lab`, and its index is `pypi`"),
        ('"name": "tiny", "version": "1.0"', '"name": "tiny", "version": "0.1"',
         "0.1 is locked, and the spec asks for >=1"),
    ],
)  # fmt: skip
def test_e0409_check_says_incomplete(room: Room, old: str, new: str | None, cause: str) -> None:
    room.good("lock")
    whole = text(room)
    lines = whole.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith('    {"name": "tiny"'))
    if new is None:  # the line was lost
        lines[at : at + 1] = []
        cause = "the spec asks for it, and it is not locked"
    else:
        assert old in lines[at]
        lines[at] = lines[at].replace(old, new)
    (room.home / "spec.lock").write_text("".join(lines))
    found = room.refused("lock", "--check", code="E0409", at="tiny >=1")
    assert cause in found["cause"]
    room.good("lock")
    assert text(room) == whole


def test_check_and_upgrade_exclude_each_other(room: Room) -> None:
    done = room.run("lock", "--check", "--upgrade")
    assert (done.returncode, "`--check` changes nothing" in done.stderr) == (2, True)


# --- --exclude-newer ----------------------------------------------------------------------


@pytest.fixture
def dated(room: Room) -> Room:
    """An index that tells when files were uploaded: `tiny` 1.0 in January, 2.0 in March."""
    room.index.json = True
    room.index.add(make_wheel("tiny", "2.0"))
    room.index.uploaded = {
        "tiny-1.0-py3-none-any.whl": "2026-01-31T12:00:00Z",
        "tiny-2.0-py3-none-any.whl": "2026-03-01T12:00:00Z",
    }
    return room


def test_the_limit_holds_and_stands_in_the_lock(dated: Room) -> None:
    done = dated.good("lock", "--exclude-newer", "2026-01-31")
    assert "nothing after 2026-01-31T23:59:59Z" in done.stdout
    assert versions(dated) == {"tiny": "1.0"}
    assert lock(dated)["resolver"]["exclude_newer"] == "2026-01-31T23:59:59Z"
    # It holds until another is given, also for an upgrade.
    assert "unchanged" in dated.good("lock").stdout
    dated.good("lock", "--upgrade")
    assert versions(dated) == {"tiny": "1.0"}
    dated.good("lock", "--check", "--exclude-newer", "2026-01-31")
    found = dated.refused("lock", "--check", "--exclude-newer", "none", code="E0402", at="project")
    assert "made with the limit 2026-01-31T23:59:59Z, and none is asked for" in found["title"]
    dated.good("lock", "--exclude-newer", "none", "--upgrade")
    assert versions(dated) == {"tiny": "2.0"}
    assert lock(dated)["resolver"]["exclude_newer"] == ""


def test_nothing_is_old_enough(dated: Room) -> None:
    argv = ("lock", "--exclude-newer", "2026-01-01T00:00:00Z")
    found = dated.refused(*argv, code="E0403", at="tiny >=1")
    assert found["title"] == (
        "no release of `tiny` that fits was uploaded before 2026-01-01T00:00:00Z"
    )
    dated.write("tiny ==2.0")  # a pin is taken whenever it was uploaded
    dated.good(*argv)
    assert versions(dated) == {"tiny": "2.0"}


def test_pip_tools_cannot_leave_out_what_is_newer(dated: Room) -> None:
    argv = ("lock", "--exclude-newer", "2026-01-31", "--resolver", "pip-tools")
    found = dated.refused(*argv, code="E0408", at="project")
    assert "uploaded after 2026-01-31T23:59:59Z" in found["cause"]
    assert "--resolver uv" in found["hint"]


@pytest.mark.parametrize("day", ["yesterday", "7 days", "2026-02-30", "2026-01-31T12:00:00", ""])
def test_what_is_no_day(room: Room, day: str) -> None:
    done = room.run("lock", "--exclude-newer", day)
    assert (done.returncode, "is no day" in done.stderr) == (2, True)


def test_a_moment_is_kept_in_utc(dated: Room) -> None:
    dated.good("lock", "--exclude-newer", "2026-02-01T01:30:00+02:00")
    assert lock(dated)["resolver"]["exclude_newer"] == "2026-01-31T23:30:00Z"


def test_how_the_lock_was_made(room: Room) -> None:
    room.good("lock")
    made = lock(room)
    assert re.fullmatch("[0-9a-f]{64}", made["facts"])
    assert re.fullmatch("[0-9a-f]{40}", made["nixpkgs"]["rev"])
    assert made["driver"] == {"cuda": "", "floor": ""}
    assert made["installer"]["name"] == "uv"
    assert re.fullmatch("[0-9a-f]{64}", made["resolver"]["inputs"])
