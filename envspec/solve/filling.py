"""Writing a solution into the spec's text: the edits that settle what is open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import Edit, Fix
from envspec.facts.builds import COMPANIONS, build_of_index
from envspec.model import NOWHERE, TORCH_INDEX, Package, Spec
from envspec.solve.candidates import Companion, Torch
from envspec.solve.open import by_vllm
from envspec.solve.problem import Problem
from envspec.solve.search import Choice
from envspec.solve.values import Pin
from envspec.source import SourceFile, Span
from envspec.stated import TORCH, exact, from_default_index, package

_HEAD = re.compile(r"accelerator[ \t]+cuda(?:[ \t]+[0-9.]+)?")
_OPENED = re.compile(r"[ \t]*\{")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(\r?\n)")


def pins(problem: Problem, choice: Choice) -> tuple[Pin, ...]:
    """Torch and its companions at the versions of a set, in the order of the spec."""
    torch = choice.get(TORCH)
    if not isinstance(torch, Torch):
        return ()
    found = []
    index = ""
    for item in sorted(problem.spec.packages, key=lambda p: p.name != TORCH):
        if item.name == TORCH:
            pin = _torch(item, torch)
            index = pin.index or item.index
            found.append(pin)
        elif item.name in COMPANIONS:
            companion = choice[item.name]
            assert isinstance(companion, Companion), "companions are chosen by name"
            found.append(_companion(problem.spec, item, companion.version(torch), index))
    return tuple(found)


def _torch(item: Package, torch: Torch) -> Pin:
    if exact(item.specifier):
        return Pin(TORCH, item.specifier, "", settled=True)
    if torch.row.default and from_default_index(item):
        return Pin(TORCH, f"=={torch.release}", "", settled=False)
    index = "" if item.index else f"{TORCH_INDEX}{torch.build}"
    return Pin(TORCH, f"=={torch.release}+{torch.build}", index, settled=False)


def _companion(spec: Spec, item: Package, version: str, index: str) -> Pin:
    """A companion comes from where torch comes from: its code is of the same CUDA build."""
    other = "" if item.index or item.name == "vllm" or not build_of_index(index) else index
    if exact(item.specifier):
        return Pin(item.name, item.specifier, other, settled=not other)
    if by_vllm(spec, item.name) and not item.specifier:
        return Pin(item.name, "", other, settled=not other)
    return Pin(item.name, f"=={version}", other, settled=False)


def fix(
    spec: Spec, source: SourceFile, toolkit: str, driver: str, settled: tuple[Pin, ...]
) -> Fix | None:
    """The edits that write a solution down; None where nothing is open, or where the spec was
    not read from a text."""
    edits: list[Edit] = []
    accelerator = spec.accelerator
    numbers = ("" if accelerator.toolkit else toolkit, "" if accelerator.driver else driver)
    if any(numbers):
        found = list(_accelerator(spec, source, *numbers))
        if not found:
            return None
        edits.extend(found)
    for pin in settled:
        item = package(spec, pin.name)
        if pin.settled or item is None:
            continue
        if item.specifier_span == NOWHERE:
            return None
        edits.append(_package(item, pin))
    if not edits:
        return None
    words = [f"CUDA {toolkit}"] if numbers[0] else []
    words += [f"driver >={driver}"] if numbers[1] else []
    words += [_written(pin) for pin in settled if not pin.settled]
    return Fix(f"fill in {', '.join(words)}", tuple(sorted(edits)))


def _written(pin: Pin) -> str:
    origin = f"from {pin.index}" if pin.index else ""
    return " ".join(part for part in (pin.name, pin.specifier, origin) if part)


def _package(item: Package, pin: Pin) -> Edit:
    at, origin = item.specifier_span, f" from {pin.index}" if pin.index else ""
    if pin.specifier == item.specifier:
        return Edit(Span(at.end, at.end), origin)
    before = " " if at.start == at.end else ""
    return Edit(at, f"{before}{pin.specifier}{origin}")


def _accelerator(spec: Spec, source: SourceFile, toolkit: str, driver: str) -> Iterator[Edit]:
    """Edits of the accelerator: its number behind `cuda`, a line `driver` first in its block."""
    text = source.text
    head = _HEAD.match(text, spec.accelerator.span.start)
    if head is None:
        return
    number = f" {toolkit}" if toolkit else ""
    opened = _OPENED.match(text, head.end())
    newline = "\r\n" if "\r\n" in text else "\n"
    if driver and opened is None:
        block = f"{number} {{{newline}  driver >={driver}{newline}}}"
        yield Edit(Span(head.end(), head.end()), block)
        return
    if number:
        yield Edit(Span(head.end(), head.end()), number)
    if driver and opened is not None:
        rest = _REST.match(text, opened.end())
        if rest is None:
            yield Edit(Span(opened.end(), opened.end()), f" driver >={driver}{newline} ")
        else:
            indent = re.compile(r"[ \t]*").match(text, rest.end())
            space = indent.group() if indent else ""
            closes = text.startswith("}", rest.end() + len(space))
            space = f"{space}  " if closes else space
            yield Edit(Span(rest.end(), rest.end()), f"{space}driver >={driver}{newline}")
