"""Re-checking a committed set: spec, lock, outputs, report, evidence and attestation, each against
what it was made from. Nothing is built, run or written, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from envspec import __version__
from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.emit.outputs import DEFAULT_TARGETS
from envspec.lock.provenance import facts_digest
from envspec.pipeline import compile as compiling
from envspec.pipeline import load, relock
from envspec.pipeline.compile import Compiled
from envspec.pipeline.load import Loaded
from envspec.pipeline.verify import provenance, subject
from envspec.report import attestation, evidence, reader, restore
from envspec.report.document import judged
from envspec.source import SourceFile
from envspec.verify.replay import NotThisEvidenceError, replay

OTHER_SUBJECT, OTHER_EVIDENCE, OTHER_VERDICT, OTHER_REPORT = "E0881", "E0882", "E0883", "E0884"
PASS, FAIL, BLOCKED = "pass", "fail", "blocked"


class Places(NamedTuple):
    """Where the parts of the set are. ``outputs`` and ``attestation`` are None where there are
    none: then nothing is said of them but that."""

    spec: Path
    outputs: Path | None
    report: Path
    attestation: Path | None


class Check(NamedTuple):
    """One part of the set: ``verdict`` is `pass`, `fail` or `blocked` (could not be checked),
    ``said`` a clause, ``findings`` what is wrong."""

    name: str
    verdict: str
    said: str
    findings: tuple[Diagnostic, ...] = ()


def audit(places: Places) -> list[Check]:
    """Every part of the set, in the order in which each is made from those before. What rests on
    a part that failed is blocked."""
    checks: list[Check] = []
    loaded, made = None, None
    try:
        loaded = load.load(places.spec)
        relock.check(loaded, relock.Asked())
        found = load.read_lock(loaded)
        assert found is not None
        checks.append(Check("lock", PASS, "it is of this spec, and whole"))
        loaded = load.checked_with(loaded, found[0])
        targets = compiling.targets_of(places.outputs) if places.outputs else DEFAULT_TARGETS
        made = compiling.compiled(loaded, *found, targets)
    except DiagnosticError as error:
        checks.append(_failed("lock", error))
    checks.append(_outputs(loaded, made, places.outputs))
    try:
        text = reader.file_text(places.report, "the report")
        report = reader.loads(text, str(places.report))
    except DiagnosticError as error:
        rest = ("evidence", "attestation")
        return [*checks, _failed("report", error), *(_blocked(name, "the report") for name in rest)]
    if loaded is None or made is None:
        checks += [_blocked("report", "the lock"), _blocked("evidence", "the lock")]
    else:
        checks.append(_try("report", lambda: _report(loaded, made, report, places)))
        checks.append(_try("evidence", lambda: _evidence(made, report, places)))
    checks.append(_try("attestation", lambda: _attestation(report, text, places)))
    return checks


def _try(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except DiagnosticError as error:
        return _failed(name, error)


def _failed(name: str, error: DiagnosticError) -> Check:
    return Check(name, FAIL, error.diagnostics[0].title, error.diagnostics)


def _blocked(name: str, why: str) -> Check:
    return Check(name, BLOCKED, f"not looked at: it rests on {why}")


def _outputs(loaded: Loaded | None, made: Compiled | None, folder: Path | None) -> Check:
    if loaded is None or made is None:
        return _blocked("outputs", "the lock")
    if folder is None:
        return Check("outputs", BLOCKED, "there are none; `--outputs` names their folder")
    try:
        compiling.check_fresh(loaded, made, folder)
    except DiagnosticError as error:
        return _failed("outputs", error)
    return Check("outputs", PASS, f"{len(made.files)} files are what the spec compiles to")


def _report(loaded: Loaded, made: Compiled, report: dict[str, Any], places: Places) -> Check:
    """The digests of the report, and what else it repeats of the plan."""
    plan = made.plan
    wheels = {e.name: (e.version, e.sha256 or None) for e in plan.extensions}
    wanted = {
        "spec": subject(loaded, made)._asdict(),
        "project": plan.project,
        "network": [entry.name for entry in plan.entries if entry.network],
        "engine": {"base": f"{plan.base.name}@{plan.base.digest}"},
        "seen": {"provenance": provenance(loaded, made, _image(report))._asdict()},
    }
    told: dict[str, Any] = {name: report[name] for name in wanted}
    told["engine"] = {"base": report["engine"]["base"]}
    told["seen"] = {"provenance": report["seen"]["provenance"]}
    place = attestation.difference(told, wanted)
    built = {e["name"]: (e["version"], e["recorded"]) for e in report["extensions"]}
    if not place and (built != wheels or len(report["extensions"]) != len(wheels)):
        place = "$.extensions"
    if not place:
        return Check("report", PASS, "it is about this spec, lock and plan")
    raise DiagnosticError.of(
        OTHER_SUBJECT,
        f"`{place}` of the report is not that of this spec and its lock",
        source=SourceFile(str(places.report), ""),
        cause="a report holds for the spec, the lock and the plan that it names by their digests",
        hint=f"verify again: envspec verify {loaded.argument}",
    )


def _image(report: dict[str, Any]) -> str:
    """The digest of the image of the locked base; ``""`` where no such image was made, as for an
    engine whose environment a run can change."""
    changing = any(record["id"] == "state-before" for record in report["evidence"])
    engine = report["engine"]
    return "" if changing or engine["base_substituted"] else str(engine["digest"])


def _evidence(made: Compiled, report: dict[str, Any], places: Places) -> Check:
    """The logs are those of the report, and judging them again gives its verdicts."""
    source = SourceFile(str(places.report), "")
    folder = places.report.with_suffix(".logs")
    answers, absent = {}, []
    for record in report["evidence"]:
        state, seen = evidence.observation(folder / record["log"], record["log_sha256"])
        if state == evidence.ABSENT:
            absent.append(record["log"])
        elif state == evidence.CHANGED or seen is None:
            raise DiagnosticError.of(
                OTHER_EVIDENCE,
                f"`{record['log']}` is not the log that the report has the digest of",
                source=source,
                cause=f"it is in `{folder}`, and was changed since the report was written",
                hint="restore it, or verify again",
            )
        else:
            answers[record["id"]] = seen
    if absent:
        said = f"{len(absent)} of {len(report['evidence'])} logs are not in `{folder.name}`"
        return Check("evidence", BLOCKED, f"{said}: its verdicts cannot be worked out again")
    outcome = restore.outcome(report)
    try:
        again = replay(
            made.plan,
            outcome.seen.provenance,
            outcome.evidence,
            answers,
            report["verifier"]["gpus"],
        )
    except NotThisEvidenceError as error:
        raise DiagnosticError.of(
            OTHER_EVIDENCE,
            f"the evidence is not that of a verification of this spec: {error}",
            source=source,
            hint="verify again",
        ) from None
    wanted = judged(again, restore.rebuilt(report))
    place = attestation.difference({name: report[name] for name in wanted}, wanted)
    if not place:
        number = len(report["evidence"])
        return Check("evidence", PASS, f"{number} runs, judged again, give the same verdicts")
    raise DiagnosticError.of(
        OTHER_VERDICT,
        f"`{place}` of the report is not what its evidence is judged as",
        source=source,
        cause=_versions(report),
        hint="verify again, or audit with the version of envspec that the report names",
    )


def _versions(report: dict[str, Any]) -> str:
    if report["envspec"] != __version__:
        return f"it was written by envspec {report['envspec']}, and this is {__version__}"
    if report["verifier"]["facts_sha256"] != facts_digest():
        return "it was judged by other tables of facts than these"
    return "the same version and the same facts judged it, so it was changed since"


def _attestation(report: dict[str, Any], text: str, places: Places) -> Check:
    if places.attestation is None:
        return Check("attestation", BLOCKED, "there is none; `envspec attest` writes it")
    name = str(places.attestation)
    found = reader.file_text(places.attestation, "the attestation")
    told = attestation.loads(found, name)
    wanted = attestation.statement(report, text)
    place = attestation.difference(told, wanted)
    if not place and found == attestation.canonical(wanted):
        return Check("attestation", PASS, "it is about this report, byte for byte")
    where = f"`{place}` of the attestation" if place else "the layout of the attestation"
    raise DiagnosticError.of(
        OTHER_REPORT,
        f"{where} is not what this report is attested with",
        source=SourceFile(name, ""),
        cause="the report, or the attestation, was changed after it was written",
        hint="restore both, or verify and attest again",
    )
