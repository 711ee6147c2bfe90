"""A diagnosis → what to change. Each recipe is one function, named in the table of signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from envspec.diagnose.changes import Change, has_older_names
from envspec.diagnose.engine import Diagnosis
from envspec.facts.failures import removed_name, system_library
from envspec.facts.lookup import distribution_for_import
from envspec.model import Spec
from envspec.names import normalise

_GIB = 1 << 30
_MEMORY, _SHM, _TIMEOUT = 8 * _GIB, 1 * _GIB, 600


class Mend(NamedTuple):
    """What to do. ``change`` is a line of the spec, None where it is nothing in the spec.
    ``certain`` says that it is the one thing to do: it can be applied without a decision."""

    text: str
    change: Change | None = None
    certain: bool = False


class Asked(NamedTuple):
    """What a recipe sees: the diagnosis, the entry that failed (``""``: none), and the spec, None
    where there is none."""

    diagnosis: Diagnosis
    entry: str
    spec: Spec | None

    def value(self, name: str) -> str:
        """What the line named."""
        return self.diagnosis.values.get(name, "")


def propose(diagnosis: Diagnosis, entry: str = "", spec: Spec | None = None) -> tuple[Mend, ...]:
    """What would mend it; ``()`` where nothing is known."""
    recipe = _RECIPES.get(diagnosis.sign.mend or "")
    return tuple(recipe(Asked(diagnosis, entry, spec))) if recipe else ()


def _package(name: str, *, certain: bool, specifier: str = "") -> Mend:
    shown = f"{name} {specifier}".strip()
    verb = "ask for" if specifier else "declare"
    return Mend(f"{verb} `{shown}`", Change("packages", name, specifier), certain)


def _of_module(asked: Asked) -> list[Mend]:
    module = asked.value("module")
    row = distribution_for_import(module)
    if row is not None and row.repository:
        return [
            Mend(f"`{module}` comes from the repository {row.repository}: give it an `extension`")
        ]
    if row is not None:
        only = len(row.distributions) == 1
        return [_package(name, certain=only) for name in row.distributions]
    # A distribution of the same name is the usual case and a guess: names can be squatted.
    return [_package(normalise(module), certain=False)] if module else []


def _named(asked: Asked) -> list[Mend]:
    name = normalise(asked.value("distribution").strip(".,;`'\""))
    row = distribution_for_import(name.replace("-", "_"))
    if row is not None and len(row.distributions) == 1:
        return [_package(row.distributions[0], certain=True)]
    return [_package(name, certain=False)] if name else []


def _one(name: str, specifier: str = "") -> Callable[[Asked], list[Mend]]:
    return lambda _: [_package(name, certain=True, specifier=specifier)]


def _constrain(asked: Asked) -> list[Mend]:
    name = normalise(asked.value("distribution"))
    return [_package(name, certain=True, specifier=asked.value("specifier").strip())]


def _removed(asked: Asked) -> list[Mend]:
    module, name = asked.value("module"), asked.value("name")
    return _below(f"{module}.{name}" if name else module)


def _below(name: str) -> list[Mend]:
    row = removed_name(name)
    if row is None:
        return []
    if row.distribution == "python":
        text = f"take a Python before {row.below}, which took `{row.name}` away"
        return [Mend(text, Change("platform", "python", _before(row.below)))]
    return [_package(row.distribution, certain=True, specifier=f"<{row.below}")]


def _before(release: str) -> str:
    major, _, minor = release.partition(".")
    return f"{major}.{int(minor) - 1}"


def _library(asked: Asked) -> list[Mend]:
    return _system(asked, asked.value("library") or asked.value("name"))


def _program(name: str) -> Callable[[Asked], list[Mend]]:
    return lambda asked: _system(asked, name)


def _system(asked: Asked, name: str, stage: str = "runtime") -> list[Mend]:
    row = system_library(name.rpartition("/")[2])
    if row is None:
        return []
    certain = asked.spec is not None and has_older_names(asked.spec)
    return [Mend(f"install `{row.package}`", Change("system", stage, row.package), certain)]


def _build(*packages: str, stage: str = "build") -> Callable[[Asked], list[Mend]]:
    def recipe(_: Asked) -> list[Mend]:
        text = f"install `{' '.join(packages)}`"
        return [Mend(text, Change("system", stage, packages[0]), len(packages) == 1)]

    return recipe


def _compiler(asked: Asked) -> list[Mend]:
    tool = asked.value("tool").rpartition("/")[2]
    known = {"cmake": "cmake", "ninja": "ninja-build", "cargo": "cargo", "rustc": "cargo"}
    package = known.get(tool, "build-essential")
    return [
        Mend(
            f"install `{package}` where code is compiled", Change("system", "build", package), True
        )
    ]


def _nvcc(asked: Asked) -> list[Mend]:
    cuda = asked.spec.accelerator.toolkit if asked.spec else ""
    text = "compile in an image with nvcc: name it with `devel`"
    if cuda:
        text += f", one of CUDA {cuda}"
    return [Mend(text)]


def _memory(asked: Asked) -> list[Mend]:
    have = asked.spec.resources.memory if asked.spec else 0
    return [_resource("memory", 2 * (have or _MEMORY), asked)]


def _shm(asked: Asked) -> list[Mend]:
    have = asked.spec.resources.shm if asked.spec else 0
    return [_resource("shm", max(8 * _GIB, 2 * (have or _SHM)), asked)]


def _resource(word: str, size: int, asked: Asked) -> Mend:
    value = f"{-(-size // _GIB)}GiB"
    return Mend(
        f"give more: `{word} {value}`", Change("resources", word, value), asked.spec is not None
    )


def _jobs(asked: Asked) -> list[Mend]:
    have = asked.spec.resources.jobs if asked.spec else 0
    value = str(max(1, have // 2)) if have else "1"
    first = Mend(f"compile fewer files at once: `jobs {value}`", Change("resources", "jobs", value))
    return [first, *(m._replace(certain=False) for m in _memory(asked))]


def _timeout(asked: Asked) -> list[Mend]:
    if not asked.entry:
        return [Mend("give the entry more time with `timeout`")]
    entry = (
        next((e for e in asked.spec.entries if e.name == asked.entry), None) if asked.spec else None
    )
    seconds = 2 * (entry.timeout if entry else _TIMEOUT)
    value = f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"
    change = Change("entry", "timeout", value, asked.entry)
    return [Mend(f"give the entry more time: `timeout {value}`", change, entry is not None)]


def _network(asked: Asked) -> list[Mend]:
    asset = Mend("say what it downloads as an `asset`, or put it beside the source")
    if not asked.entry:
        return [asset]
    change = Change("entry", "network", "allowed", asked.entry)
    return [asset, Mend("or leave the network on for this entry; the report will say so", change)]


def _says(text: str) -> Callable[[Asked], list[Mend]]:
    return lambda _: [Mend(text)]


def _mkl(_: Asked) -> list[Mend]:
    return [Mend("let MKL use GNU's threads", Change("env", "MKL_THREADING_LAYER", '"GNU"'), True)]


_RECIPES: dict[str, Callable[[Asked], list[Mend]]] = {
    "package-of-module": _of_module,
    "package": _named,
    "package-accelerate": _one("accelerate"),
    "tf-keras": _one("tf-keras"),
    "mkl-threading": _mkl,
    "numpy-one": _one("numpy", "<2"),
    "numba-numpy": lambda a: [_package("numpy", certain=True, specifier=f"=={a.value('most')}.*")],
    "protobuf": _one("protobuf", "<3.21"),
    "torch-before-2": _one("torch", "<2"),
    "torch-before-26": _says("take a torch before 2.6, or let the code pass `weights_only=False`"),
    "constrain": _constrain,
    "removed": _removed,
    "removed-attribute": _removed,
    "system-library": _library,
    "git": _program("git"),
    "graphviz": _program("dot"),
    "tesseract": _program("tesseract"),
    "java": _program("java"),
    "espeak": _program("espeak"),
    "zbar": _program("libzbar.so.0"),
    "compiler": _compiler,
    "cmake": _build("cmake"),
    "rust": _build("cargo"),
    "ninja": _one("ninja"),
    "run-compiler": _build("gcc", "libc6-dev", stage="runtime"),
    "python-headers": _says(
        "compile in an image with the headers of Python: an image of `python` has them"
    ),
    "header": _says(
        "install the development package that has the header, with `system { build … }`"
    ),
    "older-gcc": _says("name an older gcc with `system { build g++-… }`, or a newer `devel` image"),
    "nvcc": _nvcc,
    "toolkit": _says("name a `devel` image of the CUDA that torch was built with"),
    "toolkit-for-gpu": _says("name a `devel` image of a newer CUDA, or drop the GPU from `gpus`"),
    "gpus": _says(
        "say the GPUs with `gpus sm_…` and let `envspec solve` find a torch with code for them"
    ),
    "driver": _says(
        "say the oldest driver with `driver >=…`; `envspec solve` finds packages that it runs"
    ),
    "cuda-torch": _says("take torch from an index of CUDA builds, `from pytorch-cu…`"),
    "pair": _says(
        "leave the version of the companion out: `envspec solve` finds the one of this torch"
    ),
    "rebuild-extension": _says(
        "build it against this torch as an `extension`, or take its wheel for it"
    ),
    "compile-extension": _says(
        "build it as an `extension`, with the force flag that its page names"
    ),
    "newer-base": _says(
        "take a newer `base`, or a release of the package with wheels for this one"
    ),
    "platform": _says("say the processor with `platform linux/amd64` or `linux/arm64`"),
    "pythonpath": _says("say where its own modules begin with `pythonpath` of `project`"),
    "token": _says("ask its owner for access, and name the token as a `secret` of the asset"),
    "secret": _says("name the token as a `secret`, and let the entry have it"),
    "asset": _says("say what it needs as an `asset`, or put it beside the source"),
    "network": _network,
    "memory": _memory,
    "jobs": _jobs,
    "shm": _shm,
    "timeout": _timeout,
    "entry": _says("look at `run` or `script` of the entry: the repository does not take it so"),
}
"""Recipes by the name in the column ``mend`` of the signs."""

NAMES = frozenset(_RECIPES)
