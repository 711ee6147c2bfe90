"""Models that a spec can describe, with strings as hostile as the language allows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from envspec import model
from envspec.language import values as shapes
from envspec.language.parse import _FORBIDDEN
from envspec.language.statements import CLAIMS
from envspec.language.values import Shape, normalise, seconds
from envspec.source import Span

NOWHERE = Span(0, 0)

_HOSTILE = (
    "", " ", "  x  ", '"', "\\", '\\"', "\\\\", "$HOME", "${x}", "$(id)", "`id`", "#", "# x", "{", "}",
    "{\\", "because", 'because "x"', "from pypi", "\t", "\tx\t", "<<EOF", "'", "''${", "%s", "{{ x }}",
    "{% x %}", "é", "字", "𝒳", "e\u0301", "ＡＢ", "\\n", "a=b", 'A="b"', "--flag", "-", "*", "~", "!", ";", "&&",
)  # fmt: skip


# Drawing from the regular expressions themselves takes half a second a model.
SAMPLES: dict[Shape, tuple[str, ...]] = {
    shapes.NAME: ("x", "7", "a.b", "A_b-c", "because", "from", "x" * 100, "none", "run", "env"),
    shapes.VERSION: ("1", "v2", "0.0.0", "1!2.3", "2.13.0+cpu", "1.0RC1.post2.dev3+a.1", "1-1"),
    shapes.SPECIFIER: ("==1", "===1.0+x", "!=1.*", "~=1.2", "<2,>=1,!=1.5", ">=1a1.dev0"),
    shapes.PYTHON: ("3.8", "3.11", "3.99"),
    shapes.PLATFORM: ("linux/amd64", "linux/arm64"),
    shapes.FLOOR: (">=0", ">=2.28", ">=525.60.13", ">=1.2.3.4"),
    shapes.NUMBER_DOTTED: ("0", "12.8", "1.2.3.4"),
    shapes.SHA256: ("0" * 64, "0123456789abcdef" * 4),
    shapes.IMAGE: ("a", "localhost:5000/x/y_z:T-1._", f"a.b/c--d__e:1@sha256:{'f' * 64}"),
    shapes.FILE_NAME: ("x", "_-1.0+cpu!.tar.gz", "9" * 200),
    shapes.RELATIVE: (".", "src", "./a/.b/c", "a/...", "smoke.py", "_+/-x"),
    shapes.SYSTEM_PACKAGE: ("g++-12", "libgl1", "0a", "x.y"),
    shapes.GPU: ("sm_80", "sm_90a", "sm_120f"),
    shapes.DURATION: ("1s", "59s", "60s", "10m", "120m", "999999h", "999999s"),
    shapes.PROCESSES: ("1", "2", "9999"),
    shapes.COUNT: ("0", "1", "999999999"),
    shapes.MODULE: ("a", "_x.y_1.Z", "because"),
    shapes.VARIABLE: ("A", "_", "a1_B", "because"),
    shapes.URL: ("https://x", "file:///a{b}#c", 'http://h/"\\', "https://h/a?b=c&d"),
    shapes.BOOLEAN: ("true", "false"),
    shapes.VERDICT: ("pass", "fail"),
    shapes.ABSOLUTE: ("/", "/opt/env/bin/python", '/{a}#"b"', "/\\", '/A="x"'),
}

_TEXTS = st.one_of(
    st.sampled_from(_HOSTILE),
    st.lists(st.sampled_from(_HOSTILE), max_size=5).map("".join),
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp"]), max_size=20
    ).filter(lambda t: not _FORBIDDEN.search(t)),
)


def texts() -> st.SearchStrategy[str]:
    """Any text that a string of the language can hold."""
    return _TEXTS


def reasons() -> st.SearchStrategy[str]:
    """A reason, or none."""
    return st.one_of(st.just(""), texts().filter(str.strip))


def shaped(shape: Shape) -> st.SearchStrategy[str]:
    """Texts of a shape."""
    return st.sampled_from(SAMPLES[shape])


def unique(names: st.SearchStrategy[str], most: int = 4) -> st.SearchStrategy[list[str]]:
    """Different names."""
    return st.lists(names, unique=True, max_size=most)


def some(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A value, or nothing."""
    return st.one_of(st.just(""), strategy)


def _argv() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(texts(), min_size=1, max_size=5).map(tuple)


def _floors() -> st.SearchStrategy[str]:
    return shaped(shapes.FLOOR).map(lambda t: t.removeprefix(">="))


@st.composite
def _variables(draw: st.DrawFn) -> tuple[model.Variable, ...]:
    names = draw(unique(shaped(shapes.VARIABLE)))
    return tuple(model.Variable(name, draw(texts()), NOWHERE) for name in names)


@st.composite
def _entries(draw: st.DrawFn) -> tuple[model.Entry, ...]:
    made = []
    for name in draw(unique(shaped(shapes.NAME), 3)):
        script = draw(some(shaped(shapes.RELATIVE)))
        argv = draw(_argv())
        made.append(
            model.Entry(
                name,
                draw(st.sampled_from(model.LEVELS)),
                argv[1:] if script else argv,
                script,
                seconds(draw(shaped(shapes.DURATION))),
                int(draw(shaped(shapes.PROCESSES))),
                draw(_variables()),
                draw(st.booleans()),
                NOWHERE,
            )
        )
    return tuple(made)


def _accelerators() -> st.SearchStrategy[model.Accelerator]:
    cuda = st.builds(
        model.Accelerator,
        kind=st.just("cuda"),
        toolkit=some(shaped(shapes.NUMBER_DOTTED)),
        driver=some(_floors()),
        gpus=st.lists(shaped(shapes.GPU), max_size=3).map(tuple),
        cudnn=some(shaped(shapes.NUMBER_DOTTED)),
        nccl=some(shaped(shapes.NUMBER_DOTTED)),
        span=st.just(NOWHERE),
    )
    return st.one_of(st.just(model.Accelerator("none", "", "", (), "", "", NOWHERE)), cuda)


def _urls() -> st.SearchStrategy[str]:
    return shaped(shapes.URL).filter(lambda u: "@" not in u)


@st.composite
def _packages(draw: st.DrawFn, aliases: list[str]) -> tuple[model.Package, ...]:
    index = some(st.sampled_from([*aliases, "pypi", "pytorch-cpu"]))
    return tuple(
        model.Package(
            name,
            tuple(draw(unique(shaped(shapes.NAME), 2))),
            draw(some(shaped(shapes.SPECIFIER))),
            draw(index),
            draw(reasons()),
            NOWHERE,
        )
        for name in draw(unique(shaped(shapes.NAME).map(normalise)))
    )


@st.composite
def _claims(draw: st.DrawFn) -> tuple[model.Claim, ...]:
    names = draw(unique(st.sampled_from(sorted(CLAIMS)), len(CLAIMS)))
    return tuple(
        model.Claim(
            name,
            draw(st.one_of(st.just(model.UNSTATED), shaped(CLAIMS[name][0]))),
            draw(reasons()),
            NOWHERE,
        )
        for name in names
    )


@st.composite
def specs(draw: st.DrawFn) -> model.Spec:
    """A whole model, its spans erased."""
    names = draw(unique(shaped(shapes.NAME), 3))
    indexes = tuple(model.Index(name, draw(_urls()), NOWHERE) for name in names)
    image, _, digest = draw(shaped(shapes.IMAGE)).partition("@")
    archive = model.ArchiveSource(
        draw(shaped(shapes.FILE_NAME)),
        draw(shaped(shapes.SHA256)),
        draw(some(st.sampled_from([*names, "pypi"]))),
        NOWHERE,
    )
    system = tuple(
        model.SystemPackage(name, stage, NOWHERE)
        for stage in ("runtime", "build")
        for name in draw(unique(shaped(shapes.SYSTEM_PACKAGE)))
    )
    steps = draw(unique(shaped(shapes.NAME), 2))
    optional = draw(unique(shaped(shapes.MODULE)))
    return model.Spec(
        model.Project(
            draw(shaped(shapes.NAME)),
            archive,
            tuple(draw(st.lists(shaped(shapes.RELATIVE), max_size=3))),
            NOWHERE,
        ),
        model.Platform(
            draw(shaped(shapes.PLATFORM)),
            image,
            digest,
            NOWHERE,
            draw(shaped(shapes.PYTHON)),
            NOWHERE,
            draw(some(_floors())),
            NOWHERE,
        ),
        draw(_accelerators()),
        indexes,
        draw(_packages(names)),
        system,
        tuple(model.Step(name, draw(_argv()), NOWHERE) for name in steps),
        draw(_variables()),
        draw(_entries()),
        tuple(
            model.OptionalImport(name, draw(texts().filter(str.strip)), NOWHERE)
            for name in optional
        ),
        draw(_claims()),
    )


def erase(value: Any) -> Any:
    """The same value with every span at nowhere."""
    if isinstance(value, Span):
        return NOWHERE
    if isinstance(value, tuple):
        parts = [erase(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
