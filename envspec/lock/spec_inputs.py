"""The spec's part in a resolution: what decides it, in a form that a lock can keep. Pure."""

from __future__ import annotations

from envspec.lock.inputs import Inputs
from envspec.model import ArchiveSource, Package, Spec


def resolution_inputs(spec: Spec) -> Inputs:
    """Key and value of everything in the spec that a lock depends on, in the spec's order.

    Claims, entries and reasons are not among them: changing those needs no new lock.
    """
    platform, source = spec.platform, spec.project.source
    assert isinstance(source, ArchiveSource), "`envspec.pipeline.supported` refuses the others"
    accelerator = spec.accelerator
    digest = f"@{platform.base_digest}" if platform.base_digest else ""
    came_from = f" from {source.index}" if source.index else ""
    inputs = [
        ("platform", platform.os_arch),
        ("base", platform.base + digest),
        ("python", platform.python),
        ("glibc", platform.glibc),
        ("accelerator", f"{accelerator.kind} {accelerator.toolkit}".strip()),
        ("source", f"{source.file} sha256 {source.sha256}{came_from}"),
    ]
    inputs.extend((f"index {i.name}", i.url) for i in spec.indexes)
    inputs.extend((f"package {p.name}", requirement(p)) for p in spec.packages)
    return tuple(inputs)


def requirement(package: Package) -> str:
    """What the spec asks of a package: extras, specifier and index, `""` for anything."""
    extras = f"[{','.join(package.extras)}]" if package.extras else ""
    came_from = f"from {package.index}" if package.index else ""
    return " ".join(part for part in (extras, package.specifier, came_from) if part)
