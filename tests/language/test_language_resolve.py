"""Statements to the model: every finding of meaning, at its place, all of them at once."""

from __future__ import annotations

import pytest
from language_findings import LINES, SPEC, all_of, places, read

from envspec.fixing import apply
from envspec.language.syntax import MAX_FINDINGS
from envspec.model import Accelerator, Entry, Expect, Variable
from envspec.source import SourceFile


def found(extra: str) -> list[str]:
    """Findings of a good spec with some lines added; lines count from the first added one."""
    result = []
    for line in places(all_of(SPEC + extra)):
        code, place, *covered = line.split(" ", 2)
        row, column = place.split(":")
        result.append(" ".join([code, f"{int(row) - LINES}:{column}", *covered]))
    return result


def changed(old: str, new: str) -> list[str]:
    """Findings of a good spec with a part of it changed."""
    assert SPEC.count(old) == 1
    return places(all_of(SPEC.replace(old, new)))


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        # E0201 unknown words
        ("pakages {\n}\n", ["E0201 1:1 pakages"]),
        ('"packages" { }\n', ['E0201 1:1 "packages"']),
        ('A="b"\n', ['E0201 1:1 A="b"']),
        ("system {\n  runtme libgl1\n}\n", ["E0201 2:3 runtme"]),
        ("claims {\n  c5 pass\n}\n", ["E0201 2:3 c5"]),
        ("system {\n  NAME x\n}\n", ["E0201 2:3 NAME"]),
        # E0202 twice
        ("accelerator none\naccelerator none\n", ["E0202 2:1 accelerator none"]),
        ("packages {\n  a\n  b\n}\npackages {\n}\n", ["E0202 5:1 packages {"]),
        ("packages {\n  Foo_Bar\n  foo.bar >=1\n}\n", ["E0202 3:3 foo.bar >=1"]),
        ('index a "https://a"\nindex a "https://b"\n', ["E0202 2:7 a"]),
        ('step a { run "x" }\nstep a { run "y" }\n', ["E0202 2:6 a"]),
        ('env { A="1" }\nenv { }\n', ["E0202 2:1 env { }"]),
        ('env {\n  A="1"\n  A="2"\n}\n', ['E0202 3:3 A="2"']),
        ('env {\n  A="1" A="2"\n}\n', ['E0202 2:9 A="2"']),
        ("claims {\n  c0 pass\n  c0 fail\n}\n", ["E0202 3:3 c0 fail"]),
        ('imports {\n optional a because "x"\n optional a because "y"\n}\n', ["E0202 3:11 a"]),
        # E0203 wrong values
        ("packages {\n  torch 2.0\n}\n", ["E0203 2:9 2.0"]),
        ("packages {\n  torch >= 2.0\n}\n", ["E0203 2:9 >= 2.0"]),
        ('packages {\n  torch "==2"\n}\n', ['E0203 2:9 "==2"']),
        ("packages {\n  torch==2\n}\n", ["E0203 2:3 torch==2"]),
        ("packages {\n  a[b\n  a[]\n  a[b]c\n  -a\n}\n", ["E0203 2:3 a[b", "E0203 3:3 a[]",
            "E0203 4:3 a[b]c", "E0203 5:3 -a"]),
        ('packages {\n  a because why\n  b because "  "\n}\n', ["E0203 2:13 why",
            'E0203 3:13 "  "']),
        ("packages {\n  a from -b\n}\n", ["E0203 2:10 -b"]),
        ("accelerator cud 12.8\n", ["E0203 1:13 cud"]),
        ('accelerator X="none"\n', ['E0203 1:13 X="none"']),
        ("accelerator cuda twelve\n", ["E0203 1:18 twelve"]),
        ("accelerator cuda 12.8 {\n  driver 525\n  gpus sm_80 90\n  cudnn >=9\n  nccl \"2\"\n}\n",
            ["E0203 2:10 525", "E0203 3:14 90", "E0203 4:9 >=9", 'E0203 5:8 "2"']),
        ("index a https://a\n", ["E0203 1:9 https://a"]),
        ('index a "ftp://a"\n', ['E0203 1:9 "ftp://a"']),
        ('index a "https://me:secret@a/b"\n', ['E0203 1:9 "https://me:secret@a/b"']),
        ("system {\n  runtime LibGL \"x\"\n  build -y\n}\n", ["E0203 2:11 LibGL", 'E0203 2:17 "x"',
            "E0203 3:9 -y"]),
        ("step a { run make all }\n", ["E0203 1:14 make", "E0203 1:19 all"]),
        ('step a { run "env" A="b" }\n', ['E0203 1:20 A="b"']),
        ('step "a" { run "x" }\n', ['E0203 1:6 "a"']),
        ("env {\n  A 1\n}\n", ["E0203 2:3 A", "E0203 2:5 1"]),
        ('imports {\n  optional a-b because "x"\n}\n', ["E0203 2:12 a-b"]),
        ("entry a {\n  level c2\n  run \"x\"\n  timeout 0m\n  processes 0\n  network yes\n}\n",
            ["E0203 2:9 c2", "E0203 4:11 0m", "E0203 5:13 0", "E0203 6:11 yes"]),
        ('entry a {\n  level c1\n  script "../x.py"\n}\n', ['E0203 3:10 "../x.py"']),
        ('entry a {\n  level c1\n  script "/x.py"\n}\n', ['E0203 3:10 "/x.py"']),
        ('claims {\n  c0 maybe\n  gpu_count -1\n  cuda_available yes\n  python_path "bin/python"\n'
            '  torch_version x\n}\n',
            ["E0203 2:6 maybe", "E0203 3:13 -1", "E0203 4:18 yes", 'E0203 5:15 "bin/python"',
            "E0203 6:17 x"]),
        ('claims {\n  c0 "unstated"\n  c1 X="pass"\n}\n', ['E0203 2:6 "unstated"',
            'E0203 3:6 X="pass"']),
        # E0204 missing words
        ("step a {\n}\n", ["E0204 1:1 step a {"]),
        ('entry a {\n  run "x"\n}\n', ["E0204 1:1 entry a {"]),
        # E0205 indexes that nobody knows
        ("packages {\n  a from elsewhere\n}\n", ["E0205 2:3 a from elsewhere"]),
        ("index mine\n", ["E0205 1:1 index mine"]),
        # E0206 written differently
        ('packages {\n  "torch"\n  a { }\n}\n', ['E0206 2:3 "torch"', "E0206 3:3 a { }"]),
        ("packages torch {\n}\n", ["E0206 1:1 packages torch {"]),
        ("env\n", ["E0206 1:1 env"]),
        ('step { run "x" }\n', ["E0206 1:1 step"]),
        ('step a b { run "x" }\n', ["E0206 1:8 b"]),
        ('index a "https://a" { }\n', ['E0206 1:1 index a "https://a" { }']),
        ("index\n", ["E0206 1:1 index"]),
        ("accelerator\n", ["E0206 1:1 accelerator"]),
        ("accelerator none 12\n", ["E0206 1:18 12"]),
        ("accelerator none {\n  gpus sm_80\n}\n", ["E0206 2:3 gpus sm_80"]),
        ("accelerator cuda 12 {\n  gpus\n}\n", ["E0206 2:3 gpus"]),
        ("system {\n  runtime\n  build xx { }\n}\n", ["E0206 2:3 runtime",
            "E0206 3:3 build xx { }"]),
        ('env {\n  A="1" { B="2" }\n}\n', ['E0206 2:3 A="1" { B="2" }']),
        ("step a {\n  run\n}\n", ["E0206 2:3 run"]),
        ("imports {\n  optional a\n  optional b c because \"x\"\n}\n", ["E0206 2:3 optional a",
            "E0206 3:14 c"]),
        ("entry a {\n  level c1\n}\n", ["E0206 1:1 entry a {"]),
        ('entry a {\n  level c1\n  run "x"\n  script\n}\n', ["E0206 1:1 entry a {",
            "E0206 4:3 script"]),
        ('entry a {\n  level c1\n  run "x"\n  env\n  network\n  timeout 1m 2m\n}\n',
            ["E0206 4:3 env", "E0206 5:3 network", "E0206 6:14 2m"]),
        ("claims {\n  repo_url https://a:b@h/x.git\n}\n", ["E0203 2:12 https://a:b@h/x.git"]),
        ("claims {\n  entry a pass\n}\n", ["E0205 2:3 entry a pass"]),
        ("claims {\n  extension a.b maybe\n  extension a-b pass\n  extension c\n}\n",
            ["E0203 2:17 maybe", "E0203 3:13 a-b", "E0206 4:3 extension c"]),
        ("claims {\n  extension a pass\n  extension b pass\n  extension a unstated\n}\n",
            ["E0202 4:13 a"]),
        ("claims {\n  extension a unstated pass\n}\n", ["E0206 2:3 extension a unstated pass"]),
        ("claims {\n  torch_arch_list \"sm_8\"\n  torch_cuda any\n  vram_min 8\n}\n",
            ["E0203 2:19 \"sm_8\"", "E0203 3:14 any", "E0203 4:12 8"]),
        ("claims {\n  c0\n  c1 pass fail\n}\n", ["E0206 2:3 c0", "E0206 3:11 fail"]),
    ],
)  # fmt: skip
def test_findings_of_meaning(extra: str, expected: list[str]) -> None:
    assert found(extra) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("envspec 1", "envspec 2", ["E0106 1:9 2"]),
        ("envspec 1", "envspec one", ["E0203 1:9 one"]),
        ("envspec 1", "envspec", ["E0206 1:1 envspec"]),
        ("envspec 1", "envspec 1 2", ["E0206 1:11 2"]),
        ("envspec 1", "envspec ١", ["E0203 1:9 ١"]),
        ("envspec 1\n", "", ["E0204 1:1 project demo {"]),
        ("envspec 1\n", "accelerator none\nenvspec 1\n", ["E0106 1:1 accelerator none"]),
        ("envspec 1\n", "envspec 1\nenvspec 1\n", ["E0202 2:1 envspec 1"]),
        ("project demo", "project", ["E0206 2:1 project"]),
        ("project demo", "project a b", ["E0206 2:11 b"]),
        ("project demo", "project -a", ["E0203 2:9 -a"]),
        ('"demo-1.0.tar.gz"', '"dir/demo.tar.gz"', ['E0203 3:18 "dir/demo.tar.gz"']),
        ("a" * 64, "A" * 64, [f'E0203 3:43 "{"A" * 64}"']),
        ("source archive", "source folder", ["E0206 3:3 source folder"]),
        ("source archive", "pythonpath", ["E0204 2:1 project demo {", "E0203 3:32 sha256"]),
        ('sha256 "', 'from pypi sha256 "', []),
        ('sha256 "', 'sha256 "x" sha256 "', ['E0203 3:43 "x"', "E0206 3:47 sha256"]),
        ("linux/amd64", "windows/amd64", ["E0203 5:10 windows/amd64"]),
        ('base "python:3.11"', "base python:3.11", ["E0203 6:8 python:3.11"]),
        ('base "python:3.11"', 'base "python:"', ['E0203 6:8 "python:"']),
        ("  python 3.11\n", "", ["E0204 5:1 platform linux/amd64 {"]),
        ("  python 3.11\n", "  python 2.7\n", ["E0203 7:10 2.7"]),
        ("  python 3.11\n", "  python 3.11\n  glibc 2.28\n", ["E0203 8:9 2.28"]),
    ],
)
def test_findings_in_what_every_spec_has(old: str, new: str, expected: list[str]) -> None:
    assert [line[: len(e)] for line, e in zip(changed(old, new), expected, strict=True)] == expected


def test_an_empty_spec_misses_what_every_spec_has() -> None:
    titles = [d.title for d in all_of("")]
    assert titles == [f"the spec has no `{w}`" for w in ("envspec", "platform", "project")]


def test_all_findings_of_a_file_come_at_once_and_in_order() -> None:
    text = (
        "packages {\n  torch 2.0\n  torch\n  a from no\n}\nclams { }\nentry a {\n  level c9\n"
        "  run python\n}\nstep b { }\n"
    )
    assert found(text) == [
        "E0203 2:9 2.0",
        "E0202 3:3 torch",
        "E0205 4:3 a from no",
        "E0201 6:1 clams",
        "E0203 8:9 c9",
        "E0203 9:7 python",
        "E0204 11:1 step b { }",
    ]


def test_lists_end_somewhere() -> None:
    gpus = " ".join(["sm_80"] * 51)
    assert found(f"accelerator cuda 12.8 {{\n  gpus {gpus}\n}}\n") == ["E0206 2:308 sm_80"]
    names = " ".join(["libgl1"] * 1001)
    assert [line[:5] for line in found(f"system {{\n  runtime {names}\n}}\n")] == ["E0206"]


def test_no_more_findings_than_anyone_reads() -> None:
    text = SPEC + "env {\n" + "x " * 5000 + "\n}\n"
    assert len(all_of(text)) == MAX_FINDINGS


@pytest.mark.parametrize(
    ("extra", "second", "first"),
    [
        ("claims {\n  c0 pass\n  c0 fail\n}\n", "c0 fail", "c0 pass"),
        ("packages {\n  a-b\n  A_B\n}\n", "A_B", "a-b"),
        ('step x { run "a" }\nstep x { run "b" }\n', "x", "x"),
        ('env {\n  A="1"\n  A="2"\n}\n', 'A="2"', 'A="1"'),
        ("accelerator none\naccelerator cuda 1\n", "accelerator cuda 1", "accelerator none"),
    ],
)
def test_a_duplicate_points_at_both_places(extra: str, second: str, first: str) -> None:
    (finding,) = all_of(SPEC + extra)
    assert finding.source is not None
    texts = [finding.source.text[label.span.start : label.span.end] for label in finding.labels]
    assert texts == [second, first]
    assert [label.text for label in finding.labels] == ["again here", "first here"]
    assert finding.labels[1].span < finding.labels[0].span


@pytest.mark.parametrize(
    ("extra", "hint"),
    [
        ("pakages { }\n", "did you mean `packages`?"),
        ("acelerator none\n", "did you mean `accelerator`?"),
        ("claims {\n  torchversion 1\n}\n", "did you mean `torch_version`?"),
        ("accelerator cude 12\n", "did you mean `cuda`?"),
        ("accelerator rocm 6\n", "expected `cuda` or `none`"),
        ('entry a {\n  level c2\n  run "x"\n}\n', "expected `c1`, `c3` or `c4`"),
        ('entry a {\n  level c1\n  run "x"\n  network on\n}\n', "expected `allowed`"),
        ("packages {\n  x ~=1\n}\n", "expected a version specifier such as `>=0.8` or `==2.13.0`"),
        ("system {\n  nothing x\n}\n", "known here: runtime, build"),
        ('index abc "https://a"\npackages {\n  x from acb\n}\n', "did you mean `abc`?"),
        ("packages {\n  x from pyp\n}\n", "did you mean `pypi`?"),
        ("packages {\n  x from faraway\n}\n", 'add `index faraway "https://…"`'),
        ("packages {\n  x 1.2+cpu\n}\n", "write `==1.2+cpu` for exactly this version"),
    ],
)
def test_hints(extra: str, hint: str) -> None:
    (finding,) = all_of(SPEC + extra)
    assert finding.hint == hint


def test_a_fix_can_be_applied() -> None:
    text = SPEC + "pakages {\n}\n"
    (finding,) = all_of(text)
    fix = finding.fix
    assert fix is not None
    assert all_of(apply(text, [fix])[0]) == ()


def test_messages_stay_short_whatever_was_written() -> None:
    text = SPEC + f"{'x' * 9000}\npackages {{\n  a {'9' * 9000}x\n}}\n"
    assert all(len(d.title) < 200 for d in all_of(text))


def test_defaults() -> None:
    spec = read(SPEC + 'entry a {\n  level c3\n  run "python" "-c" "0"\n}\n')
    assert spec.platform.glibc == ""
    assert spec.platform.base_digest == ""
    assert spec.project.pythonpath == ()
    assert spec.project.source.index == ""
    assert spec.accelerator == Accelerator("none", "", "", (), "", "")
    (entry,) = spec.entries
    assert entry == Entry(
        "a",
        "c3",
        ("python", "-c", "0"),
        "",
        600,
        1,
        (),
        False,
        Expect(0, (), ()),
        (),
        (),
        (),
        entry.span,
    )
    assert (spec.packages, spec.system, spec.steps, spec.claims) == ((), (), (), ())


def test_everything_said() -> None:
    text = (
        SPEC.replace('base "python:3.11"', f'base "python:3.11@sha256:{"b" * 64}"\n  glibc >=2.31')
        + 'index mine "https://h/simple"\n'
        'packages {\n  Torch[x,y] >=1 , <2 from mine because "why"\n  b ~=1.2\n}\n'
        "accelerator cuda 12.8 {\n  driver >=525.60.13\n  gpus sm_80 sm_90a\n  cudnn 9.10\n}\n"
        "system {\n  build g++-12\n  runtime libgl1 libglib2.0-0\n}\n"
        'entry a {\n  level c4\n  script "x/y.py" "--n" ""\n  timeout 2h\n  processes 2\n'
        '  env A="1" B=""\n  network allowed\n}\n'
        'claims {\n  c4 unstated because "no GPU"\n  c0 pass\n}\n'
    )
    spec = read(text)
    assert spec.platform[1:3] == ("python:3.11", f"sha256:{'b' * 64}")
    assert spec.platform.glibc == "2.31"
    torch, other = spec.packages
    assert torch[:5] == ("torch", ("x", "y"), ">=1,<2", "mine", "why")
    shown = [text[s.start : s.end] for s in (torch.specifier_span, torch.index_span)]
    assert shown == [">=1 , <2", "from mine"]
    assert (other.specifier, other.index, other.because) == ("~=1.2", "", "")
    assert spec.accelerator[:5] == ("cuda", "12.8", "525.60.13", ("sm_80", "sm_90a"), "9.10")
    assert [(p.stage, p.name) for p in spec.system] == [
        ("runtime", "libgl1"),
        ("runtime", "libglib2.0-0"),
        ("build", "g++-12"),
    ]
    (entry,) = spec.entries
    assert entry[:6] == ("a", "c4", ("--n", ""), "x/y.py", 7200, 2)
    assert entry.environment == (
        Variable("A", "1", entry.environment[0].span),
        Variable("B", "", entry.environment[1].span),
    )
    assert entry.network
    assert [(c.name, c.value, c.because) for c in spec.claims] == [
        ("c4", "unstated", "no GPU"),
        ("c0", "pass", ""),
    ]


def test_every_item_keeps_its_place() -> None:
    text = SPEC + "packages {\n  torch >=1\n}\nclaims {\n  c0 pass\n}\n"
    spec = read(text)
    source = SourceFile("spec.env", text)
    spans = (spec.packages[0].span, spec.claims[0].span, spec.platform.base_span)
    assert [text[s.start : s.end] for s in spans] == ["torch >=1", "c0 pass", 'base "python:3.11"']
    assert source.position(spec.packages[0].span.start).line == LINES + 2


@pytest.mark.parametrize("name", ["pypi", "pytorch-cpu", "pytorch-cu128"])
def test_aliases_that_clients_know_need_no_address(name: str) -> None:
    assert found(f"index {name}\npackages {{\n  a from {name}\n}}\n") == []
    assert found(f"packages {{\n  a from {name}\n}}\n") == []
