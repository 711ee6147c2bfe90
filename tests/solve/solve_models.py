"""Specs for the solver's tests, as text and as the model that the language makes of it."""

from __future__ import annotations

from typing import NamedTuple

from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.source import SourceFile


class Case(NamedTuple):
    """What a spec states. An empty field is not stated, but for the base, which is then the image
    of that Python; ``torch`` None has no torch at all."""

    driver: str = ""
    gpus: tuple[str, ...] = ()
    python: str = "3.11"
    torch: str | None = ""
    packages: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    toolkit: str = ""
    base: str = ""
    devel: str = ""
    more: str = ""
    platform: str = "linux/amd64"


def text(case: Case) -> str:
    """The case as a spec."""
    accelerator = [f"  driver >={case.driver}"] if case.driver else []
    accelerator += [f"  gpus   {' '.join(case.gpus)}"] if case.gpus else []
    accelerator += [f"  {line}" for line in case.more.splitlines()]
    block = "\n".join([" {", *accelerator, "}"]) if accelerator else ""
    packages = [] if case.torch is None else [f"torch {case.torch}".rstrip()]
    packages += case.packages
    extensions = "".join(
        f"\nextension {name} {{\n  needs torch setuptools\n}}\n" for name in case.extensions
    )
    listed = "\n".join(f"  {line}" for line in packages)
    devel = f'\n  devel  "{case.devel}"' if case.devel else ""
    base = case.base or f"python:{case.python or '3.11'}-slim-bookworm"
    head = f"accelerator cuda {case.toolkit}".rstrip()
    return f"""envspec 1

project demo {{
  source path "."
}}

platform {case.platform} {{
  base   "{base}"{devel}
  python {case.python}
}}

{head}{block}

packages {{
{listed}
}}
{extensions}"""


def read(words: str) -> tuple[Spec, SourceFile]:
    """The model of a text, and the text."""
    source = SourceFile("spec.env", words)
    return resolve(parse(source), source), source


def spec(case: Case) -> tuple[Spec, SourceFile]:
    """The model of a case, and its text."""
    return read(text(case))
