"""Claims that say in detail what the spec settles otherwise, or what another claim denies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envspec.facts.builds import cuda_of_build
from envspec.model import Claim, GitSource
from envspec.rules.view import View
from envspec.source import Span

Found = tuple[Claim, str, Span, str, str]
"""The claim, what is wrong with it, the place that says otherwise, what to say there, a hint."""

_OF_GPUS = ("driver_min", "gpu_arch_min", "vram_min")
_PACKAGES = {"jax_version": "jax", "tf_version": "tensorflow"}


def details(view: View, claims: Mapping[str, Claim]) -> Iterator[Found]:
    """Everything that no build could show."""
    yield from _origin(view, claims)
    yield from _software(view, claims)
    yield from _gpus(view, claims)
    yield from _distributed(claims)
    yield from _entries(view, claims)


def _origin(view: View, claims: Mapping[str, Claim]) -> Iterator[Found]:
    spec, source = view.spec, view.spec.project.source
    platform = claims.get("target_platform")
    if platform and platform.value != spec.platform.os_arch:
        title = f"the spec is for {spec.platform.os_arch}, not {platform.value}"
        yield platform, title, spec.platform.span, "built for this", "claim the same platform"
    commit, url = claims.get("repo_commit"), claims.get("repo_url")
    if commit and isinstance(source, GitSource) and commit.value != source.commit:
        title = f"the source is commit {source.commit[:12]}, not {commit.value[:12]}"
        yield commit, title, source.span, "taken from here", "claim the commit of the source"
    for claim in filter(None, (commit, url)):
        if not isinstance(source, GitSource):
            title = f"`{claim.name}` is claimed, and the source is no repository"
            yield claim, title, source.span, "the source", "drop it: no build can show it"


def _software(view: View, claims: Mapping[str, Claim]) -> Iterator[Found]:
    platform, abi = view.spec.platform, claims.get("python_abi")
    wanted = platform.python.replace(".", "")
    if abi and abi.value.rstrip("t")[2:] != wanted:
        title = f"the spec asks for Python {platform.python}, not {abi.value}"
        yield abi, title, platform.python_span, "asked for here", f"claim `python_abi cp{wanted}`"
    for name, package in _PACKAGES.items():
        claim, settled = claims.get(name), view.settled.get(package)
        if claim and settled and not _agree(claim.value, settled.version):
            title = f"{package} {settled.version} is settled, not {claim.value}"
            yield claim, title, settled.span, "comes from here", "claim the version that is settled"
    cuda, torch, build = claims.get("torch_cuda"), view.torch, view.torch_build_name
    built = "none" if build == "cpu" else (cuda_of_build(build) or "" if build else "")
    if cuda and torch and built and not built.startswith(cuda.value):
        what = f"is built for CUDA {built}" if built != "none" else "is a CPU build"
        title = f"torch {what} here, and `torch_cuda {cuda.value}` is claimed"
        yield cuda, title, torch.span, "comes from here", f"claim `torch_cuda {built}`"


def _agree(claimed: str, settled: str) -> bool:
    """By the public part alone, with zeros at the end left out."""
    one, two = (text.partition("+")[0].removesuffix(".0") for text in (claimed, settled))
    return one == two


def _gpus(view: View, claims: Mapping[str, Claim]) -> Iterator[Found]:
    accelerator = view.spec.accelerator
    at = accelerator.span if accelerator.span.end else view.spec.project.span
    for name in _OF_GPUS:
        claim = claims.get(name)
        if claim and accelerator.kind == "none":
            title = f"`{name} {claim.value}` is about GPUs, and the spec has no accelerator"
            hint = "write `accelerator cuda X.Y`, or drop the claim"
            yield claim, title, at, "no accelerator", hint
    oldest = claims.get("gpu_arch_min")
    lower = [g for g in accelerator.gpus if oldest and _number(g) < _number(oldest.value)]
    if oldest and lower:
        title = f"`gpu_arch_min {oldest.value}`, and the spec is for {lower[0]}"
        hint = "the oldest GPU that it has code for is no newer than those it is for"
        yield oldest, title, accelerator.gpus_span, "for these", hint


def _number(gpu: str) -> int:
    return int("".join(c for c in gpu if c.isdigit()))


def _distributed(claims: Mapping[str, Claim]) -> Iterator[Found]:
    processes, count = claims.get("c4_processes"), claims.get("gpu_count")
    if processes and count and int(processes.value) > int(count.value):
        title = f"`c4_processes {processes.value}` with {count.value} GPU"
        yield processes, title, count.span, "the GPUs", "C4 gives each process a GPU of its own"
    c4 = claims.get("c4")
    for name in ("c4_processes", "c4_backend"):
        claim = claims.get(name)
        if claim and c4 and c4.value == "fail":
            title = f"`{name} {claim.value}` with `c4 fail`"
            yield claim, title, c4.span, "it does not run", "drop it, or claim `c4 pass`"


def _entries(view: View, claims: Mapping[str, Claim]) -> Iterator[Found]:
    for claim in view.spec.claims:
        if claim.name != "entry" or claim.value != "fail":
            continue
        entry = next((e for e in view.spec.entries if e.name == claim.subject), None)
        rung = claims.get(entry.level) if entry else None
        if entry and rung and rung.value == "pass":
            title = f"`{rung.name} pass` with `entry {claim.subject} fail`"
            hint = f"{rung.name.upper()} passes where all its entries do"
            yield rung, title, claim.span, "an entry of this rung", hint
