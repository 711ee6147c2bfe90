"""`envspec audit`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from envspec.cli import common

_ATTESTATION = "attestation.json"


@click.command("audit")
@click.argument("place", metavar="[FOLDER|SPEC]", type=click.Path(path_type=Path), default=".")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The report, with its evidence beside it. Default: report.json beside the spec.",
)
@click.option(
    "--attestation",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"What `envspec attest` wrote. Default: {_ATTESTATION} beside the report, if it is there.",
)
@click.option(
    "--outputs",
    type=click.Path(path_type=Path, file_okay=False),
    help="What `envspec compile` wrote. Default: generated/PROJECT here or beside the spec.",
)
@common.format_option
def command(
    place: Path,
    report: Path | None,
    attestation: Path | None,
    outputs: Path | None,
    form: str,
) -> None:
    """Re-check a committed set: spec, lock, outputs, report, evidence, attestation.

    The outputs are compiled again, the report is held against the digests of spec, lock and plan,
    its verdicts are judged again from the evidence, and the attestation is worked out again from
    the report. Nothing is built, run or written. A signature is for the program that made it.

    Exit code 0 where everything holds, 1 where something does not, 4 where something is missing and
    so could not be checked.
    """
    from envspec.pipeline import load
    from envspec.pipeline.audit import FAIL, PASS, Places, audit
    from envspec.render import visible

    spec = place / "spec.env" if place.is_dir() else place
    with common.findings(spec, form):
        report = report or spec.with_name("report.json")
        beside = report.with_name(_ATTESTATION)
        if attestation is None and beside.exists():
            attestation = beside
        if outputs is None:
            outputs = _outputs(spec, load.load(spec).spec.project.name)
        checks = audit(Places(spec, outputs, report, attestation))
    verdicts = {check.verdict for check in checks}
    if form == common.JSON:
        from envspec.render import document

        data = [{**c._asdict(), "findings": document(c.findings)["diagnostics"]} for c in checks]
        whole = {"schema": 1, "verdict": _worst(verdicts), "checks": data}
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
    else:
        common.show([finding for check in checks for finding in check.findings], form)
        for check in checks:
            click.echo(f"{check.name:12} {check.verdict:8} {visible(check.said)}")
    sys.exit(
        common.FINDINGS
        if FAIL in verdicts
        else common.GOOD
        if verdicts == {PASS}
        else common.BLOCKED
    )


def _worst(verdicts: set[str]) -> str:
    return next(word for word in ("fail", "blocked", "pass") if word in verdicts)


def _outputs(spec: Path, project: str) -> Path | None:
    """Where `envspec compile` would have written, from here or from the folder of the spec."""
    places = (Path("generated") / project, spec.parent / "generated" / project, spec.parent)
    return next((p for p in places if (p / "manifest.json").is_file()), None)
