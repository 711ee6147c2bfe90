"""What a list of requirements cannot hold, as comments at its end. Pure.

With `--require-hashes` pip checks each file that a list names, and no tool that it takes to build
one from source. So extensions are told and not listed, and the list stays installable by hashes
alone; the same for packages of the distribution, which pip knows nothing of.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.lock.model import Lock
from envspec.render import visible


def left_out(lock: Lock) -> str:
    """The lines, `""` where the list is all there is."""
    lines = [f"# {visible(line)}" for line in (*_extensions(lock), *_debs(lock))]
    return "".join(f"{line}\n" for line in lines)


def _extensions(lock: Lock) -> Iterator[str]:
    if not lock.extensions:
        return
    yield "Not in this list, since pip would build it with tools of any hash:"
    for extension in lock.extensions:
        artefact = extension.artefact
        yield (
            f"  {extension.name} {extension.version}: {artefact.index or 'made by envspec'}: "
            f"{artefact.file} sha256:{artefact.sha256}"
        )
        if extension.wheel:
            yield (
                f"  its wheel, once built: {extension.name}=={extension.version} "
                f"--hash=sha256:{extension.wheel_sha256}  # {extension.wheel}"
            )


def _debs(lock: Lock) -> Iterator[str]:
    debs = lock.system.runtime
    if debs:
        said = " ".join(f"{deb.name}={deb.version}" for deb in debs)
        yield f"Not in this list, since it comes from the distribution: {said}"
