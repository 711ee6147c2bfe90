"""The spec's part in a resolution: what decides it, in a form that a lock can keep. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from envspec.credentials import masked
from envspec.lock.inputs import Inputs
from envspec.model import ArchiveSource, Extension, GitSource, Package, PathSource, Source, Spec
from envspec.stated import environment


def resolution_inputs(spec: Spec) -> Inputs:
    """Key and value of everything in the spec that a lock depends on, in the spec's order.

    Claims, entries and reasons are not among them: changing those needs no new lock.
    """
    platform, accelerator = spec.platform, spec.accelerator
    inputs = [
        ("platform", platform.os_arch),
        ("base", _image(platform.base, platform.base_digest)),
        ("python", platform.python),
        ("glibc", platform.glibc),
        ("accelerator", f"{accelerator.kind} {accelerator.toolkit}".strip()),
        ("source", stated_source(spec.project.source)),
    ]
    if platform.devel:
        inputs.append(("devel", _image(platform.devel, platform.devel_digest)))
    inputs.extend((f"index {i.name}", i.url) for i in spec.indexes)
    inputs.extend((f"package {p.name}", requirement(p)) for p in spec.packages)
    for stage in ("runtime", "build"):
        names = sorted({p.name for p in spec.system if p.stage == stage})
        if names:
            inputs.append((f"system {stage}", " ".join(names)))
    for extension in spec.extensions:
        inputs.extend(_extension(spec, extension))
    if spec.extensions and accelerator.gpus:
        # The code of an extension is compiled for them, which decides the wheel that it gives.
        inputs.append(("gpus", " ".join(accelerator.gpus)))
    return tuple(inputs)


def stated_source(source: Source) -> str:
    """What the spec says of a source, without credentials."""
    if isinstance(source, PathSource):
        return f"path {source.folder}"
    if isinstance(source, GitSource):
        return f"git {_address(source.url)} at {source.commit}"
    assert isinstance(source, ArchiveSource)
    came_from = f" from {source.index}" if source.index else ""
    return f"{source.file} sha256 {source.sha256}{came_from}"


def requirement(package: Package) -> str:
    """What the spec asks of a package: extras, specifier and index, `""` for anything."""
    extras = f"[{','.join(package.extras)}]" if package.extras else ""
    came_from = f"from {package.index}" if package.index else ""
    return " ".join(part for part in (extras, package.specifier, came_from) if part)


def _extension(spec: Spec, extension: Extension) -> Iterator[tuple[str, str]]:
    """What decides the source, the build and the wheel of an extension."""
    key = f"extension {extension.name}"
    came_from = f"from {extension.index}" if extension.index else ""
    asked = [extension.specifier, came_from]
    if extension.git is not None:
        asked.append(stated_source(extension.git))
    yield key, " ".join(part for part in asked if part)
    if extension.needs:
        yield f"{key} needs", " ".join(extension.needs)
    for name, value in environment(spec, extension).items():
        yield f"{key} env {name}", value


def _image(name: str, digest: str) -> str:
    return f"{name}@{digest}" if digest else name


def _address(url: str) -> str:
    """An address without what may be a secret: the user of ssh is none, a password is."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return masked(url)
    return url if parts.scheme == "ssh" and not parts.password else masked(url)
