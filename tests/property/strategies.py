"""Models that a spec can describe, with strings as hostile as the language allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st

from envspec import model
from envspec.language import values as shapes
from envspec.language.limits import FORBIDDEN
from envspec.language.statements import CLAIMS, NAMED_CLAIMS, words_in
from envspec.language.values import Shape, seconds
from envspec.model import NOWHERE
from envspec.names import normalise
from envspec.source import Span

_T = TypeVar("_T")

HOSTILE = (
    "", " ", "  x  ", '"', "\\", '\\"', "\\\\", "$HOME", "${x}", "$(id)", "`id`", "#", "# x",
    "{", "}", "{\\", "because", 'because "x"', "from pypi", "\t", "\tx\t", "<<EOF", "'", "''${",
    "%s", "{{ x }}", "{% x %}", "é", "字", "𝒳", "e\u0301", "ＡＢ", "\\n", "a=b", 'A="b"', "--flag",
    "-", "*", "~", "!", ";", "&&",
)  # fmt: skip

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
    shapes.URL: ("https://x", "file:///a{b}#c", 'http://h/"\\\\', "https://h/a?b=c&d"),
    shapes.BOOLEAN: ("true", "false"),
    shapes.VERDICT: ("pass", "fail"),
    shapes.GIT_URL: ("https://h/x.git", "ssh://h/{a}#b"),
    shapes.COMMIT: ("0123456789abcdef0123456789abcdef01234567", "a" * 40),
    shapes.SIZE: ("1MiB", "1024MiB", "1024GiB", "999999TiB", "3GiB"),
    shapes.PORT: ("1", "5432", "65535"),
    shapes.STATUS: ("0", "9", "99", "255"),
    shapes.HUB: ("a/b", "prajjwal1/bert-tiny"),
    shapes.REVISION: ("b" * 40,),
    shapes.CUDA_OR_NONE: ("none", "12.8", "9.10.2.21"),
    shapes.ARCHITECTURES: ("none", "sm_80", "sm_90a sm_120f compute_90"),
    shapes.PYTHON_ABI: ("cp311", "cp314t", "pp310"),
    shapes.DIGEST: ("0" * 64, f"sha256:{'f' * 64}"),
    shapes.JAX_BACKEND: ("cpu", "gpu", "tpu"),
    shapes.COLLECTIVES: ("nccl", "gloo", "mpi"),
    shapes.ABSOLUTE: ("/", "/opt/env/bin/python", '/{a}#"b"', "/\\\\", '/A="x"'),
}


def texts() -> st.SearchStrategy[str]:
    """Any text that a string of the language can hold."""
    printable = st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp"])
    return st.one_of(
        st.sampled_from(HOSTILE),
        st.lists(st.sampled_from(HOSTILE), max_size=4).map("".join),
        st.text(printable, max_size=20).filter(lambda t: not FORBIDDEN.search(t)),
    )


def specs() -> st.SearchStrategy[model.Spec]:
    """Whole models, their spans erased.

    Hypothesis chooses strings and sizes and so can shrink them; the rest comes from one seed,
    because a model has a hundred values and choosing each apart takes half a second.
    """
    random = st.randoms(use_true_random=True)
    return st.builds(_spec, random, st.integers(0, 4), st.lists(texts(), min_size=1, max_size=8))


def _spec(random: Random, size: int, strings: list[str]) -> model.Spec:
    return _Maker(random, size, strings).spec()


class _Maker:
    def __init__(self, random: Random, size: int, strings: list[str]) -> None:
        self.random = random
        self.size = size
        self.strings = strings
        self.aliases: list[str] = []
        self.declared: tuple[list[str], ...] = ((), (), ())

    def of(self, shape: Shape) -> str:
        return self.random.choice(SAMPLES[shape])

    def maybe(self, make: Callable[[], str]) -> str:
        return make() if self.random.random() < 0.6 else ""

    def text(self) -> str:
        return self.random.choice(self.strings)

    def reason(self) -> str:
        text = self.text()
        return text if text.strip() else "why"

    def some(self, known: Iterable[_T]) -> list[_T]:
        """Some of the known things, in any order."""
        all_ = list(known)
        return self.random.sample(all_, min(len(all_), self.random.randint(0, self.size)))

    def names(self, shape: Shape) -> list[str]:
        return self.some(SAMPLES[shape])

    def argv(self) -> tuple[str, ...]:
        return tuple(self.text() for _ in range(1 + self.random.randint(0, self.size)))

    def floor(self) -> str:
        return self.of(shapes.FLOOR).removeprefix(">=")

    def variables(self) -> tuple[model.Variable, ...]:
        names = self.names(shapes.VARIABLE)
        return tuple(model.Variable(name, self.text(), NOWHERE) for name in names)

    def index(self) -> str:
        return self.random.choice([*self.aliases, "pypi", "pytorch-cpu"])

    def spec(self) -> model.Spec:
        self.aliases = self.names(shapes.NAME)
        image, _, digest = self.of(shapes.IMAGE).partition("@")
        stages = ("runtime", "build")
        services, assets = self.names(shapes.NAME), self.names(shapes.NAME)
        self.declared = (services, assets, self.names(shapes.VARIABLE))
        names = self.some(dict.fromkeys(map(normalise, SAMPLES[shapes.NAME])))
        cut = self.random.randint(0, len(names))
        return model.Spec(
            model.Project(
                self.of(shapes.NAME), self.source(), tuple(self.names(shapes.RELATIVE)), NOWHERE
            ),
            self.platform(image, digest),
            self.accelerator(),
            self.resources(),
            tuple(model.Index(n, self.of(shapes.URL), NOWHERE) for n in self.aliases),
            tuple(model.Mirror(n, self.index(), NOWHERE) for n in self.names(shapes.NAME)),
            tuple(model.Secret(n, self.reason(), NOWHERE) for n in self.declared[2]),
            tuple(map(self.package, names[:cut])),
            tuple(
                model.SystemPackage(n, s, NOWHERE)
                for s in stages
                for n in self.names(shapes.SYSTEM_PACKAGE)
            ),
            tuple(map(self.extension, names[cut:])),
            tuple(
                model.Step(n, self.argv(), self.variables(), NOWHERE)
                for n in self.names(shapes.NAME)
            ),
            self.variables(),
            tuple(map(self.asset, assets)),
            tuple(map(self.service, services)),
            tuple(
                model.OptionalImport(n, self.reason(), NOWHERE) for n in self.names(shapes.MODULE)
            ),
            tuple(map(self.entry, self.names(shapes.NAME))),
            (*map(self.claim, self.some(CLAIMS)), *self.named_claims()),
        )

    def source(self) -> model.Source:
        kind = self.random.choice(["archive", "archive", "path", "git"])
        if kind == "path":
            return model.PathSource(self.of(shapes.RELATIVE), NOWHERE)
        if kind == "git":
            return self.git()
        file, sha256 = self.of(shapes.FILE_NAME), self.of(shapes.SHA256)
        return model.ArchiveSource(file, sha256, self.maybe(self.index), NOWHERE)

    def git(self) -> model.GitSource:
        return model.GitSource(self.of(shapes.GIT_URL), self.of(shapes.COMMIT), NOWHERE)

    def reasons(self, *words: str) -> tuple[tuple[str, str], ...]:
        kept = [word for word in words if self.random.random() < 0.4]
        return tuple((word, self.reason()) for word in kept)

    def platform(self, image: str, digest: str) -> model.Platform:
        devel, _, devel_digest = self.maybe(lambda: self.of(shapes.IMAGE)).partition("@")
        glibc = self.maybe(self.floor)
        return model.Platform(
            self.of(shapes.PLATFORM), image, digest, NOWHERE, self.of(shapes.PYTHON), NOWHERE,
            glibc, NOWHERE, devel, devel_digest, NOWHERE, NOWHERE,
            self.reasons("base", "python", *["glibc"] * bool(glibc)),
        )  # fmt: skip

    def resources(self) -> model.Resources:
        memory, shm, disk = (
            shapes.size(text) if (text := self.maybe(lambda: self.of(shapes.SIZE))) else 0
            for _ in range(3)
        )
        jobs = int(self.maybe(lambda: self.of(shapes.PROCESSES)) or "0")
        return model.Resources(memory, shm, disk, jobs, NOWHERE)

    def accelerator(self) -> model.Accelerator:
        if self.random.random() < 0.3:
            return model.Accelerator("none", "", "", (), "", "")
        driver, gpus = self.maybe(self.floor), tuple(self.names(shapes.GPU))
        cudnn, nccl = (self.maybe(lambda: self.of(shapes.NUMBER_DOTTED)) for _ in range(2))
        said = (("driver", driver), ("gpus", gpus), ("cudnn", cudnn), ("nccl", nccl))
        reasons = self.reasons(*(word for word, value in said if value))
        toolkit = self.maybe(lambda: self.of(shapes.NUMBER_DOTTED))
        return model.Accelerator("cuda", toolkit, driver, gpus, cudnn, nccl, reasons)

    def package(self, name: str) -> model.Package:
        return model.Package(
            name,
            tuple(self.names(shapes.NAME)),
            self.maybe(lambda: self.of(shapes.SPECIFIER)),
            self.maybe(self.index),
            self.maybe(self.reason),
            NOWHERE,
        )

    def extension(self, name: str) -> model.Extension:
        git = self.git() if self.random.random() < 0.3 else None
        return model.Extension(
            name,
            "" if git else self.maybe(lambda: self.of(shapes.SPECIFIER)),
            "" if git else self.maybe(self.index),
            self.maybe(self.reason),
            git,
            tuple(dict.fromkeys(map(normalise, self.names(shapes.NAME)))),
            self.variables(),
            tuple(self.names(shapes.MODULE)),
            NOWHERE,
        )

    def asset(self, name: str) -> model.Asset:
        hub = self.maybe(lambda: self.of(shapes.HUB))
        return model.Asset(
            name,
            hub,
            "" if hub else self.of(shapes.URL),
            self.of(shapes.REVISION) if hub else self.maybe(lambda: self.of(shapes.REVISION)),
            self.of(shapes.SHA256),
            self.maybe(lambda: self.of(shapes.RELATIVE)) or f"assets/{name}",
            self.random.choice(["", *self.declared[2]]),
            NOWHERE,
        )

    def service(self, name: str) -> model.Service:
        image, _, digest = self.of(shapes.IMAGE).partition("@")
        return model.Service(
            name,
            image,
            digest,
            int(self.of(shapes.PORT)),
            self.argv() if self.random.random() < 0.5 else (),
            self.argv() if self.random.random() < 0.5 else (),
            self.variables(),
            seconds(self.of(shapes.DURATION)),
            NOWHERE,
        )

    def entry(self, name: str) -> model.Entry:
        script = self.maybe(lambda: self.of(shapes.RELATIVE))
        services, assets, secrets = (tuple(self.some(names)) for names in self.declared)
        return model.Entry(
            name,
            self.random.choice(model.LEVELS),
            self.argv()[1 if script else 0 :],
            script,
            seconds(self.of(shapes.DURATION)),
            int(self.of(shapes.PROCESSES)),
            self.variables(),
            self.random.random() < 0.5,
            model.Expect(
                int(self.of(shapes.STATUS)),
                tuple(self.names(shapes.RELATIVE)),
                tuple(self.text() for _ in range(self.random.randint(0, 2))),
            ),
            services,
            assets,
            secrets,
            NOWHERE,
        )

    def named_claims(self) -> list[model.Claim]:
        """Of modules alone: an entry that is claimed must be there."""
        shape, of = NAMED_CLAIMS["extension"][0], words_in("claims")["extension"].params[1].shape
        made: dict[str, model.Claim] = {}
        for name in self.names(shape):
            value = self.maybe(lambda: self.of(of)) or model.UNSTATED
            reason = self.maybe(self.reason)
            made[name] = model.Claim("extension", value, reason, NOWHERE, name)
        return list(made.values())

    def claim(self, name: str) -> model.Claim:
        value = self.maybe(lambda: self.of(CLAIMS[name][0])) or model.UNSTATED
        return model.Claim(name, value, self.maybe(self.reason), NOWHERE)


def erase(value: Any) -> Any:
    """The same value with every span at nowhere."""
    if isinstance(value, Span):
        return NOWHERE
    if isinstance(value, tuple):
        parts = [erase(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
