"""Where a ``pytorch-<backend>`` index is: uv knows, so nobody here has to."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from envspec.lock.indexes import TORCH_PREFIX, UnreachableError
from envspec.lock.pipconfig import PipConfig
from envspec.lock.uvrun import run_uv

_FROM = re.compile(r"^\s*# from (\S+)$", re.MULTILINE)


def torch_index(alias: str, pip: PipConfig) -> str:
    """Address of the index that uv uses for a backend such as ``cpu`` or ``cu126``.

    uv tells it only with an answer, so this asks the index for torch.

    Raises:
        UnreachableError: uv does not know the backend, or the index does not answer.
    """
    backend = alias.removeprefix(TORCH_PREFIX)
    if backend == "auto" or not re.fullmatch(r"[a-z0-9.]+", backend):
        raise UnreachableError(alias, "nobody knows where it is: uv has no such torch backend")
    with tempfile.TemporaryDirectory(prefix="envspec-") as name:
        folder = Path(name)
        (folder / "torch.in").write_text("torch\n", "utf-8")
        try:
            done = run_uv(
                [
                    *("torch.in", "--torch-backend", backend, "--no-deps", "-q"),
                    *("--emit-index-annotation", "--python-version", "3.11"),
                ],
                folder,
                pip,
            )
        except FileNotFoundError:
            raise UnreachableError(alias, "nobody knows where it is: uv is not here") from None
    if done.returncode == 2 and "--torch-backend" in done.stderr:
        raise UnreachableError(alias, "nobody knows where it is: uv has no such torch backend")
    return address_in(done.stdout, alias)


def address_in(output: str, alias: str) -> str:
    """The index in uv's annotated requirements."""
    match = _FROM.search(output)
    if match is None:
        raise UnreachableError(alias, "uv got no answer from it")
    return match[1]
