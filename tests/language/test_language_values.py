"""The shapes of values. `packaging` says what PEP 440 is; the language may only be narrower."""

from __future__ import annotations

import itertools

import pytest
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envspec.language import values as shapes
from envspec.language.values import Shape, seconds
from envspec.names import normalise

VERSIONS = (
    "1", "0", "01", "1.0", "1.2.3.4.5.6", "2024.1", "1!2", "1!2.0.post1", "v1.0", "V1", "1.0a",
    "1.0a1", "1.0A1", "1.0.a.1", "1.0-alpha_2", "1.0b2", "1.0beta", "1.0c3", "1.0rc1", "1.0-RC-1",
    "1.0pre1", "1.0preview4", "1.0.post", "1.0.post5", "1.0post", "1.0-5", "1.0rev3", "1.0-r4",
    "1.0.dev", "1.0.dev3", "1.0dev", "1.0a1.post2.dev3", "1.0+cpu", "1.0+cu118", "1.0+CU118",
    "1.0+a.b-c_d", "1.0a1.post2.dev3+x", "2.13.0+cpu", "1.0+0", "1_0", "", ".", "1.", ".1", "1..2",
    "a", "x1", "1.0x", "1.0+", "1.0++x", "1.0+x+y", "1.0+-", "1.0+x.", "1!", "!1", "1!!2", "1.0 ",
    " 1.0", "1.0\n", "1 .0", "1,2", "1.*", "*", "1.0.post-1", "1.0a1b2", "1.0.dev1.post2", "-1",
    "+1", "vv1", "1.0٣", "١.٠", "1.0+ſ", "1.0po\u017ft1", "1.0\u00e9", "1.0-", "1.0_", "1.0.a.",
    "1.0-1-2", "1.0--1", "1.0.rc.1.post.2.dev.3", "1e5", "1.0;x", "1.0(", "latest",
)  # fmt: skip
OPERATORS = ("==", "!=", "~=", "<=", ">=", "<", ">", "===", "", "=", "=<", "====", "~", "^", "~==")
SETS = (
    ">=1,<2", ">=1,<2,!=1.5", ">=1,", ",>=1", ">=1,,<2", "==1.*", "!=1.*", "==1.*.*", ">=1.*",
    "~=1.*", "==1.0+cpu", ">=1.0+cpu", "~=1.0+cpu", "~=1", "~=1.0", "==1.0a1.*", "==1.0.*+x",
    "==1!2.*", "==v1.*", "~=1!2.3", "~=1.2rc1", ">=1 <2", ">=1;<2", "==1,==2", "<1,>", ">1,<2 ",
)  # fmt: skip


def is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def is_specifier(text: str) -> bool:
    try:
        return bool(text) and len(SpecifierSet(text)) > 0
    except InvalidSpecifier:
        return False


@pytest.mark.parametrize("text", VERSIONS, ids=ascii)
def test_versions_are_those_of_pep_440(text: str) -> None:
    # `packaging` takes blanks around a version; a value of the language has none.
    assert shapes.VERSION.fits(text) == (is_version(text) and text == text.strip())


def test_specifiers_are_those_of_pep_440() -> None:
    different = []
    for operator, version in itertools.product(OPERATORS, VERSIONS):
        text = operator + version
        # `packaging` takes blanks anywhere; a value of the language has none.
        expected = is_specifier(text) and not any(c.isspace() for c in text)
        if operator == "===":  # any text may follow; here, versions only
            expected = is_version(version) and version == version.strip()
        if operator == "====":
            expected = False
        if shapes.SPECIFIER.fits(text) != expected:
            different.append(text)
    assert different == []


@pytest.mark.parametrize("text", SETS)
def test_sets_of_specifiers(text: str) -> None:
    # The resolver takes empty parts and blanks out before the shape is asked.
    plain = all(text.split(",")) and text == text.strip()
    assert shapes.SPECIFIER.fits(text) == (is_specifier(text) and plain)


@pytest.mark.parametrize(
    "name",
    ["Foo_Bar", "foo.bar", "FOO--bar", "a", "A.b_C-d", "x__y", "ruamel.yaml", "zope.interface"],
)
def test_names_are_normalised_as_pep_503_says(name: str) -> None:
    assert shapes.NAME.fits(name)
    assert normalise(name) == canonicalize_name(name)


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (shapes.NAME, "a A9 a.b-c_d " + "x" * 100, "-a a- _a .a a. a/b a@b é " + "x" * 101),
        (shapes.PYTHON, "3.8 3.11 3.99", "3 3.7 2.7 3.111 3.11.2 v3.11 ３.11"),
        (shapes.PLATFORM, "linux/amd64 linux/arm64", "linux linux/x86 Linux/amd64 windows/amd64"),
        (shapes.FLOOR, ">=2.28 >=525.60.13 >=0", "2.28 >2 >= =>1 >=1.2.3.4.5 >=a >=1."),
        (shapes.NUMBER_DOTTED, "12 12.8 9.1.0.70", "12. .8 12.x v12 1.2.3.4.5 12+1"),
        (shapes.SHA256, "0" * 64 + " " + "af" * 32, "0" * 63 + " " + "0" * 65 + " " + "AF" * 32),
        (
            shapes.IMAGE,
            "a python:3.11-slim-bookworm ghcr.io/o/r:X localhost:5000/a/b_c a--b a__b "
            f"x@sha256:{'0' * 64} nvcr.io/nvidia/pytorch:24.01-py3 H.example/x:{'t' * 128}",
            "A a: :b a::b a//b /a a/ a..b a___b -a a- a@sha256:0 a@md5:0 a:-b http://a/b a:b:c "
            f"a:{'t' * 129} x@sha256:{'A' * 64} h:123456/x $x a$b",
        ),
        (shapes.FILE_NAME, "a a-1.0+cpu.whl _a 9!", "-a .a a/b .. a\\b a:b é " + "x" * 201),
        (shapes.RELATIVE, ". a a/b ./a .a/b a/... a..b", ".. ../a a/.. a/../b /a a/ a//b -a a\\b"),
        (shapes.SYSTEM_PACKAGE, "g++-12 libgl1 0ad", "a -y --x A_b libGL1 a=1 a:amd64 x;y"),
        (shapes.GPU, "sm_80 sm_90a sm_120f", "80 sm80 sm_8 sm_1200 sm_90b SM_80"),
        (shapes.DURATION, "1s 90s 10m 2h 999999h", "0s 10 m 1d 1.5h 10M 01s 1000000s -1s"),
        (shapes.COUNT, "0 1 42 999999999", "-1 01 1.0 1000000000 ٣ x"),
        (shapes.PROCESSES, "1 2 9999", "0 -1 01 10000"),
        (shapes.MODULE, "a a.b _x flash_attn a1.b2", "a-b 1a a. .a a..b a/b"),
        (shapes.VARIABLE, "A _ a1", "1A A-B A.B é"),
        (shapes.URL, "https://h file:///x http://h:1/a?b#c", "https:// ftp://h h https://é HTTPS://h"),
        (shapes.BOOLEAN, "true false", "True yes 1"),
        (shapes.VERDICT, "pass fail", "PASS passed blocked"),
        (shapes.ABSOLUTE, "/ /a/b /opt/env/bin/python", "a ./a ~/a"),
    ],
    ids=lambda v: v.expected if isinstance(v, Shape) else "",
)  # fmt: skip
def test_shapes(shape: Shape, good: str, bad: str) -> None:
    assert [text for text in good.split(" ") if not shape.fits(text)] == []
    assert [text for text in ("", *bad.split(" ")) if shape.fits(text)] == []
    for text in good.split(" "):
        for strange in ("\n", "\x00", " ", "\u2028"):
            assert not shape.fits(text + strange)


@pytest.mark.parametrize(
    "shape", [s for s in vars(shapes).values() if isinstance(s, Shape)], ids=lambda s: s.expected
)
@pytest.mark.parametrize(
    "piece", ["a", "a-", "a.", "a/", "1", "1.", "0!", "==1,", "../", "a:", "1-1"]
)
def test_no_shape_takes_for_ever(shape: Shape, piece: str) -> None:
    assert shape.fits(piece * (1 << 15) + "\x00") is False


@pytest.mark.parametrize(("text", "expected"), [("1s", 1), ("90s", 90), ("10m", 600), ("2h", 7200)])
def test_seconds(text: str, expected: int) -> None:
    assert seconds(text) == expected
