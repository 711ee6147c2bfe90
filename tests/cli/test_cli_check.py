"""`envspec check` as its users run it: several specs, standard input, fixes, formats, pages."""

from __future__ import annotations

import json
import os
import pty
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from local_index import make_wheel
from user_room import Room

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "x-transformers"
# A day on which every fact had been looked at; without it the tests would find facts grown old.
DAY = {"SOURCE_DATE_EPOCH": "1796256000"}
SLIPS = (("packages {", "packges {"), ("  level   c1", "  levl   c1"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of an example, lock included."""
    home = tmp_path / "home"
    shutil.copytree(EXAMPLE, home)
    return home


@pytest.fixture
def slips(home: Path) -> Path:
    """The example with two words that are nearly right."""
    edit(home / "spec.env", *SLIPS)
    return home


def edit(path: Path, *changes: tuple[str, str]) -> None:
    data = path.read_bytes()
    for old, new in changes:
        assert data.count(old.encode()) == 1
        data = data.replace(old.encode(), new.encode())
    path.write_bytes(data)


def check(
    home: Path, *argv: str, given: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "envspec", "check", *argv],
        cwd=home,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            **DAY,
            **variables,
        },
        input=given.encode("utf-8"),
        capture_output=True,
        timeout=120,
        check=False,
    )
    out, err = (stream.decode("utf-8") for stream in (done.stdout, done.stderr))
    assert "Traceback" not in err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def codes(home: Path, *argv: str, given: str = "") -> list[str]:
    """Codes in the order told; the exit code has to fit them. Of the rules, which grow in number,
    only the first two count."""
    done = check(home, *argv, "--format", "json", given=given)
    found = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == int(any(d["severity"] == "error" for d in found))
    old = ("W0301", "E0303")
    return [d["code"] for d in found if d["code"] in old or d["code"][1:3] != "03"]


def in_terminal(home: Path, *argv: str, **variables: str) -> str:
    """What a person at a terminal is shown."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "envspec", "check", *argv],
        cwd=home,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "80",
            "TERM": "xterm",
            **DAY,
            **variables,
        },
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        process.wait(timeout=60)
    os.close(ours)
    return shown.decode("utf-8")


def test_what_is_wrong_in_any_phase_is_told_at_once(home: Path) -> None:
    """A string that is not closed, a wrong value, and a variable that may not be set."""
    edit(
        home / "spec.env",
        ("python 3.11", 'python "3.11'),
        ("einops             >=0.8.0", "einops             =>0.8.0"),
        ("claims {", 'env { LD_PRELOAD="x" }\nclaims {'),
    )
    assert codes(home) == ["E0103", "E0203", "E0303"]


@pytest.mark.parametrize(
    "line",
    ["check spec.env 2>&-", "check --explain E0201 >&-", "facts >&-", "check --diff spec.env >&-",
     "explain spec.env >&- 2>&-", "solve spec.env 2>&-", "fmt --check spec.env 2>&-"],
)  # fmt: skip
def test_a_closed_stream_is_no_crash(home: Path, line: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{shlex.quote(sys.executable)} -m envspec {line}"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **DAY},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert b"Traceback" not in done.stdout + done.stderr
    assert done.returncode in {0, 1}


def test_a_name_that_no_system_takes_is_a_finding(home: Path) -> None:
    assert codes(home, "a" * 5000) == ["E0902"]
    long = f"{'a' * 300}/spec.env"
    assert "E0204" in codes(home, "-", "--stdin-filename", long, given="envspec 1\n")


def test_a_rule_that_looks_at_a_broken_part_is_silent(home: Path) -> None:
    """Whether a claim about CUDA fits a torch that cannot be read is not known."""
    edit(home / "spec.env", ("cuda_available false", "cuda_available true"))
    assert codes(home) == ["W0301"]
    edit(home / "spec.env", ("torch              ==2.13.0+cpu", 'torch              "==2.13.0+cpu'))
    assert codes(home) == ["E0103"]


def test_a_stale_lock_is_a_warning_and_a_torn_one_an_error(home: Path) -> None:
    edit(home / "spec.env", ("einops             >=0.8.0", "einops             >=0.7"))
    done = check(home)
    assert done.returncode == 0
    assert "warning[E0402]" in done.stderr
    assert done.stdout == "spec.env: no errors\n"
    assert check(home, "--strict").returncode == 1
    lock = home / "spec.lock"
    lock.write_text(lock.read_text()[:-40])
    assert codes(home) == ["E0407"]
    lock.unlink()
    assert codes(home) == []


def test_scripts_that_are_not_there_are_all_told(home: Path) -> None:
    (home / "smoke.py").unlink()
    edit(home / "spec.env", ("claims {", 'entry b {\n  level c1\n  script "b.py"\n}\nclaims {'))
    assert codes(home) == ["E0207", "E0207"]
    (home / "b.py").symlink_to("b.py")  # a link that leads to itself
    assert codes(home) == ["E0207", "E0207"]


def test_several_specs_and_one_that_is_not_there(slips: Path) -> None:
    shutil.copytree(EXAMPLE, slips / "good")
    done = check(slips, "spec.env", "nowhere.env", "good/spec.env", "good/spec.env")
    assert done.returncode == 1
    assert done.stdout == "good/spec.env: no errors\n"
    places = [line.split("--> ")[1] for line in done.stderr.splitlines() if "--> " in line]
    assert [place.split(":")[0] for place in places] == ["spec.env"] * 3 + ["nowhere.env"]
    assert done.stderr.endswith("4 errors; 2 can be mended with `envspec check --fix`\n")


def test_quiet_says_nothing_but_findings(slips: Path) -> None:
    done = check(slips, "-q")
    assert done.stdout == ""
    assert done.stderr.startswith("error[E0201]")
    assert "mended" not in done.stderr
    assert "errors" not in done.stderr
    edit(slips / "spec.env", *((new, old) for old, new in SLIPS))
    done = check(slips, "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_statistics(slips: Path) -> None:
    done = check(slips, "-q", "--statistics")
    assert done.stdout.split("\n")[0] == "    2  error[E0201]  unknown word"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((".",), "`.` is a directory; name the spec in it: `spec.env`."),
        (("good",), "name the spec in it: `good/spec.env`"),
        (("--stdin-filename", "x.env"), "needs `-`"),
        (("-", "--fix"), "cannot write to standard input"),
        (("--diff", "--format", "json"), "`--diff` goes with `--format text` alone"),
        (("--explain", "E0201", "spec.env"), "takes a code and no spec"),
        (("--explain", "E0999"), "There are `E0901`, `E0902`. `--explain all`"),
        (("--explain", "w0303"), "Did you mean `E0303`?"),
        (("--explain", "\x1b[31m"), r"no rule `\u{1b}[31m`. `--explain all` lists every rule"),
        (("--explain", "../E0201"), "There is no rule `../E0201`"),
        (("--explain", "E0201", "--format", "sarif"), "has no SARIF form"),
    ],
)
def test_command_lines_that_make_no_sense(home: Path, argv: tuple[str, ...], said: str) -> None:
    (home / "good").mkdir()
    done = check(home, *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def test_standard_input(slips: Path) -> None:
    text = (slips / "spec.env").read_text()
    done = check(slips, "-", given=text)
    assert done.returncode == 1
    assert "--> <stdin>:16:1\n" in done.stderr
    assert codes(slips, "-", given=text) == ["E0201", "E0204", "E0201"]
    good = text.replace("packges", "packages").replace("levl", "level")
    assert codes(slips, "-", given=good) == []


def test_standard_input_under_a_name_has_that_files_lock(home: Path) -> None:
    text = (home / "spec.env").read_text().replace(">=0.8.0", ">=0.7")
    (home / "sub").mkdir()
    done = check(home, "-", "--stdin-filename", "sub/../spec.env", given=text)
    assert "warning[E0402]" in done.stderr
    assert "--> sub/../spec.env:" in done.stderr
    assert codes(home, "-", given=text) == []


def test_standard_input_that_is_no_text(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "envspec", "check", "-"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **DAY},
        input=b"envspec 1 \xff",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert b"error[E0902]: the spec is not UTF-8 at byte 10" in done.stderr


def test_standard_input_that_is_closed(home: Path) -> None:
    argv = f"{sys.executable} -m envspec check - <&-"
    done = subprocess.run(
        ["sh", "-c", argv],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **DAY},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"error[E0204]: the spec has no `envspec`" in done.stderr


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_file_name_that_is_no_text_leaves_the_document_one(home: Path, form: str) -> None:
    name = os.fsdecode(b"caf\xe9.env")
    (home / name).write_text("envspec 1\n")
    done = check(home, name, "--format", form)
    assert done.returncode == 1
    assert json.loads(done.stdout)
    assert "caf" in done.stdout


def test_fix_mends_what_it_can_and_tells_the_rest(slips: Path) -> None:
    edit(slips / "spec.env", ("claims {", 'env { LD_PRELOAD="x" }\nclaims {'))
    done = check(slips, "--fix")
    assert done.returncode == 1
    assert done.stderr.startswith("spec.env: fixed 2 findings (E0201 2)\nerror[E0303]")
    assert done.stderr.endswith("\n1 error\n")
    edit(slips / "spec.env", ('env { LD_PRELOAD="x" }\n', ""))
    assert (slips / "spec.env").read_bytes() == (EXAMPLE / "spec.env").read_bytes()
    done = check(slips, "--fix")
    assert (done.returncode, done.stdout, done.stderr) == (0, "spec.env: no errors\n", "")


def test_fix_keeps_line_ends_tabs_and_permissions(slips: Path) -> None:
    spec = slips / "spec.env"
    text = spec.read_bytes().replace(b"\n", b"\r\n")
    spec.write_bytes(text.replace(b"  levl   c1", b"\tlevl\tc1 # \xf0\x9f\x9a\x80"))
    spec.chmod(0o640)
    assert check(slips, "--fix").returncode == 0
    fixed = spec.read_bytes()
    assert b"\r\n\tlevel\tc1 # \xf0\x9f\x9a\x80\r\n" in fixed
    assert fixed.count(b"\n") == fixed.count(b"\r\n") == text.count(b"\n")
    assert stat.S_IMODE(spec.stat().st_mode) == 0o640


def test_fix_writes_through_a_link(slips: Path) -> None:
    (slips / "elsewhere").mkdir()
    target = slips / "elsewhere" / "real.env"
    (slips / "spec.env").rename(target)
    (slips / "spec.env").symlink_to("elsewhere/real.env")
    assert check(slips, "--fix").returncode == 0
    assert (slips / "spec.env").is_symlink()
    assert target.read_bytes() == (EXAMPLE / "spec.env").read_bytes()
    assert [p.name for p in (slips / "elsewhere").iterdir()] == ["real.env"]


def test_e0603_fix_leaves_a_read_only_file_alone(slips: Path) -> None:
    spec = slips / "spec.env"
    before = spec.read_bytes()
    spec.chmod(0o444)
    done = check(slips, "--fix")
    assert done.returncode == 1
    assert "error[E0603]: cannot write `spec.env`: it is read-only" in done.stderr
    assert "error[E0201]: `packges`" in done.stderr
    assert "fixed" not in done.stderr
    assert spec.read_bytes() == before
    assert check(slips, "--diff").stdout.startswith("--- spec.env\n+++ spec.env\n@@")


def test_a_diff_is_what_patch_takes_and_writes_nothing(slips: Path) -> None:
    spec = slips / "spec.env"
    spec.write_bytes(spec.read_bytes().rstrip(b"\n"))
    before = spec.read_bytes()
    done = check(slips, "--fix", "--diff")
    assert done.returncode == 1
    assert done.stderr == "spec.env: would fix 2 findings (E0201 2)\n"
    assert spec.read_bytes() == before
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("there is no `patch`")
    subprocess.run([patch, "-s", "-p0"], cwd=slips, input=done.stdout.encode(), check=True)
    assert spec.read_bytes() == (EXAMPLE / "spec.env").read_bytes().rstrip(b"\n")
    done = check(slips, "--diff")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_diff_cannot_move_the_cursor_of_a_terminal(slips: Path) -> None:
    edit(slips / "spec.env", ("entry smoke {", "# \x1b[2Jgone\tx\nentry smoke {"))
    shown = in_terminal(slips, "--diff", NO_COLOR="1")
    assert "\x1b" not in shown
    assert " # \\u{1b}[2Jgone\tx\r\n" in shown
    assert "\n+  level   c1\r\n" in shown
    assert "\x1b[2J" in check(slips, "--diff").stdout  # a file gets the bytes as they are


def test_sarif_of_a_command(slips: Path) -> None:
    done = check(slips, "--format", "sarif")
    assert done.returncode == 1
    (run,) = json.loads(done.stdout)["runs"]
    assert [r["ruleId"] for r in run["results"]] == ["E0201", "E0204", "E0201"]
    assert [r["id"] for r in run["tool"]["driver"]["rules"]] == ["E0201", "E0204"]
    done = check(slips, "--format", "sarif", "nowhere.env")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert result["ruleId"] == "E0902"
    edit(slips / "spec.env", *((new, old) for old, new in SLIPS))
    assert json.loads(check(slips, "--format=sarif").stdout)["runs"][0]["results"] == []


def test_the_page_of_a_code(tmp_path: Path) -> None:
    """In any case, in any folder, and as data."""
    page = (ROOT / "docs" / "rules" / "E0201.md").read_text(encoding="utf-8")
    done = check(tmp_path, "--explain", "e0201")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == page.split()
    data = json.loads(check(tmp_path, "--explain", "E0201", "--format", "json").stdout)
    assert list(data) == ["code", "title", "body"]
    assert f"# {data['code']} {data['title']}\n\n{data['body']}".split() == page.split()


def test_the_page_of_a_code_at_a_terminal(tmp_path: Path) -> None:
    variables = {"NO_COLOR": ""}
    shown = in_terminal(tmp_path, "--explain", "E0201", **variables)
    assert "\x1b[" in shown
    assert "## What it means" not in shown
    assert "language.md" not in shown
    plain = in_terminal(tmp_path, "--explain", "E0201", NO_COLOR="1")
    assert "\x1b" not in plain
    assert "## What it means" in plain


def test_every_code_is_listed(tmp_path: Path) -> None:
    listed = check(tmp_path, "--explain", "all").stdout.splitlines()
    pages = sorted(p.stem for p in (ROOT / "docs" / "rules").glob("*.md"))
    assert [line.split("  ", 1)[0] for line in listed] == pages
    assert all(line.split("  ", 1)[1].strip() for line in listed)
    data = json.loads(check(tmp_path, "--explain", "ALL", "--format", "json").stdout)
    assert [f"{d['code']}  {d['title']}" for d in data] == listed


@pytest.mark.parametrize("argv", [(), ("--format", "sarif"), ("--diff",), ("--explain", "all")])
def test_the_same_text_whatever_the_hash_seed(slips: Path, argv: tuple[str, ...]) -> None:
    edit(slips / "spec.env", ("python 3.11", 'python "3.11'))
    texts = set()
    for seed in "012":
        done = check(slips, *argv, PYTHONHASHSEED=seed)
        texts.add((done.stdout, done.stderr))
    assert len(texts) == 1


def test_two_cuda_majors_that_only_a_lock_would_hold(room: Room) -> None:
    """A rule that sees versions stops `lock` and `compile` before anything is written, and a lock
    that is there."""
    room.index.add(
        make_wheel("nvidia-cuda-runtime-cu12", "12.8.90"),
        make_wheel("nvidia-cuda-runtime", "13.0.96"),
        make_wheel("old", "1.0", requires=("nvidia-cuda-runtime-cu12",)),
        make_wheel("new", "1.0", requires=("nvidia-cuda-runtime",)),
    )
    room.write("old ==1.0\n  new ==1.0", more="accelerator cuda")
    room.good("check", "-q")
    for verb in ("lock", "compile"):
        room.refused(verb, code="E0319", at="accelerator")
    # The lock of an envspec that did not know: checked, refused, and no obstacle to a new one.
    room.write("old ==1.0", more="accelerator cuda")
    room.good("lock")
    lock = room.home / "spec.lock"
    lines = lock.read_text().splitlines(keepends=True)
    (runtime,) = (n for n, line in enumerate(lines) if '"nvidia-cuda-runtime-cu12", "ver' in line)
    other = lines[runtime].replace("-cu12", "").replace("12.8.90", "13.0.96")
    lines[runtime : runtime + 1] = [f"{other.rstrip().rstrip(',')},\n", lines[runtime]]
    lock.write_text("".join(lines))
    for verb in ("check", "compile"):
        assert "E0319" in [d["code"] for d in room.findings(verb)]
    room.good("lock")
    room.good("check", "-q")


def test_the_json_form_is_checked_like_the_text(home: Path) -> None:
    converted = subprocess.run(
        [sys.executable, "-m", "envspec", "convert", "spec.env"],
        cwd=home, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True,
    )  # fmt: skip
    form = json.loads(converted.stdout)
    form["env"] = {"LD_PRELOAD": "/x.so"}
    form["pakages"] = {}
    form["platform"]["python"] = 3.11
    (home / "form.json").write_text(json.dumps(form, indent=2))
    done = check(home, "--json-in", "form.json", "--format", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)["diagnostics"]
    fixes = {d["code"]: d["fix"] and d["fix"]["edits"][0]["replacement"] for d in found}
    # A rule's fix writes statements, and is not offered here.
    assert fixes == {"E0201": "packages", "E0203": '"3.11"', "E0303": None}
    fixed = check(home, "--json-in", "--fix", "form.json")
    assert fixed.returncode == 1
    assert json.loads((home / "form.json").read_text())["platform"]["python"] == "3.11"
    # `packages` is there already, so writing it again would be no better.
    assert "pakages" in json.loads((home / "form.json").read_text())


def test_facts_that_have_grown_old_are_a_warning(home: Path) -> None:
    assert codes(home) == []
    done = check(home, SOURCE_DATE_EPOCH="2000000000")
    assert done.returncode == 0
    assert "warning[W0348]" in done.stderr
    assert check(home, "--strict", SOURCE_DATE_EPOCH="2000000000").returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "argv",
    [
        ["schema"],
        ["facts", "torch"],
        ["check", "--format", "sarif"],
        ["check", "--format", "json"],
        ["check", "--explain", "E0303"],
        ["convert", "spec.env"],
        ["explain", "spec.env"],
    ],
)
def test_a_full_standard_output_is_said_and_no_bug(home: Path, argv: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "envspec", *argv],
            cwd=home,
            env={**os.environ, **DAY, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    said = done.stderr.decode()
    assert done.returncode == 1
    assert "Traceback" not in said
    assert "E0504" in said
