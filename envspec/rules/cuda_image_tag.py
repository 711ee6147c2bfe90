"""E0343: an `nvidia/cuda` image whose tag is made in a way that no published tag is.

Only what the table of published tags decides is found: releases newer than it, or older than
CUDA 11, are left alone, and so is an image with a digest, which an engine takes without its tag.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts import images, lookup
from envspec.facts.images import CudaTag
from envspec.facts.versions import version
from envspec.rules.view import View
from envspec.source import SourceFile, Span

CODE = "E0343"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each of `base` and `devel`."""
    platform = view.spec.platform
    for image, digest, span in (
        (platform.base, platform.base_digest, platform.base_span),
        (platform.devel, platform.devel_digest, platform.devel_span),
    ):
        tag = images.cuda_tag(image)
        if tag is None or digest:
            continue
        reasons, hint, mended = judge(tag)
        if not reasons:
            continue
        said = f"tag `{tag}`" if tag else "tag `latest`, which a name without a tag means"
        yield Diagnostic(
            CODE,
            f"`nvidia/cuda` has no {said}",
            view.source,
            (Label(span, "named here"),),
            cause="; ".join(reasons),
            hint=hint,
            fix=_fix(view.source, span, tag, mended) if mended else None,
        )


def judge(tag: str) -> tuple[tuple[str, ...], str, str]:
    """Why there can be no such tag, what to write, and the one tag that is meant where only one
    can be; all empty where nothing is wrong or the table cannot tell."""
    if tag in {"", "latest"}:
        form = "tags are VERSION-FLAVOUR-DISTRIBUTION, such as `12.8.1-base-ubuntu22.04`"
        return (form,), "write a tag in full, or a plain image such as `debian:12-slim`", ""
    parts = images.read_cuda_tag(tag)
    number = parts.number
    if parts.unknown or not number or images.is_older_than_known(number):
        return (), "", ""
    if images.was_never_released(number):
        asked = ".".join(number.split(".")[:2])
        return (f"there is no CUDA {asked}",), "write the version of a toolkit that there is", ""
    if images.is_newer_than_known(number):
        return (), "", ""
    reasons, choices = _parts(tag, parts)
    if not reasons:
        return (), "", ""
    best = choices[-1]
    if not best.flavour or not best.distro:
        return reasons, f"write the tag in full, such as `{_filled(best).text}`", ""
    if images.distro_fits(best.number, best.distro) is False:
        return reasons, f"take another distribution, or CUDA {images.distro_range(best.distro)}", ""
    return reasons, f"did you mean `{best.text}`?", best.text if len(choices) == 1 else ""


def _parts(tag: str, parts: CudaTag) -> tuple[tuple[str, ...], list[CudaTag]]:
    """What is wrong with the parts, and the tags that could be meant, oldest first."""
    reasons = []
    numbers: tuple[str, ...] = (parts.number,)
    if len(version(parts.number) or ()) == 2:
        numbers = images.patch_levels(parts.number)
        if not numbers:
            return (), []
        said = ", ".join(numbers)
        reasons.append(f"tags name the patch level (known of CUDA {parts.number}: {said})")
    choices = []
    for number in numbers:
        label = lookup.cudnn_label(number) if parts.cudnn else ""
        choices.append(parts._replace(number=number, cudnn=label or parts.cudnn))
    last = choices[-1]
    if parts.cudnn != last.cudnn:
        reasons.append(f"the tags of CUDA {last.number} write cuDNN as `{last.cudnn}`")
    if images.distro_fits(last.number, last.distro) is False:
        known = images.distro_range(last.distro)
        reasons.append(f"images of `{last.distro}` are there for CUDA {known}")
    major = (version(parts.number) or (0,))[0]
    if major >= 12 and not (last.flavour and last.distro):
        reasons.append(f"it leaves out {_missing(last)}")
    if not reasons and parts.text != tag:
        reasons.append("tags are VERSION, cuDNN, flavour and distribution, in this order")
    return tuple(reasons), choices


def _missing(parts: CudaTag) -> str:
    said = []
    if not parts.flavour:
        said.append("the flavour (`base`, `runtime` or `devel`)")
    if not parts.distro:
        said.append("the distribution")
    return " and ".join(said)


def _filled(parts: CudaTag) -> CudaTag:
    fitting = (d for d in ("ubuntu22.04", "ubuntu20.04") if images.distro_fits(parts.number, d))
    distro = parts.distro or next(fitting, "ubuntu22.04")
    return parts._replace(flavour=parts.flavour or "base", distro=distro)


def _fix(source: SourceFile, span: Span, tag: str, mended: str) -> Fix | None:
    at = source.text.find(f":{tag}", span.start, span.end) + 1
    if not at or not tag:
        return None
    return Fix.replace(Span(at, at + len(tag)), mended, f"write `{mended}`")
