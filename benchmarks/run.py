"""Measures EnvSpec against its neighbours and prints ratios beside their targets.

    .venv-bench/bin/python benchmarks/run.py [--only NAME]… [--rounds N] [--json FILE]

Nothing is asserted: a machine that is busy or slow is no defect. Exit 1 only where a group
broke. Progress goes to stderr, the table to stdout.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

import check_warm
import compile_cold
import compile_throughput
import image_build
import lock
import lsp_edit
import solver
import verify_unchanged
from measure import Figure, Skipped, machine

GROUPS = {
    g.NAME: g
    for g in (
        check_warm,
        compile_cold,
        compile_throughput,
        lock,
        lsp_edit,
        solver,
        verify_unchanged,
        image_build,
    )
}
HEAD = ("figure", "ours", "peer", "ratio", "target", "met?")


def main() -> int:
    """Run the groups asked for."""
    options = _options()
    # On the way out images and folders are removed; SIGTERM alone would skip that.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = machine()
    found: list[Figure | Skipped] = []
    broken: list[str] = []
    for name in options.only or GROUPS:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            for figure in GROUPS[name].figures(options.rounds):
                found.append(figure)
                print(f"  {_said(figure)}", file=sys.stderr, flush=True)
        except (RuntimeError, OSError) as error:
            broken.append(f"{name}: {error}")
    note = f"begun on {begun}; ended on {machine()}"
    print(table(found))
    print(f"\n{note}")
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(document(found, note), indent=2) + "\n")
    return 1 if broken else 0


def table(found: Iterable[Figure | Skipped]) -> str:
    """The figures as aligned text; notes and what was skipped follow below."""
    figures = [f for f in found if isinstance(f, Figure)]
    rows = [HEAD, *(_row(f) for f in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = [
        "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(cells))
        for cells in (list(zip(row, widths, strict=True)) for row in rows)
    ]
    lines += ["", *(f"{f.name}: {f.note}" for f in figures if f.note)]
    lines += [_said(s) for s in found if isinstance(s, Skipped)]
    return "\n".join(lines).rstrip()


def _said(figure: Figure | Skipped) -> str:
    """One figure on one line, for those who wait."""
    if isinstance(figure, Skipped):
        return f"SKIPPED {figure.name}: {figure.why}"
    return "  ".join(cell for cell in _row(figure) if cell)


def _row(figure: Figure) -> tuple[str, ...]:
    bound = "" if figure.target is None else f"{figure.bound} {figure.target:g}"
    if bound:
        bound += f" {figure.unit}" if figure.peer is None else " ×"
    return (
        figure.name,
        _number(figure.ours, figure.unit),
        "" if figure.peer is None else _number(figure.peer, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.2f} ×",
        bound,
        {True: "yes", False: "NO", None: ""}[figure.met],
    )


def _number(value: float, unit: str) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 3
    return f"{value:.{digits}f} {unit}"


def document(found: Iterable[Figure | Skipped], note: str) -> dict[str, object]:
    """The figures as plain data."""
    return {
        "benchmarks": 1,
        "machine": note,
        "figures": [
            {**f._asdict(), "ratio": f.ratio, "met": f.met} for f in found if isinstance(f, Figure)
        ],
        "skipped": [s._asdict() for s in found if isinstance(s, Skipped)],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure EnvSpec against its neighbours.")
    parser.add_argument(
        "--only", action="append", choices=list(GROUPS), help="this group; may be repeated"
    )
    parser.add_argument("--rounds", type=int, help="runs of each side, instead of the group's own")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
