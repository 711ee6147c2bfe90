"""What a deposit says of itself to whoever finds it: `README.md` and `deposit.json`. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from envspec import __version__
from envspec.pipeline.deposit import MARK, SUMS
from envspec.plan.model import Base, Plan
from envspec.render import visible
from envspec.wording import listed, size_of


class Image(NamedTuple):
    """An image that a build starts from; ``file`` is its archive in the deposit, or ``""``."""

    base: Base
    what: str
    file: str

    @property
    def reference(self) -> str:
        """As the Dockerfile names it."""
        return f"{self.base.name}@{self.base.digest}"


def images(plan: Plan) -> tuple[Image, ...]:
    """The images that a build of the plan starts from."""
    found = [Image(plan.base, "the base image", "")]
    if plan.devel is not None:
        found.append(Image(plan.devel, "the image that compiles", ""))
    return tuple(found)


def mark(
    plan: Plan, targets: Sequence[str], held: Sequence[Image], sizes: Mapping[str, int]
) -> str:
    """`deposit.json`."""
    document = {
        "deposit": 1,
        "envspec": __version__,
        "project": plan.project,
        "platform": plan.platform,
        "spec": plan.spec,
        "targets": list(targets),
        "images": [
            {"name": i.base.name, "digest": i.base.digest, "file": i.file or None} for i in held
        ],
        "files": len(sizes),
        "bytes": sum(sizes.values()),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def readme(
    plan: Plan, targets: Sequence[str], held: Sequence[Image], sizes: Mapping[str, int]
) -> str:
    """`README.md`; ``sizes`` are the bytes of every other file, by name."""
    outputs = shlex.quote(f"generated/{plan.project}")
    parts = [
        _what(plan),
        _contents(plan, sizes),
        _check(),
        _absent(plan, held, targets),
        _docker(plan, held, outputs) if "docker" in targets else "",
        _nix(outputs) if "nix" in targets else "",
        _others(targets, f"generated/{plan.project}"),
        _envspec(plan, held),
    ]
    return "\n".join(part for part in parts if part)


def _what(plan: Plan) -> str:
    return f"""# {_plain(plan.project)}: a deposit

This folder holds a software environment for {_plain(plan.platform)} as it was locked: the
description, the lock, and every package file that the build takes in. Each file is known by its
sha256. It was written by EnvSpec {__version__}; building it does not need EnvSpec.
"""


def _contents(plan: Plan, sizes: Mapping[str, int]) -> str:
    groups: dict[str, list[int]] = {}
    for name, size in sizes.items():
        top, *more = name.split("/")
        group = f"{top}/{more[0]}/" if top in {"wheels", "generated"} and len(more) > 1 else name
        groups.setdefault(group, []).append(size)
    rows = [
        f"| {_code(group)} | {len(found)} | {size_of(sum(found))} |"
        for group, found in sorted(groups.items())
    ]
    total = f"| all | {len(sizes)} | {size_of(sum(sizes.values()))} |"
    table = "\n".join(["| what | files | size |", "| --- | ---: | ---: |", *rows, total])
    return f"""## What is in it

- {_code(plan.spec)}: what was asked for.
- `spec.lock`: what that came to, with every version and hash.
- {_code(f"generated/{plan.project}")}: what a build reads; `plan.json` is all of it as data.
- `wheels/`: the package files, a folder for each layer of the build.
- `{SUMS}`: the sha256 of every file but itself. `{MARK}`: this page's figures as data.

{table}

`README.md`, `{MARK}` and `{SUMS}` are not counted.
"""


def _check() -> str:
    return f"""## To check it

```sh
sha256sum --check --strict --quiet {SUMS}
```

It prints nothing where every file is as it was written. `envspec vendor --check .` also finds files
that do not belong here, and compares the packages with the hashes in the lock.
"""


def _absent(plan: Plan, held: Sequence[Image], targets: Sequence[str]) -> str:
    lines = [
        f"- {_plain(image.what)}, {_code(image.reference)}" for image in held if not image.file
    ]
    if "nix" in targets:
        nix = plan.nixpkgs
        lines.append(
            f"- nixpkgs, for a build by Nix: revision {_code(nix.rev)}, "
            f"narHash {_code(nix.nar_hash)}"
        )
    if plan.accelerator.kind != "none":
        floor = f", at least {_plain(plan.accelerator.floor)}" if plan.accelerator.floor else ""
        lines.append(f"- the NVIDIA driver of the machine{floor}")
    lines.append("- the program that builds: Docker with BuildKit, Podman or Nix")
    lines_ = "\n".join(lines)
    return f"""## What is not in it

{lines_}

Have these on the machine before its network is cut. They are named by digest where they have one,
so a copy from anywhere is the right one or is refused.
"""


def _docker(plan: Plan, held: Sequence[Image], outputs: str) -> str:
    unpack, contexts = [], ""
    for image in held:
        if image.file:
            folder = "image-" + image.file.rpartition("/")[2].removesuffix(".tar")
            unpack.append(f"mkdir ../{folder} && tar -xf {image.file} -C ../{folder}")
            word = shlex.quote(f"{image.reference}=oci-layout://../{folder}@{image.base.digest}")
            contexts += f" \\\n  --build-context {word}"
    before = "".join(f"{line}\n" for line in unpack)
    return f"""## To build the image without network

In this folder:

```sh
{before}docker buildx build --build-context wheels=wheels{contexts} \\
  --tag {shlex.quote(_tag(plan))} {outputs}
```

No step of the build has a network, and every file is compared with its hash before it is installed.
With Podman write `podman build` in place of `docker buildx build`. For the same bytes on every
machine add what the first lines of the Dockerfile say.
"""


def _nix(outputs: str) -> str:
    return f"""## To build it with Nix

```sh
nix build --override-input wheels path:./wheels path:{outputs}
```

The packages are taken from `wheels/`. nixpkgs is fetched unless the store of Nix has it already.
"""


def _others(targets: Sequence[str], folder: str) -> str:
    files = {
        "apptainer": "apptainer.def",
        "devcontainer": "devcontainer.json",
        "compose": "compose.yaml",
        "kubernetes": "kubernetes.yaml",
    }
    found = [f"`{files[target]}`" for target in targets if target in files]
    if not found:
        return ""
    return f"""## Other ways to run it

{listed(found)} in {_code(folder)} describe the same environment. `docs/targets.md`
of EnvSpec says how each is used.
"""


def _envspec(plan: Plan, held: Sequence[Image]) -> str:
    spec = shlex.quote(plan.spec)
    return f"""## To verify it with EnvSpec

```sh
envspec verify {spec} --report ../report.json
```

It builds the environment from `wheels/`, runs the entries of the spec and compares what it sees
with what the spec claims. It needs no network and no cache; with `--engine local` it needs Python
{
        _plain(plan.python)
    } on the machine and no Docker. The report goes outside of this folder, so that the folder
stays as it was written. Verifying runs the code of the deposit, in a sandbox.{
        '''

Where Docker does not have the base image by its digest, `docker load --input FILE` brings the one
in `base/`.'''
        if any(image.file for image in held)
        else ""
    }
"""


def _tag(plan: Plan) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in plan.project.lower()).strip(
        "-"
    )


def _plain(text: str) -> str:
    """Words on one line that no renderer takes for markup."""
    return "".join(f"\\{c}" if c in "\\`*_<>[]|&#" else c for c in visible(text))


def _code(text: str) -> str:
    return f"`{visible(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`"
