"""spec.lock: what is written is read back, one package is one line, nothing odd is let in."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envspec.diagnostics import DiagnosticError
from envspec.lock.file import dumps, loads
from envspec.lock.model import (
    Artefact,
    Deb,
    Lock,
    LockedExtension,
    LockedPackage,
    Nixpkgs,
    System,
)
from envspec.source import SourceFile

SHA = "a0" * 32
NIXPKGS = Nixpkgs("NixOS", "nixpkgs", "b" * 40, f"sha256-{'A' * 43}=", 1_700_000_000)

# No deadlines and no health checks by the clock: how fast a machine is, is no finding.
CALM = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

names = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,4})?", fullmatch=True)
versions = st.sampled_from(["0", "1.0", "2026.9.0", "1!2.0", "1.0rc1", "2.13.0+cpu", "1.post1"])
aliases = st.sampled_from(["pypi", "", "pytorch-cpu", "lab.Two_3"])
shas = st.integers(0, (1 << 256) - 1).map("{:064x}".format)
sizes = st.integers(min_value=0, max_value=1 << 45)
texts = st.text(st.characters(exclude_categories=("C", "Z")), max_size=20)
files = st.builds("{}{}.whl".format, st.sampled_from("aZ_0é"), texts).map(
    lambda name: name.replace("/", "").replace("\\", "")
)

artefacts = st.builds(Artefact, aliases, files, shas, sizes)


develops = st.sampled_from(
    [{}, {"devel_name": "nvidia/cuda:12.8.1-devel", "devel_digest": "sha256:" + "b" * 64}]
)
suites = st.sampled_from(["bookworm", "bookworm-updates", "noble/main"])
wheels = st.sampled_from([("", ""), ("ext-1.0-cp311-cp311-linux_x86_64.whl", "a0" * 32)])
debs = st.builds(
    Deb,
    st.sampled_from(["libgl1", "g++-12", "libc6.1"]),
    st.sampled_from(["1.2.13.dfsg-1", "1:4.4~rc1+deb12u1"]),
    st.sampled_from(["amd64", "all"]),
    st.from_regex(r"[a-z]{1,5}_1%3a4[.]4~rc1_amd64[.]deb", fullmatch=True),
    st.sampled_from(["pool/main/libg/libglvnd/libgl1_1.6.0-1_amd64.deb"]),
    shas,
    sizes,
)


@st.composite
def locks(draw: st.DrawFn) -> Lock:
    """A whole lock, of up to five packages."""
    members = draw(st.lists(names, max_size=5, unique=True))
    member_files = draw(st.lists(files, min_size=len(members), max_size=len(members), unique=True))
    some = st.lists(st.sampled_from(members), max_size=3).map(tuple) if members else st.just(())
    packages = tuple(
        LockedPackage(
            name, draw(versions), draw(artefacts)._replace(file=file), draw(some), draw(some)
        )
        for name, file in zip(members, member_files, strict=True)
    )
    installer = LockedPackage("uv", draw(versions), draw(artefacts), (), ("spec",))
    return Lock(
        inputs=draw(st.lists(st.tuples(texts, texts), max_size=5).map(tuple)),
        base_name=draw(texts),
        base_digest="sha256:" + draw(shas),
        source=draw(artefacts),
        installer=installer,
        packages=packages,
        resolver=draw(texts),
        resolver_version=draw(texts),
        exclude_newer=draw(st.sampled_from(["", "2026-01-31T23:59:59Z"])),
        tools=tuple(draw(st.dictionaries(names, texts, max_size=3)).items()),
        facts=draw(st.one_of(st.just(""), shas)),
        nixpkgs=NIXPKGS._replace(last_modified=draw(sizes)),
        cuda=draw(st.sampled_from(["", "12.8", "13"])),
        driver_floor=draw(st.sampled_from(["", "525.60.13"])),
        **draw(develops),
        system=System(
            tuple(draw(st.dictionaries(suites, st.just("2026-01-31T23:59:59Z"))).items()),
            draw(texts),
            tuple(draw(st.lists(debs, max_size=3, unique_by=lambda d: d.file))),
            tuple(draw(st.lists(debs, max_size=3, unique_by=lambda d: d.file))),
        ),
        extensions=tuple(
            LockedExtension(
                f"ext-{n}", draw(versions), draw(artefacts), draw(some), (package("ninja"),), *wheel
            )
            for n, wheel in enumerate(draw(st.lists(wheels, max_size=2)))
        ),
    )


def package(name: str, *requires: str) -> LockedPackage:
    file = f"{name}-1.0-py3-none-any.whl"
    return LockedPackage(name, "1.0", Artefact("pypi", file, SHA, 1000), requires, ("spec",))


LOCK = Lock(
    inputs=(("package einops", ">=0.8"), ("python", "3.11")),
    base_name="python:3.11-slim-bookworm",
    base_digest="sha256:" + SHA,
    source=Artefact("pypi", "x_transformers-2.31.10.tar.gz", SHA, 5),
    installer=package("uv"),
    packages=(package("einops"), package("einx", "einops")),
    resolver="uv",
    resolver_version="0.13.9",
    tools=(("envspec", "0.1.0"),),
    facts=SHA,
    nixpkgs=NIXPKGS,
    cuda="12.8",
    driver_floor="525.60.13",
    devel_name="nvidia/cuda:12.8.1-devel-ubuntu22.04",
    devel_digest="sha256:" + SHA,
    system=System(
        (("bookworm", "2026-01-31T23:59:59Z"),),
        "",
        (
            Deb("zlib1g", "1:1.2", "amd64", "zlib1g_1%3a1.2_amd64.deb", "pool/z/z.deb", SHA, 9),
            Deb("libgl1", "1.6", "amd64", "libgl1_1.6_amd64.deb", "pool/l/l.deb", SHA, 9),
        ),
        (),
    ),
    extensions=(
        LockedExtension(
            "torch-scatter",
            "2.1.2",
            Artefact("pypi", "torch_scatter-2.1.2.tar.gz", SHA, 5),
            ("einops",),
            (package("ninja"),),
        ),
    ),
)


def read(text: str) -> Lock:
    return loads(text, SourceFile("spec.lock", text))


def refused(text: str) -> tuple[str, int, str]:
    """Title, line, and the text that the finding points at."""
    source = SourceFile("spec.lock", text)
    with pytest.raises(DiagnosticError) as caught:
        loads(text, source)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0407"
    assert finding.source is source
    assert "envspec lock" in finding.hint
    assert finding.title.isprintable()
    position = source.position(finding.span.start)
    return finding.title, position.line, text[finding.span.start : finding.span.end]


@given(locks())
@settings(max_examples=60, **CALM)
def test_what_is_written_is_read_back(lock: Lock) -> None:
    text = dumps(lock)
    assert read(text) == lock
    assert dumps(read(text)) == text
    assert text.endswith("}\n")
    for package in lock.packages:
        assert sum(f'{{"name": "{package.name}", ' in line for line in text.split("\n")[5:]) >= 1


def test_one_package_is_one_line() -> None:
    """Changing one package changes one line of the file."""
    changed = LOCK._replace(packages=(LOCK.packages[0]._replace(version="2.0"), LOCK.packages[1]))
    before, after = dumps(LOCK).split("\n"), dumps(changed).split("\n")
    assert len(before) == len(after)
    assert [b for b, a in zip(before, after, strict=True) if a != b] == [
        f'    {{"name": "einops", "version": "1.0", "index": "pypi", "file": '
        f'"einops-1.0-py3-none-any.whl", "sha256": "{SHA}", "size": 1000, "requires": [], '
        f'"why": ["spec"]}},'
    ]


def test_place_of_a_wrong_value() -> None:
    text = dumps(LOCK).replace(
        '"size": 1000, "requires": ["einops"]', '"size": -1, "requires": ["einops"]'
    )
    title, line, shown = refused(text)
    assert title == "`packages[1].size` must be a whole number of bytes, found -1"
    assert (line, shown) == (18, "-1")


WRONG: list[tuple[tuple[Any, ...], Any, str]] = [
    (("packages", 0, "sha256"), SHA[:-1], "64 hexadecimal digits"),
    (("packages", 0, "sha256"), SHA.upper(), "64 hexadecimal digits"),
    (("packages", 0, "sha256"), SHA + "\n", "64 hexadecimal digits"),
    (("packages", 0, "sha256"), 7, "64 hexadecimal digits"),
    (("packages", 0, "file"), "a/b.whl", "plain file name"),
    (("packages", 0, "file"), "..", "plain file name"),
    (("packages", 0, "file"), ".", "plain file name"),
    (("packages", 0, "file"), "..\\a", "plain file name"),
    (("packages", 0, "file"), "-r.whl", "plain file name"),
    (("packages", 0, "file"), "", "plain file name"),
    (("packages", 0, "file"), "a\x1b[31m.whl", "plain file name"),
    (("packages", 0, "file"), "a\nb.whl", "plain file name"),
    (("packages", 0, "file"), "a\u202elhw.whl", "plain file name"),
    (("packages", 0, "file"), "a\ud800.whl", "plain file name"),
    (("packages", 0, "file"), "a" * 256, "plain file name"),
    (("packages", 0, "name"), "Einops", "package name in lower case"),
    (("packages", 0, "name"), "ein_ops", "package name in lower case"),
    (("packages", 0, "name"), None, "package name in lower case"),
    (("packages", 0, "version"), "1.0 ", "must be a version"),
    (("packages", 0, "version"), 1.0, "must be a version"),
    (("packages", 0, "index"), "http://u:p@h", "index alias"),
    (("packages", 0, "size"), True, "whole number of bytes"),
    (("packages", 0, "size"), 1.0, "whole number of bytes"),
    (("packages", 0, "size"), "1", "whole number of bytes"),
    (("packages", 0, "requires"), "einx", "must be a list"),
    (("packages", 0, "requires"), ["torch"], "must name a package of the lock"),
    (("packages", 0, "requires"), [[]], "must name a package of the lock"),
    (("packages", 0, "why"), {}, "must be a list"),
    (("packages", 0, "why"), ["nobody"], "must name a package of the lock"),
    (("packages", 0), [], "must be an object"),
    (("packages", 1, "name"), "einops", "holds `einops` twice"),
    (("packages", 1, "file"), "einops-1.0-py3-none-any.whl", "twice"),
    (("packages",), {}, "must be a list"),
    (("installer", "sha256"), "", "64 hexadecimal digits"),
    (("installer",), None, "must be an object"),
    (("source", "file"), "../x.tar.gz", "plain file name"),
    (("source", "size"), -1, "whole number of bytes"),
    (("base", "digest"), SHA, "`sha256:` and 64"),
    (("base", "name"), "python\x00", "control character"),
    (("inputs", 0), ["python"], "pair of texts"),
    (("inputs", 0), ["python", 3], "must be a text"),
    (("inputs", 0), ["python", "3.11\u2028"], "control character"),
    (("inputs",), 1, "must be a list"),
    (("resolver", "version"), "\x7f", "control character"),
    (("resolver", "name"), 1, "must be a text"),
    (("resolver", "exclude_newer"), "2026-01-31", "moment in UTC"),
    (("resolver", "inputs"), SHA, "not the digest"),
    (("tools",), [], "`tools` must be an object"),
    (("tools",), {"A B": "1"}, "package name in lower case"),
    (("tools", "envspec"), 1, "must be a text"),
    (("facts",), SHA[:-1], "64 hexadecimal digits"),
    (("nixpkgs", "owner"), "a/b", "owner of a repository"),
    (("nixpkgs", "repo"), "..", "name of a repository"),
    (("nixpkgs", "rev"), "main", "40 hexadecimal digits"),
    (("nixpkgs", "nar_hash"), 'sha256-"${x}"', "hash in base 64"),
    (("nixpkgs", "last_modified"), -1, "number of seconds"),
    (("driver", "cuda"), "12.x", "CUDA version"),
    (("driver", "floor"), "١٢", "driver version"),
    (("devel", "digest"), "", "`sha256:` and 64"),
    (("devel", "name"), "a\nb", "control character"),
    (("extensions",), {}, "must be a list"),
    (("extensions", 0, "name"), "einx", "holds `einx` twice"),
    (("extensions", 0, "sha256"), "", "64 hexadecimal digits"),
    (("extensions", 0, "file"), "../x.tar.gz", "plain file name"),
    (("extensions", 0, "requires"), ["torch"], "must name a package of the lock"),
    (("extensions", 0, "requires"), "einops", "must be a list"),
    (("extensions", 0, "build"), None, "must be a list"),
    (("extensions", 0, "build", 0, "why"), ["einops"], "must name a package of the lock"),
    (("extensions", 0, "wheel"), "a.whl", "belong together"),
    (("extensions", 0, "wheel"), "-b.whl", "the name of a wheel"),
    (("extensions", 0, "wheel_sha256"), SHA, "belong together"),
    (("system", "suites"), [], "must be an object"),
    (("system", "suites", "bookworm"), "today", "a moment in UTC"),
    (("system", "asked"), 1, "must be a text"),
    (("system", "runtime"), "libgl1", "must be a list"),
    (("system", "runtime", 0, "name"), "Lib", "a package of the distribution"),
    (("system", "runtime", 0, "version"), "1 2", "a version of the distribution"),
    (("system", "runtime", 0, "architecture"), "$x", "an architecture"),
    (("system", "runtime", 0, "file"), "a/b.deb", "plain name of a `.deb`"),
    (("system", "runtime", 0, "file"), "-x.deb", "plain name of a `.deb`"),
    (("system", "runtime", 1, "file"), "zlib1g_1%3a1.2_amd64.deb", "twice"),
    (("system", "runtime", 0, "pool"), "pool/../x.deb", "path below the mirror"),
    (("system", "runtime", 0, "pool"), "/etc/passwd", "path below the mirror"),
    (("system", "runtime", 0, "sha256"), "0", "64 hexadecimal digits"),
    (("system", "runtime", 0, "size"), -1, "whole number of bytes"),
    (("envspec_lock",), 1, "lock version 3, the file says 1"),
    (("envspec_lock",), True, "lock version 3"),
]


@pytest.mark.parametrize(("path", "value", "expected"), WRONG)
def test_wrong_values(path: tuple[Any, ...], value: object, expected: str) -> None:
    """Every value is checked, and the finding points at it."""
    data = json.loads(dumps(LOCK))
    holder = data
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    text = json.dumps(data, indent=1)
    title, _line, shown = refused(text)
    assert expected in title
    written = json.dumps(value, indent=1)
    inner = {"[]": "[", "{}": "{"}
    if not isinstance(value, list) or value == []:
        assert shown.startswith(inner.get(written, written)[: len(shown)])


KEYED: list[tuple[Any, ...]] = [
    (),
    ("base",),
    ("devel",),
    ("source",),
    ("packages", 1),
    ("installer",),
    ("system",),
    ("system", "runtime", 0),
    ("extensions", 0),
]


@pytest.mark.parametrize("path", KEYED)
def test_keys_are_exactly_these(path: tuple[Any, ...]) -> None:
    data = json.loads(dumps(LOCK))
    holder = data
    for step in path:
        holder = holder[step]
    holder["extra"] = 1
    title, _line, shown = refused(json.dumps(data))
    assert "unknown key" in title
    assert shown == "1"
    del holder["extra"]
    key, _ = holder.popitem()
    assert f"lacks `{key}`" in refused(json.dumps(data))[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "nesting"),
        ('{"a": ' + "9" * 10_000 + "}", "number"),
        ("null", "must be an object"),
        ('{"envspec_lock": 1, "envspec_lock": 1}', "`envspec_lock` twice"),
        ('"' + "a" * (16 << 20) + '"', "longer than"),
        ("<<<<<<< ours\n" + dumps(LOCK), "not valid JSON"),
    ],
)
def test_not_a_lock_at_all(text: str, expected: str) -> None:
    assert expected in refused(text)[0]


@given(st.text(max_size=80), st.integers(0, 2000), st.integers(0, 40))
@settings(max_examples=150, **CALM)
def test_reading_never_breaks(noise: str, at: int, cut: int) -> None:
    """Whatever the text, the answer is a lock or an E0407 at a place inside it."""
    good = dumps(LOCK)
    text = good[:at] + noise + good[at + cut :]
    source = SourceFile("spec.lock", text)
    try:
        loads(text, source)
    except DiagnosticError as error:
        for finding in error.diagnostics:
            assert finding.code == "E0407"
            assert 0 <= finding.span.start <= finding.span.end <= len(text) + 1


def test_reading_a_lock_imports_little() -> None:
    """`envspec compile` of a locked spec must not pay for a resolver."""
    code = (
        "import sys, envspec.lock.file, envspec.lock.inputs\n"
        "heavy = {'requests', 'pip', 'uv', 'packaging', 'urllib', 'dataclasses', 'subprocess'}\n"
        "print(sorted(heavy & {m.partition('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_inputs_that_were_edited_are_seen() -> None:
    """The digest of what the resolver was given guards every letter of it."""
    text = dumps(LOCK)
    title, line, _ = refused(text.replace('">=0.8"', '">=0.9"'))
    assert (title.startswith("`resolver.inputs` is not the digest"), line) == (True, 3)
    assert refused(text.replace('"exclude_newer": ""', '"exclude_newer": "2026-01-01T00:00:00Z"'))
