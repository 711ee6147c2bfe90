"""W0301: the claims contradict the spec, its lock, or each other.

A warning and not an error: verification goes on, and C5 then says what the claim is worth. Only
what no build could show is found. `c3 pass` and `c4 pass` need no entry (a kernel and a collective
of the verifier's own show them), and `c1 pass` can go with `c0 fail`, where the entry does not need
what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.facts.versions import version
from envspec.model import UNSTATED, Claim
from envspec.rules.shared.claimed import Found as _Found
from envspec.rules.shared.claimed import details
from envspec.rules.view import View

CODE = "W0301"
ENVIRONMENT = "/opt/env/"
"""Where the environment is in every image."""


def check(view: View) -> Iterator[Diagnostic]:
    """Claims that cannot be true, whatever a build would show."""
    stated = [c for c in view.spec.claims if c.value != UNSTATED]
    claims = {c.name: c for c in stated if not c.subject}
    several = len(view.spec.accelerator.gpus) > 1
    found = (
        *_gpus(view, claims),
        *_versions(view, claims),
        *_among(claims, several),
        *details(view, claims),
    )
    for claim, title, span, label, hint in found:
        labels = (Label(claim.span, "claimed here"), Label(span, label))
        yield Diagnostic(CODE, title, view.source, labels, hint=hint, severity=WARNING)


def _gpus(view: View, claims: dict[str, Claim]) -> Iterator[_Found]:
    spec = view.spec
    hopeful = [
        claims[name]
        for name, value in (("cuda_available", "true"), ("c3", "pass"), ("c4", "pass"))
        if name in claims and claims[name].value == value
    ]
    if "gpu_count" in claims and claims["gpu_count"].value != "0":
        hopeful.append(claims["gpu_count"])
    stated = view.stated.get("torch")
    cpu = stated and ("+cpu" in stated.specifier or view.torch_build_name == "cpu")
    for claim in hopeful:
        said = f"`{claim.name} {claim.value}` needs a GPU"
        if stated and cpu:
            hint = "take a CUDA build of torch, or claim what a CPU build can do"
            yield claim, f"{said}, and torch is a CPU build", stated.span, "the CPU build", hint
        elif spec.accelerator.kind == "none":
            at = spec.accelerator.span if spec.accelerator.span.end else spec.project.span
            hint = "write `accelerator cuda X.Y`, or drop the claim"
            yield claim, f"{said}, and the spec has no accelerator", at, "no accelerator", hint


def _versions(view: View, claims: dict[str, Claim]) -> Iterator[_Found]:
    spec = view.spec
    python, path, c1 = claims.get("python_version"), claims.get("python_path"), claims.get("c1")
    if python and not _same_start(python.value, spec.platform.python):
        title = f"the spec asks for Python {spec.platform.python}, not {python.value}"
        yield python, title, spec.platform.python_span, "asked for here", "claim the same release"
    if path and not normpath(path.value).startswith(ENVIRONMENT):
        title = f"`{path.value[:60]}` is not in the environment"
        hint = f"claim `{ENVIRONMENT}bin/python`"
        label = f"its environment is in {ENVIRONMENT.rstrip('/')}"
        yield path, title, spec.project.span, label, hint
    if "torch_version" in claims:
        yield from _torch(view, claims["torch_version"])
    if c1 and not any(e.level == "c1" for e in spec.entries):
        title = f"`c1 {c1.value}` is claimed, and no entry shows it"
        hint = "add an entry with `level c1`"
        yield c1, title, spec.project.span, "the spec has no such entry", hint


def _torch(view: View, claim: Claim) -> Iterator[_Found]:
    torch = view.torch
    if torch is None:
        if view.locked and "torch" not in view.stated:
            hint = "add torch to `packages`, or drop the claim"
            title = f"`torch_version {claim.value}` is claimed, and the lock has no torch"
            yield claim, title, view.spec.project.span, "nothing here brings torch", hint
        return
    public, _, local = claim.value.partition("+")
    source, label = ("the spec pins", "pinned here") if torch.stated else ("the lock has", "locked")
    hint = "claim the pinned version" if torch.stated else "claim the locked version"
    if _release(public) != _release(torch.public):
        yield claim, f"{source} torch {torch.version}, not {claim.value}", torch.span, label, hint
        return
    build = torch.local or view.torch_build_name
    if local and build and local.lower() != build.lower():
        title = f"torch comes in build {build} here, not in {local}"
        yield claim, title, torch.span, "comes from here", f"claim `torch_version {public}+{build}`"


def _release(text: str) -> tuple[int, ...] | str:
    """A release in a form that compares: 2.9 is 2.9.0."""
    numbers = version(text.lower().removeprefix("v"))
    if numbers is None:
        return text.lower()
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers = numbers[:-1]
    return numbers


def _same_start(claimed: str, asked: str) -> bool:
    parts, wanted = claimed.split("."), asked.split(".")
    shorter = min(len(parts), len(wanted))
    return parts[:shorter] == wanted[:shorter]


def _among(claims: dict[str, Claim], several: bool) -> Iterator[_Found]:
    def said(name: str, *values: str) -> Claim | None:
        claim = claims.get(name)
        return claim if claim and claim.value in values else None

    c0, missing = said("c0", "pass"), claims.get("c0_missing")
    if c0 and missing and missing.value != "0":
        title = f"`c0 pass` with {missing.value} missing imports"
        yield c0, title, missing.span, "missing imports", "C0 passes with none missing"
    c2, c3, c4 = said("c2", "fail"), said("c3", "fail"), said("c4", "pass")
    if c4 and c3:
        yield c4, "`c4 pass` with `c3 fail`", c3.span, "one GPU fails", "C4 includes C3"
    count = claims.get("gpu_count")
    if c4 and count and count.value in {"0", "1"}:
        title = f"`c4 pass` with {count.value} GPU"
        yield c4, title, count.span, "the GPUs", "a collective needs two"
    available = said("cuda_available", "false")
    if count and count.value != "0" and available:
        title = f"`gpu_count {count.value}` with `cuda_available false`"
        yield count, title, available.span, "none is available", "claim `gpu_count 0`"
    for high in filter(None, (said("c3", "pass"), c4)):
        if available:
            title = f"`{high.name} pass` with `cuda_available false`"
            hint = "a kernel that ran has seen a GPU"
            yield high, title, available.span, "no GPU is available", hint
        if high.name == "c3" and count and count.value == "0":
            title = "`c3 pass` with no GPU"
            yield high, title, count.span, "the GPUs", "a kernel runs on one"
        # Of several architectures one can lack its code while the kernel runs on another.
        if c2 and not several:
            title = f"`{high.name} pass` with `c2 fail`"
            hint = "binaries that fit no GPU run on none"
            yield high, title, c2.span, "they do not fit", hint
    hopeful, nothing = said("cuda_available", "true"), said("gpu_count", "0")
    if hopeful and nothing:
        title = "`cuda_available true` with `gpu_count 0`"
        yield hopeful, title, nothing.span, "no GPU", "claim `cuda_available false`"
