"""torch, its companions, JAX and TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.explain.asked import SPEC
from envspec.facts import lookup
from envspec.facts.rows import TorchBuild
from envspec.model import Package
from envspec.rules.view import View
from envspec.solve import fitting, links
from envspec.solve.values import Link


def torch(view: View) -> Iterator[Link]:
    """Build, CUDA, driver, GPUs, Python, glibc, ABI and the libraries it brings."""
    settled, build = view.torch, view.torch_build_name
    if settled is None:
        yield links.unknown("the version of torch is open, and with it everything that follows")
        return
    name = f"torch {settled.public}"
    if not build:
        yield links.unknown(f"which build of {name} its index serves is not known")
        return
    row = view.torch_build
    if row is None:
        yield links.unknown(f"{name}+{build} for {view.machine} is not among the facts")
        return
    yield _build(row, name)
    if row.cuda:
        yield from _cuda(view, row)
    elif view.cuda:
        yield links.fact(f"{row.build} is a build for the CPU: it uses no GPU", row)
    yield links.python(row, settled.public, view.spec.platform.python)
    platform = view.spec.platform
    yield from links.glibc(row, settled.public, platform.base, platform.glibc)
    yield abi(row, name)
    if row.cuda:
        yield from links.libraries(row)


def _build(row: TorchBuild, name: str) -> Link:
    where = " and is what the default index serves" if row.default else ""
    cuda = f"built for CUDA {row.cuda}" if row.cuda else "built without CUDA"
    series = f" (known by its series, {row.release})" if row.release.count(".") < 2 else ""
    return links.fact(f"{name}+{row.build}{series} is {cuda}{where}", row)


def _cuda(view: View, row: TorchBuild) -> Iterator[Link]:
    accelerator, cuda = view.spec.accelerator, row.cuda or ""
    yield links.driver(cuda, accelerator.driver)
    toolkit = accelerator.toolkit
    if toolkit and fitting.starts(toolkit, cuda) is not True:
        same = fitting.starts(cuda, toolkit.partition(".")[0])
        says = "the same major" if same else "another major"
        yield Link(f"the spec states CUDA {toolkit}: {says}", SPEC)
    yield from links.gpus(row, accelerator.gpus, accelerator.driver)


def abi(row: TorchBuild, name: str) -> Link:
    """The C++ ABI that what is built on a torch has to share."""
    if row.cxx11_abi is None:
        return links.unknown(f"the C++ ABI of {name} is not known")
    standard = f", and its headers need C++{row.cxx_standard}" if row.cxx_standard else ""
    flag = f"_GLIBCXX_USE_CXX11_ABI={int(row.cxx11_abi)}"
    return links.fact(f"{name} is compiled with {flag}{standard}", row)


def companion(view: View, name: str, version: str) -> Iterator[Link]:
    """Whether the facts pair a companion with the torch beside it."""
    if view.torch is None or not version:
        yield links.unknown(f"whether {name} goes with torch is not known: a version is open")
        return
    public, torch_ = version.partition("+")[0], view.torch.public
    rows = lookup.companion(name, public)
    for row in rows:
        if lookup.pairs(row, torch_):
            yield links.pairing(row, public, torch_)
            return
    if rows:
        said = ", ".join(dict.fromkeys(row.torch for row in rows))
        yield links.fact(f"{name} {public} goes with torch {said}, and not with {torch_}", rows[0])
    else:
        yield links.unknown(f"which torch {name} {public} goes with is not known")


def jax(view: View) -> Iterator[Link]:
    """What the CUDA plugin that the extras ask for takes."""
    package = view.stated.get("jax")
    extras = package.extras if isinstance(package, Package) else ()
    row = next((r for e in extras if (r := lookup.jax_plugin_of(e))), None)
    if row is None:
        yield Link("no extra asks for a CUDA plugin: jax runs on the CPU")
        return
    takes = f"CUDA {row.cuda} or newer, cuDNN {row.cudnn_min} or newer below {row.cudnn_below}"
    yield links.fact(f"its plugin {row.plugin} takes {takes}, driver {row.driver}", row)
    cuda = view.torch_cuda
    if cuda:
        same = fitting.starts(cuda, row.cuda.partition(".")[0])
        yield Link(f"torch brings CUDA {cuda}: {'the same' if same else 'another'} major")


def tensorflow(view: View, version: str) -> Iterator[Link]:
    """CUDA, cuDNN and Python of its series."""
    row = lookup.tensorflow_release(version.partition("+")[0]) if version else None
    if row is None:
        yield links.unknown(f"tensorflow {version or 'of an open version'} is not among the facts")
        return
    yield links.fact(
        f"tensorflow {row.release} is for CUDA {row.cuda}, cuDNN {row.cudnn} and Python "
        f"{row.python_min} to {row.python_max}",
        row,
    )
    if not fitting.python_fits(view.spec.platform.python, row.python_min, row.python_max):
        yield Link(f"Python {view.spec.platform.python} is not one of them")
