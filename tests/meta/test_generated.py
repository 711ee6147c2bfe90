"""`generated/` is what every Python makes of the examples, wherever and however it runs."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from interpreters import interpreters

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(p.parent.name for p in (ROOT / "examples").glob("*/spec.env"))
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
SEEDS = ("0", "1", "42", "2718281828", "4294967295")
# What compiling imports from elsewhere; all of it runs as plain Python on every version.
LIBRARIES = ("click", "jinja2", "lark", "markupsafe", "packaging")

# A process compiles every example as it was started, and then, in children that need no imports
# of their own, once more in each of the surroundings that can be had without a start.
PROGRAM = """
import json, locale, os, sys, time
from envspec.cli.main import main
root, out, umask, others, *names = sys.argv[1:]

def run(folder):
    for name in names:
        spec = os.path.join(root, "examples", name, "spec.env")
        sys.argv = ["envspec", "compile", spec, "--frozen", "-q", "-o", os.path.join(folder, name)]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise

os.umask(int(umask, 8))
run(os.path.join(out, "started"))
for number, (variables, umask, folder) in enumerate(json.loads(others)):
    child = os.fork()
    if child == 0:
        os.environ.clear()
        os.environ.update(variables)
        time.tzset()
        try:
            locale.setlocale(locale.LC_ALL, "")
        except locale.Error:
            pass
        os.umask(int(umask, 8))
        os.chdir(folder)
        run(os.path.join(out, str(number)))
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(1)
"""


class Surroundings(NamedTuple):
    """Where and how a process runs; nothing but ``variables`` is in its environment."""

    variables: dict[str, str]
    umask: str = "0022"
    folder: str = "/"
    options: tuple[str, ...] = ()


SURROUNDINGS = {
    "ASCII alone, the first day of everything": Surroundings(
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "Pacific/Kiritimati"}
    ),
    "a Turkish i, private files": Surroundings(
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "HOME": "/nonexistent", "COLUMNS": "20"},
        umask="0077",
    ),
    "a folder that cannot be written, no home": Surroundings(
        {"LANG": "POSIX", "TZ": "America/St_Johns", "TERM": "dumb"}, folder="/proc"
    ),
    "no asserts, no docstrings, colours": Surroundings(
        {"LC_ALL": "C.UTF-8", "FORCE_COLOR": "1", "COLUMNS": "500", "TZ": "<+25>-25"},
        umask="0000",
        options=("-OO",),
    ),
    "warnings are errors, another moment": Surroundings(
        {"LC_CTYPE": "en_US.ISO-8859-1", "SOURCE_DATE_EPOCH": "1", "PYTHONWARNINGS": "error"},
        folder="/sys",
        options=("-X", "dev"),
    ),
}


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the libraries alone: what this Python has beside them is not for others."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in LIBRARIES:
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.origin is not None
        (folder / name).symlink_to(Path(found.origin).parent)
    return folder


def compiled(python: str, libraries: Path, out: Path, seed: str, around: Surroundings) -> None:
    """Compile every example into folders below ``out``, one for each of the surroundings."""
    out.mkdir(parents=True)
    others = json.dumps([s[:3] for s in SURROUNDINGS.values()])
    argv = [python, *around.options, "-B", "-c", PROGRAM]
    argv += [str(ROOT), str(out), around.umask, others, *EXAMPLES]
    done = subprocess.run(
        argv,
        env={
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{libraries}",
            **around.variables,
        },
        cwd=around.folder,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-3000:]


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("number", range(len(SEEDS)))
@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_makes_the_committed_bytes(
    version: str, number: int, libraries: Path, tmp_path: Path
) -> None:
    """Each Python with each seed of the hash is started in one of the surroundings, each Python in
    each of them, and works in all of them."""
    python = next(interpreters(version), None)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    around = list(SURROUNDINGS.values())[(number + VERSIONS.index(version)) % len(SURROUNDINGS)]
    compiled(python, libraries, tmp_path / "out", SEEDS[number], around)
    committed = content(ROOT / "generated")
    assert {path.split("/")[0] for path in committed} == set(EXAMPLES)
    folders = sorted((tmp_path / "out").iterdir())
    assert len(folders) == 1 + len(SURROUNDINGS)
    for folder in folders:
        made = content(folder)
        assert made.keys() == committed.keys()
        wrong = [path for path in made if made[path] != committed[path]]
        assert wrong == [], f"Python {version}, seed {SEEDS[number]}, {folder.name}, {around}"


def test_the_surroundings_are_what_they_say(tmp_path: Path) -> None:
    """The test above is worth something: each setting reaches the process."""
    python = next(interpreters("3.11"), None)
    if python is None:
        pytest.skip("there is no Python 3.11 here")
    code = (
        "import locale, os, sys, time; print(sys.flags.hash_randomization, hash('x'),"
        " locale.getpreferredencoding(False), time.strftime('%z', time.localtime(0)),"
        " os.access('.', os.W_OK) and os.statvfs('.').f_bavail > 0, os.environ.get('HOME'),"
        " __doc__, sys.flags.optimize)"
    )
    said = []
    for seed, around in zip(SEEDS, SURROUNDINGS.values(), strict=True):
        done = subprocess.run(
            [python, *around.options, "-c", code],
            env={"PYTHONHASHSEED": seed, **around.variables},
            cwd=around.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stdout.split())
    assert len({words[1] for words in said}) == len(SEEDS), "hashes differ"
    assert said[0][2] in {"ANSI_X3.4-1968", "646", "US-ASCII", "ascii"}, "no UTF-8 by default"
    assert len({words[3] for words in said}) >= 3, "time zones differ"
    assert said[2][4] == said[4][4] == "False", "nothing can be written there"
    assert [words[5] for words in said].count("None") == 4
    assert said[3][7] == "2"
