"""`envspec doctor`: what it prints, its exit codes, and what it never prints."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from local_index import make_wheel
from sdists import make_sdist
from user_room import Room

sys.path.insert(0, str(Path(__file__).parents[1] / "lock"))

from packing_kit import repository


def findings(room: Room, *argv: str) -> tuple[int, dict[tuple[str, str], dict[str, Any]]]:
    done = room.run("doctor", "--format", "json", *argv)
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    states = [f["state"] for f in document["findings"]]
    assert document["counts"] == {s: states.count(s) for s in document["counts"]}
    expected = 1 if "broken" in states else 4 if "unknown" in states else 0
    assert done.returncode == expected, done.stdout
    return done.returncode, {(f["section"], f["name"]): f for f in document["findings"]}


def test_of_this_machine(room: Room) -> None:
    room.index.add(make_wheel("pip", "1.0"))
    _, found = findings(room)
    assert found["programs", "uv"]["state"] == "good"
    assert found["indexes", "pypi"]["said"] == "answers"
    assert ("pins", "offered") not in found
    done = room.run("doctor")
    assert done.stdout.startswith("programs\n  ok ")


def test_pins_that_no_longer_resolve(room: Room) -> None:
    """Yanked, vanished and changed files are broken pins; the rest is counted."""
    names = ("yanked", "vanished", "changed")
    room.index.add(*(make_wheel(name, "1.0") for name in names))
    room.write("tiny\n  yanked\n  vanished\n  changed")
    room.good("lock")
    _, found = findings(room, "spec.env")
    assert found["pins", "offered"]["said"] == "6 of 6 as they are locked"

    def page(text: str) -> Any:
        def answer(handler: Any) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/html")
            handler.end_headers()
            handler.wfile.write(text.encode())

        return answer

    file = "{0}-1.0-py3-none-any.whl"
    yanked = room.index.projects["yanked"][0]
    room.index.bend["yanked/"] = page(
        f'<a data-yanked href="{yanked.name}#sha256={yanked.sha256}">x</a>'
    )
    del room.index.projects["vanished"]
    room.index.projects["changed"] = [
        make_wheel("other", "1.0")._replace(name=file.format("changed"))
    ]
    status, found = findings(room, "spec.env")
    assert status == 1
    assert {name: found["pins", name]["state"] for name in names} == dict.fromkeys(names, "broken")
    assert found["pins", "offered"]["said"] == "3 of 6 as they are locked"


def test_an_index_that_is_down_is_not_checked(room: Room) -> None:
    room.good("lock")
    room.variables["ENVSPEC_INDEX_PYPI"] = "http://alice:s3cret@127.0.0.1:9/simple"
    done = room.run("doctor", "spec.env")
    assert "pypi" in done.stdout
    assert "it refused the connection" in " ".join(done.stdout.split())
    assert not [s for s in ("s3cret", "alice", "127.0.0.1") if s in done.stdout + done.stderr]
    _, found = findings(room, "spec.env")
    assert found["indexes", "pypi"]["state"] == "unknown"


def test_secrets_of_pips_configuration(room: Room) -> None:
    room.index.add(make_wheel("pip", "1.0"))
    configuration = room.home / "pip.conf"
    configuration.write_text(
        "[global]\nextra-index-url = https://alice:s3cret@wheels.example.org/simple\n"
        "cert = /nowhere/ca.pem\n"
    )
    room.variables["PIP_CONFIG_FILE"] = os.fspath(configuration)
    done = room.run("doctor")
    assert not [s for s in ("s3cret", "alice", "wheels.example") if s in done.stdout + done.stderr]
    status, found = findings(room)
    assert status == 1
    assert found["network settings", "pip cert"]["state"] == "broken"
    said = found["network settings", "pip extra-index-url"]["said"]
    assert said == "1 set, used for known bytes, with credentials"


def test_a_lock_that_is_missing_or_stale(room: Room) -> None:
    room.index.add(make_wheel("pip", "1.0"))
    _, found = findings(room, "spec.env")
    assert found["pins", "spec.lock"]["state"] == "unknown"
    room.good("lock")
    room.write("tiny >=0.5")
    _, found = findings(room, "spec.env")
    assert found["pins", "spec.lock"]["state"] == "broken"


def test_a_spec_that_is_not_there(room: Room) -> None:
    done = room.run("doctor", "nowhere.env")
    assert (done.returncode, "error[E0902]" in done.stderr) == (1, True)


EXTENSION = """
extension fast-ops ==1.0 {
  needs builder
}
"""


def test_the_archive_and_the_tools_of_an_extension_are_pins(room: Room) -> None:
    """Each by the name that the lock has, which that of an archive does not give."""
    sdist = make_sdist("fast-ops", "1.0")
    room.index.add(sdist, make_wheel("builder", "1.0"), make_wheel("pip", "1.0"))
    room.write(more=EXTENSION)
    room.good("lock")
    _, found = findings(room, "spec.env")
    assert found["pins", "offered"]["said"] == "5 of 5 as they are locked"
    assert ("this spec here", "C compiler") in found
    del room.index.projects["fast-ops"]
    del room.index.projects["builder"]
    status, found = findings(room, "spec.env")
    assert status == 1
    assert found["pins", "fast-ops"]["state"] == found["pins", "builder"]["state"] == "broken"
    assert "`envspec lock -P fast-ops`" in found["pins", "fast-ops"]["hint"]


def test_a_source_that_is_a_folder_is_looked_at_and_not_asked_for(room: Room) -> None:
    folder = room.home / "code"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n", encoding="utf-8")
    text = room.spec.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "source archive" in line)
    room.spec.write_text(text.replace(line, '  source path "code"'), encoding="utf-8")
    room.good("lock")
    _, found = findings(room, "spec.env")
    assert found["pins", "source"]["said"] == "the folder is as it is locked"
    assert {f["state"] for (section, _), f in found.items() if section == "pins"} == {"good"}
    (folder / "a.py").write_text("x = 2\n", encoding="utf-8")
    status, found = findings(room, "spec.env")
    assert (status, found["pins", "source"]["state"]) == (1, "broken")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_repository_that_was_not_asked_does_not_pass(room: Room) -> None:
    made = repository(room.home / "elsewhere", {"a.py": "x = 1\n"})
    text = room.spec.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "source archive" in line)
    stated = f'  source git "file://{room.home}/elsewhere" at "{made}"'
    room.spec.write_text(text.replace(line, stated), encoding="utf-8")
    room.good("lock")
    _, found = findings(room, "spec.env")
    assert found["this spec here", "git"]["state"] == "good"
    assert found["pins", "source"]["said"].endswith("is kept in the cache")
    shutil.rmtree(room.cache)
    _, found = findings(room, "spec.env")
    assert found["pins", "source"]["state"] == "unknown"
