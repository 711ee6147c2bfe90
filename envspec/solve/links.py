"""Facts as sentences, each with its source and date. Pure.

A sentence says what holds, what does not, or that the facts do not tell: it is for the reader of
a set that fits and for the reader of one that does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envspec.facts import lookup
from envspec.facts.device_code import arch, sm_name
from envspec.facts.rows import Extension, HostCompiler, TorchBuild, TorchPairing
from envspec.facts.tables import rows
from envspec.facts.versions import at_least, within
from envspec.solve import fitting
from envspec.solve.values import Link
from envspec.toolchain import Compiler


def fact(text: str, row: object) -> Link:
    """A sentence with the birth certificate of its row."""
    return Link(text, getattr(row, "source", ""), getattr(row, "as_of", ""))


def unknown(text: str) -> Link:
    """A sentence that says what the facts do not tell."""
    return Link(text, known=False)


def driver(cuda: str, stated: str) -> Link:
    """Which driver a CUDA release asks for, and whether the stated one is that new."""
    row = lookup.driver_floor(cuda)
    if row is None:
        return unknown(f"the driver floor of CUDA {cuda} is not known")
    family = (
        f"CUDA {row.cuda}.x" if row.minor_compatible and "." not in row.cuda else f"CUDA {cuda}"
    )
    if not stated:
        return fact(f"{family} runs from driver {row.linux} on, and the spec states none", row)
    says = "runs" if fitting.new_enough(stated, row.linux) else "does not run"
    return fact(f"driver >={stated} {says} {family}, whose floor is {row.linux}", row)


def gpus(row: TorchBuild, named: Sequence[str], stated_driver: str) -> Iterator[Link]:
    """Whether and how a torch build reaches GPUs; what PTX asks of the driver."""
    answers = {sm: fitting.covers(row, sm) for sm in named}
    through = [sm for sm, answer in answers.items() if answer and fitting.by_ptx(row, sm)]
    native = [sm for sm, answer in answers.items() if answer and sm not in through]
    lacking = [sm for sm, answer in answers.items() if answer is False]
    unread = [sm for sm, answer in answers.items() if answer is None]
    if native:
        yield fact(f"{row.build} has native code for {_said(native)}", row)
    if through:
        yield fact(f"{row.build} reaches {_said(through)} through PTX alone", row)
        yield _ptx_driver(row.cuda or "", stated_driver)
    if lacking:
        code = ", ".join(sm_name(a) for a in row.architectures or ())
        yield fact(
            f"{row.build} has no code for {_said(lacking)}{': it has ' if code else ''}{code}", row
        )
    if unread:
        yield unknown(f"whether {row.build} has code for {_said(unread)} is not known")


def _said(named: Sequence[str]) -> str:
    return ", ".join(f"{sm} ({_gpu_names(sm)})" if arch(sm) else sm for sm in named)


def compiles(toolkit: str, sm: str) -> Link:
    """Whether nvcc of a toolkit compiles for a GPU."""
    row = arch(sm)
    if row is None:
        return unknown(f"which toolkits compile for {sm} is not known")
    says = "compiles" if fitting.compiles_for(toolkit, sm) else "does not compile"
    return fact(f"nvcc of CUDA {toolkit} {says} for {sm} ({_gpu_names(sm)})", row)


def _ptx_driver(cuda: str, stated: str) -> Link:
    row = lookup.toolkit_driver(cuda)
    if row is None:
        return unknown(f"which driver compiles PTX of CUDA {cuda} is not known")
    needs = f"PTX of CUDA {cuda} needs its toolkit's driver, {row.linux}"
    if not stated:
        return fact(needs, row)
    enough = fitting.new_enough(stated, row.linux)
    return fact(f"{needs}; driver >={stated} is {'that new' if enough else 'older'}", row)


def _gpu_names(sm: str) -> str:
    row = arch(sm)
    return f"{row.generation}: {', '.join(row.gpus)}" if row and row.gpus else ""


def python(row: TorchBuild, release: str, stated: str) -> Link:
    """Whether a torch release has wheels for a Python."""
    ends = f"{row.python_min} to {row.python_max}"
    if fitting.python_fits(stated, row.python_min, row.python_max):
        return fact(f"torch {release} has wheels for Python {ends}, {stated} among them", row)
    if row.python_experimental and fitting.python_fits(
        stated, row.python_min, row.python_experimental
    ):
        return fact(f"torch {release} has experimental wheels for Python {stated}", row)
    return fact(f"torch {release} has wheels for Python {ends}, and not for {stated}", row)


def glibc(row: TorchBuild, release: str, base: str, stated: str) -> Iterator[Link]:
    """The glibc of the base, or the stated one, against what torch's wheels need."""
    wanted = row.glibc
    if wanted is None:
        yield unknown(f"the glibc that torch {release} needs is not known")
        return
    yield fact(f"torch {release} needs glibc {wanted}", row)
    image = lookup.distribution_of_image(base)
    if image is None:
        yield unknown(f"the C library of `{base}` is not known")
    elif image.glibc is None:
        yield fact(f"`{base}` is {image.shown} with {image.libc} and no glibc", image)
    else:
        enough = "" if at_least(image.glibc, wanted) else ", which is too old"
        yield fact(f"`{base}` is {image.shown} with glibc {image.glibc}{enough}", image)
    if stated:
        enough = "as much as that" if at_least(stated, wanted) else "less than that"
        yield Link(f"the spec states glibc >={stated}, {enough}")


def libraries(row: TorchBuild) -> Iterator[Link]:
    """cuDNN, NCCL and triton that a build brings."""
    brings = [
        f"{label} {value}"
        for label, value in (("cuDNN", row.cudnn), ("NCCL", row.nccl), ("triton", row.triton))
        if value
    ]
    if brings:
        yield fact(f"this build brings {', '.join(brings)}", row)
    lacking = [
        label
        for label, value in (("cuDNN", row.cudnn), ("NCCL", row.nccl), ("triton", row.triton))
        if not value
    ]
    if lacking:
        says = "is" if len(lacking) == 1 else "are"
        yield unknown(f"which {' and '.join(lacking)} this build brings {says} not known")


def pairing(row: TorchPairing, found: str, torch: str) -> Link:
    """That a companion goes with a torch release."""
    built = {
        "series": f"is built for torch {row.torch}",
        "exact": f"is built for torch {row.torch} alone",
        "at_least": f"runs with torch {row.torch} and newer",
    }[row.relation]
    note = f" ({row.note})" if row.note else ""
    return fact(f"{row.package} {found} goes with torch {torch}: it {built}{note}", row)


def native(row: Extension, gpus: tuple[str, ...], cuda: str) -> Iterator[Link]:
    """What a native package asks of GPUs and toolkit."""
    if row.sm_min:
        lowest = sm_name(row.sm_min)
        old = [sm for sm in gpus if fitting.sm_reaches(sm, row.sm_min) is False]
        said = f", and not on {', '.join(old)}" if old else ""
        yield fact(f"{row.name} runs on {lowest} and newer{said}", row)
    if row.cuda_min:
        enough = at_least(cuda, row.cuda_min)
        said = f", and CUDA {cuda} is {'one' if enough else 'none'}" if cuda else ""
        yield fact(f"{row.name} takes CUDA {row.cuda_min} or newer{said}", row)


def compiler(nvcc: str, found: Compiler) -> Link:
    """Whether nvcc accepts the compiler that it calls."""
    accepted = lookup.compiler_accepted(nvcc, found.kind, found.version)
    row = next((r for r in rows(HostCompiler) if within(nvcc, r.first, r.last)), None)
    name = f"{found.kind} {found.version}"
    if row is None or accepted is None:
        return unknown(f"whether nvcc of CUDA {nvcc} accepts {name} is not known")
    says = "accepts" if accepted else "does not accept"
    newest = row.clang if found.kind == "clang" else row.gcc
    return fact(
        f"nvcc of CUDA {nvcc} takes {found.kind} up to {newest} and {says} {name}, which "
        f"{found.said}",
        row,
    )
