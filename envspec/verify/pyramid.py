"""The pyramid: which rung runs when, and what it may be skipped for.

A failed rung never stops the later ones: a reader wants to know everything that is wrong. A rung
that could not be checked is blocked and says why; it is never a pass.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from envspec.build.protocol import Built, Engine, Mount
from envspec.plan import model as plan
from envspec.plan.model import Plan
from envspec.reporter import Reporter
from envspec.verify import binaries, judge_imports, run_entries, run_imports, run_kernels
from envspec.verify.claims.judge import judge as judge_claims
from envspec.verify.claims.model import UNSTATED, Judgement, Provenance, Seen
from envspec.verify.results import Observation
from envspec.verify.session import Evidence, Session
from envspec.verify.verdicts import Rung

IDENTITY_SECONDS = 180.0


class Outcome(NamedTuple):
    """Everything a verification found."""

    rungs: dict[str, Rung]
    judgements: list[Judgement]
    evidence: list[Evidence]
    source_changed: tuple[str, ...]
    seen: Seen


def climb(
    subject: Plan,
    engine: Engine,
    built: Built,
    mounts: tuple[Mount, ...],
    provenance: Provenance,
    gpus: int,
    pycache: Path,
    logs: Path,
    reporter: Reporter,
) -> Outcome:
    """Run every rung that can be run here, in order, and judge the claims.

    ``provenance`` says what it was built from; ``mounts`` show the probes, pyright and the
    entries' scripts; ``gpus`` is how many GPUs the host has; ``pycache`` is a folder of this
    environment's own for compiled modules; ``logs`` is an existing folder for the evidence.
    """
    session = Session(subject, engine, built, mounts, pycache, logs, reporter)
    return ascend(session, provenance, gpus, reporter, immutable=built.immutable)


def ascend(
    session: Session, provenance: Provenance, gpus: int, reporter: Reporter, *, immutable: bool
) -> Outcome:
    """The climb itself, by whatever answers for the probes: an engine, or what is recorded of one.

    ``immutable`` says that no run can change the environment.
    """
    subject = session.plan
    cuda = subject.accelerator.kind == "cuda"
    reporter.stage("identity")
    identity = _identity(session, "identity", gpus=cuda and gpus > 0)
    # Every container begins anew from a read-only image: there is nothing to compare.
    before = None if immutable else _state(session, "state-before")
    rungs: dict[str, Rung] = {}
    reporter.stage("C0 static")
    static = run_imports.run_static(session)
    rungs["c0_static"] = judge_imports.c0_static(static, ("c0_static",))
    reporter.stage("C0 live")
    rungs["c0_live"] = run_imports.climb_live(session, static)
    reporter.stage("C1")
    own = run_imports.own_packages(static.observed)
    rungs["c1"] = run_entries.climb(session, own)
    rungs["c2_static"] = binaries.judge(subject, identity.observed, ("identity",))
    rungs.update(run_kernels.climb(session, identity, gpus, own))
    reporter.stage("C5")
    interpreter = _interpreter(session, identity)
    modules = run_imports.load_claimed(session)
    changed = changes(before, _state(session, "state-after")) if before else ()
    distributed = [e.processes for e in subject.entries if e.level == "c4"]
    seen = Seen(
        rungs,
        identity.observed,
        interpreter,
        gpus > 0,
        subject.accelerator.kind,
        provenance,
        modules,
        max(distributed, default=0),
    )
    judgements = judge_claims(subject.claims, seen)
    return Outcome(rungs, judgements, session.evidence, changed, seen)


def _identity(session: Session, name: str, *, python: str = "", gpus: bool = False) -> Observation:
    config: dict[str, Any] = {
        "python": python or session.locate(plan.INTERPRETER),
        "environment": session.environment(gpus=gpus),
        "gpus": gpus,
    }
    with nullcontext("") if python else session.warm() as pycache:
        if pycache:
            config["pycache"] = pycache
        seen = session.run(name, "identity", config, seconds=IDENTITY_SECONDS, gpus=gpus)
    error = seen.observed.get("error")
    if error:
        # The interpreter gave no answer: nothing is known, so nothing may be held against claims.
        said = error.get("message") if isinstance(error, dict) else error
        return seen._replace(observed={}, error=f"the interpreter did not answer: {said}"[:300])
    return seen


def _interpreter(session: Session, identity: Observation) -> bool | None:
    """Whether the interpreter that the spec claims is this environment's; where it claims none,
    whether the one that it is built with is."""
    if not identity.usable:
        return None
    claimed = next((c.value for c in session.plan.claims if c.name == "python_path"), UNSTATED)
    if claimed in {plan.INTERPRETER, UNSTATED}:
        return bool(identity.observed.get("executable"))
    tried = _identity(session, "identity-claimed", python=session.locate(claimed))
    return tried.usable and tried.observed.get("prefix") == identity.observed.get("prefix")


def _state(session: Session, name: str) -> Observation:
    config = {"source": session.locate(plan.SOURCE), "prefix": session.locate(plan.PREFIX)}
    return session.run(name, "state", config, seconds=IDENTITY_SECONDS)


def changes(before: Observation, after: Observation) -> tuple[str, ...]:
    """What the runs changed in the source or the package set; sentences, empty for nothing.

    Where either state could not be read, that is said too: unknown is not unchanged.
    """
    if not before.usable or not after.usable:
        return (f"unknown: {before.error or after.error}",)
    old, new = before.observed.get("files") or {}, after.observed.get("files") or {}
    found = [f for f in sorted(old.keys() | new.keys()) if old.get(f) != new.get(f)]
    if not found and before.observed.get("source_digest") != after.observed.get("source_digest"):
        found.append("a file of the source")
    if before.observed.get("packages_digest") != after.observed.get("packages_digest"):
        found.append("the set of installed packages")
    return tuple(found)
