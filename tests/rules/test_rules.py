"""Every rule over whole specs: what it lets pass, what it finds, word for word, and its fixes.

One folder a code. ``ok*.env`` must not have the finding, nor any error; ``bad*.env`` must have it,
drawn as in ``bad*.txt``. Beside a spec, ``<stem>.locked`` holds the versions of its lock, one
``name version`` a line. ``ENVSPEC_REGENERATE=1 python -m pytest tests/rules`` writes the drawings.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from golden import compare, unclaimed

from envspec import fixing, render, rules
from envspec.diagnostics import ERROR, Diagnostic
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.source import SourceFile

HERE = Path(__file__).parent
OK = sorted(HERE.glob("*/ok*.env"))
BAD = sorted(HERE.glob("*/bad*.env"))
FOLDERS = sorted(p for p in HERE.iterdir() if p.is_dir() and p.name[:1] in "EW")


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def read(text: str) -> tuple[Spec, SourceFile]:
    source = SourceFile("spec.env", text)
    return resolve(parse(source), source), source


def locked(path: Path) -> dict[str, str]:
    """The versions of the lock beside a spec; none where there is no lock."""
    beside = path.with_suffix(".locked")
    lines = beside.read_text(encoding="utf-8").splitlines() if beside.exists() else []
    return {words[0]: words[1] for line in lines if (words := line.split())}


def findings(path: Path) -> tuple[Diagnostic, ...]:
    return rules.check(*read(path.read_text(encoding="utf-8")), locked(path))


def with_code(path: Path) -> list[Diagnostic]:
    return [d for d in findings(path) if d.code == path.parent.name]


@pytest.mark.parametrize("path", OK, ids=name)
def test_a_good_spec_passes(path: Path) -> None:
    code = path.parent.name
    stopped = [d for d in findings(path) if d.code == code or d.severity == ERROR]
    assert render.text(stopped) == ""


@pytest.mark.parametrize("path", BAD, ids=name)
def test_a_bad_spec_is_found(path: Path) -> None:
    found = with_code(path)
    assert found
    for d in found:
        assert d.source is not None
        assert (d.severity == ERROR) == d.code.startswith("E")
        for label in d.labels:
            assert 0 <= label.span.start < label.span.end <= len(d.source.text)
            assert d.source.text[label.span.start : label.span.end].strip()
        assert d.labels
        assert not d.title.endswith(".")
        assert d.hint, "nothing says how to mend it"
    compare(path.with_suffix(".txt"), render.text(found), folder="tests/rules")


@pytest.mark.parametrize("path", BAD, ids=name)
def test_each_fix_takes_its_finding_away(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    before, _ = read(text)
    for finding in with_code(path):
        if finding.fix is None:
            continue
        mended, applied = fixing.apply(text, [finding.fix])
        assert applied == 1
        assert mended != text
        after, source = read(mended)
        # A package that the fix asks for otherwise than before is not what the lock settled.
        kept = {p.name for p in after.packages if _asked(before, p.name) == _asked(after, p.name)}
        stated = {p.name for p in before.packages}
        lock = {n: v for n, v in locked(path).items() if n in kept or n not in stated}
        again = {(d.code, d.title) for d in rules.check(after, source, lock)}
        assert (finding.code, finding.title) not in again


def _asked(spec: Spec, package: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(p.specifier, p.index, p.extras) for p in spec.packages if p.name == package]


@pytest.mark.parametrize("path", BAD, ids=name)
def test_fixes_of_one_spec_go_together(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    mended, applied = fixing.apply(text, [d.fix for d in findings(path) if d.fix])
    assert applied >= len([d for d in with_code(path) if d.fix][:1])
    read(mended)


@pytest.mark.parametrize("code", rules.RULES)
def test_every_rule_has_its_cases_and_its_name(code: str) -> None:
    assert list((HERE / code).glob("ok*.env")), "no spec that it lets pass"
    assert list((HERE / code).glob("bad*.env")), "no spec that it finds"
    module = import_module(f"envspec.rules.{rules.RULES[code].module}")
    assert code == module.CODE
    assert (module.__doc__ or "").startswith(f"{code}: ")


def test_nothing_is_left_over() -> None:
    assert sorted(p.name for p in FOLDERS) == sorted(rules.RULES)
    for folder in FOLDERS:
        specs = {p.stem for p in folder.glob("*.env")}
        bad = {p.stem for p in folder.glob("bad*.env")}
        assert unclaimed(folder, ".txt", bad) == []
        assert unclaimed(folder, ".locked", specs) == []
        assert {p.suffix for p in folder.iterdir()} <= {".env", ".txt", ".locked"}
        assert all(stem.startswith(("ok", "bad")) for stem in specs)
