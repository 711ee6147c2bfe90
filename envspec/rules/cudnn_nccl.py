"""W0320: the stated cuDNN or NCCL is not the one that the build of torch pins.

The libraries come with torch's wheels, so the statement changes nothing. A `because` on its line
says that it is meant for something else.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.facts.versions import differs
from envspec.rules.shared import places, pytorch
from envspec.rules.view import View

CODE = "W0320"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each of the two, at its line."""
    accelerator = view.spec.accelerator
    for word, name, stated, span in (
        ("cudnn", "cuDNN", accelerator.cudnn, accelerator.cudnn_span),
        ("nccl", "NCCL", accelerator.nccl, accelerator.nccl_span),
    ):
        if not (view.cuda and stated and view.torch_cuda):
            continue
        actual = _actual(view, word)
        if not differs(stated, actual) or pytorch.because(view, word):
            continue
        precise = ".".join(actual.split(".")[: stated.count(".") + 1])
        yield Diagnostic(
            CODE,
            f"`{word} {stated}` is stated, and {pytorch.shown(view)} brings {name} {actual}",
            view.source,
            (Label(span, "stated here"), Label(pytorch.place(view), f"brings {name} {actual}")),
            cause=f"{name} comes with torch's wheels, in {actual}, and torch loads that one",
            hint=f"write `{word} {precise}`, drop the line, or say with `because` what it is for",
            fix=places.replace(view.source, span, stated, precise, f"state {name} {precise}"),
            severity=WARNING,
        )


def _actual(view: View, word: str) -> str:
    """What the lock has, which is exact; else what the table says of the build."""
    major = view.torch_cuda.partition(".")[0]
    locked = view.settled.get(f"nvidia-{word}-cu{major}")
    if locked:
        return locked.public
    row = view.torch_build
    return (row.cudnn if word == "cudnn" else row.nccl) or "" if row else ""
