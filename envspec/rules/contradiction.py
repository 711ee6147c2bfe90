"""W0301: the claims contradict the spec, or each other.

A warning and not an error: verification goes on, and C5 then says what the claim is worth.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.model import UNSTATED, Claim, Spec
from envspec.rules.view import View
from envspec.source import Span

CODE = "W0301"


def check(view: View) -> Iterator[Diagnostic]:
    """Claims that cannot be true, whatever a build would show."""
    spec, source = view.spec, view.source
    claims = {c.name: c for c in spec.claims if c.value != UNSTATED}
    for claim, title, span, label, hint in (*_against_spec(spec, claims), *_among(claims)):
        labels = (Label(claim.span, "claimed here"), Label(span, label))
        yield Diagnostic(CODE, title, source, labels, hint=hint, severity=WARNING)


_Found = tuple[Claim, str, Span, str, str]


def _against_spec(spec: Spec, claims: dict[str, Claim]) -> Iterator[_Found]:
    torch = next((p for p in spec.packages if p.name == "torch"), None)
    gpu_claims = [
        claims[name]
        for name, hopeful in (("cuda_available", "true"), ("c3", "pass"), ("c4", "pass"))
        if name in claims and claims[name].value == hopeful
    ]
    if "gpu_count" in claims and claims["gpu_count"].value != "0":
        gpu_claims.append(claims["gpu_count"])
    for claim in gpu_claims:
        said = f"`{claim.name} {claim.value}` needs a GPU"
        if torch and "+cpu" in torch.specifier:
            hint = "take a CUDA build of torch, or claim what a CPU build can do"
            yield claim, f"{said}, and torch is a CPU build", torch.span, "the CPU build", hint
        elif spec.accelerator.kind == "none":
            at = spec.accelerator.span if spec.accelerator.span.end else spec.project.span
            hint = "write `accelerator cuda X.Y`, or drop the claim"
            yield claim, f"{said}, and the spec has no accelerator", at, "no accelerator", hint
    version = claims.get("python_version")
    if version and not _same_start(version.value, spec.platform.python):
        title = f"the spec asks for Python {spec.platform.python}, not {version.value}"
        yield version, title, spec.platform.python_span, "asked for here", "claim the same release"
    stated = claims.get("torch_version")
    pin = torch.specifier.removeprefix("==") if torch and torch.specifier.startswith("==") else ""
    if stated and torch and pin and "," not in pin and "*" not in pin:
        public = (stated.value.split("+")[0], pin.split("+")[0])
        if public[0] != public[1]:
            title = f"the spec pins torch {pin}, not {stated.value}"
            yield stated, title, torch.span, "pinned here", "claim the pinned version"
    for level in ("c1", "c3", "c4"):
        claim_ = claims.get(level)
        if claim_ and level == "c1" and not any(e.level == level for e in spec.entries):
            title = f"`{level} {claim_.value}` is claimed, and no entry shows it"
            hint = f"add an entry with `level {level}`"
            yield claim_, title, spec.project.span, "the spec has no such entry", hint


def _same_start(claimed: str, asked: str) -> bool:
    parts, wanted = claimed.split("."), asked.split(".")
    shorter = min(len(parts), len(wanted))
    return parts[:shorter] == wanted[:shorter]


def _among(claims: dict[str, Claim]) -> Iterator[_Found]:
    c0, missing = claims.get("c0"), claims.get("c0_missing")
    if c0 and missing and c0.value == "pass" and missing.value != "0":
        title = f"`c0 pass` with {missing.value} missing imports"
        yield c0, title, missing.span, "missing imports", "C0 passes with none missing"
    c3, c4, count = claims.get("c3"), claims.get("c4"), claims.get("gpu_count")
    if c4 and c4.value == "pass":
        if c3 and c3.value == "fail":
            yield c4, "`c4 pass` with `c3 fail`", c3.span, "one GPU fails", "C4 includes C3"
        if count and count.value in {"0", "1"}:
            title = f"`c4 pass` with {count.value} GPU"
            yield c4, title, count.span, "the GPUs", "a collective needs two"
