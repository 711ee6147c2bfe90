"""The pyramid: which rung runs when, and what it may be skipped for.

A failed rung never stops the later ones: a reader wants to know everything that is wrong. A rung
that could not be checked is blocked and says why; it is never a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from envspec.build.protocol import Built, Engine, Mount
from envspec.plan import model as plan
from envspec.plan.model import Entry, Plan
from envspec.reporter import Reporter
from envspec.verify import binaries, judge, verdicts
from envspec.verify.claims import Judgement, Seen
from envspec.verify.claims import judge as judge_claims
from envspec.verify.judge import Ran
from envspec.verify.results import Observation
from envspec.verify.session import Evidence, Session
from envspec.verify.verdicts import Rung

CLAIMABLE = (
    "python_path",
    "python_version",
    "torch_version",
    "cuda_available",
    "gpu_count",
    "c0_missing",
    "c0",
    "c1",
    "c2",
    "c3",
    "c4",
)
STATIC_SECONDS = 600.0
LIVE_SECONDS = 600.0
LIVE_SECONDS_EACH = 120.0
IDENTITY_SECONDS = 180.0
KERNEL_SECONDS = 300.0


class Outcome(NamedTuple):
    """Everything a verification found."""

    rungs: dict[str, Rung]
    judgements: list[Judgement]
    evidence: list[Evidence]
    identity: dict[str, Any]
    source_changed: tuple[str, ...]


def climb(
    subject: Plan,
    engine: Engine,
    built: Built,
    mounts: tuple[Mount, ...],
    gpus: int,
    pycache: Path,
    logs: Path,
    reporter: Reporter,
) -> Outcome:
    """Run every rung that can be run here, in order, and judge the claims.

    ``mounts`` show the probes, pyright and the entries' scripts; ``gpus`` is how many GPUs the
    host has; ``pycache`` is a folder of this environment's own for compiled modules; ``logs`` is
    an existing folder for the evidence.
    """
    session = Session(subject, engine, built, mounts, pycache, logs, reporter)
    cuda = subject.accelerator.kind == "cuda"
    reporter.stage("identity")
    identity = _identity(session, "identity", gpus=cuda and gpus > 0)
    # Every container begins anew from a read-only image: there is nothing to compare.
    before = None if built.immutable else _state(session, "state-before")
    rungs: dict[str, Rung] = {}
    reporter.stage("C0 static")
    static = _c0_static(session)
    rungs["c0_static"] = judge.c0_static(static, ("c0_static",))
    reporter.stage("C0 live")
    rungs["c0_live"] = _c0_live(session, static)
    reporter.stage("C1")
    own = own_packages(static.observed)
    rungs["c1"] = _c1(session, own)
    rungs["c2_static"] = binaries.judge(subject, identity.observed, ("identity",))
    rungs.update(_gpu_rungs(session, identity, gpus, own))
    reporter.stage("C5")
    interpreter = _interpreter(session, identity)
    changed = changes(before, _state(session, "state-after")) if before else ()
    seen = Seen(rungs, identity.observed, interpreter, gpus > 0, subject.accelerator.kind)
    judgements = judge_claims(subject.claims, seen, CLAIMABLE)
    return Outcome(rungs, judgements, session.evidence, identity.observed, changed)


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


def _c0_static(session: Session) -> Observation:
    config = {
        "python": session.locate(plan.INTERPRETER),
        "source": session.locate(plan.SOURCE),
        "import_roots": [session.locate(r) for r in session.plan.import_roots],
        "pyright": {
            "node": session.locate(f"{plan.NODE}/bin/node"),
            "script": session.locate(f"{plan.PYRIGHT}/index.js"),
        },
        "optional": [o.name for o in session.plan.optional_imports],
    }
    return session.run("c0_static", "c0_static", config, seconds=STATIC_SECONDS)


def _c0_live(session: Session, static: Observation) -> Rung:
    if not static.usable or not isinstance(static.observed.get("must_load"), dict):
        reason = "the imports are not known: C0 static gave no result"
        return verdicts.broken("c0_live", reason, ("c0_static",))
    excused = [o.name for o in session.plan.optional_imports]
    others, own = live_names(static.observed, excused)
    evidence = ["c0_live"]
    with session.warm(last=True) as pycache:
        runs = [_load(session, "c0_live", others, compile_modules=bool(pycache))]
    # What the repository brings itself is loaded apart: its code may not touch the cache.
    if own:
        evidence.append("c0_live-own")
        runs.append(_load(session, evidence[-1], own))
    modules = sorted({m for e in session.plan.extensions for m in e.modules} - {*others, *own})
    if modules:
        # A compiled module finds torch's libraries only where torch was loaded before.
        before = [n for n in ("torch",) if any(w.name == n for w in session.plan.wheels)]
        evidence.append("c0_live-extensions")
        runs.append(_load(session, evidence[-1], modules, before=before))
    results = [r for run in runs for r in run.observed.get("results") or []]
    error = next((run.error for run in runs if run.error), "")
    whole = Observation("c0_live", {"results": results}, error)
    return judge.c0_live(whole, tuple(evidence), [*others, *own, *modules])


def _load(
    session: Session,
    name: str,
    names: list[str],
    *,
    compile_modules: bool = False,
    before: Sequence[str] = (),
) -> Observation:
    environment = session.environment()
    if compile_modules:
        del environment["PYTHONDONTWRITEBYTECODE"]
    config = {
        "python": session.locate(plan.INTERPRETER),
        "environment": environment,
        "cwd": session.locate(plan.SOURCE),
        "names": names,
        "before": list(before),
        "seconds_each": LIVE_SECONDS_EACH,
        "workers": 2,
    }
    return session.run(name, "c0_live", config, seconds=LIVE_SECONDS)


def live_names(observed: dict[str, Any], optional: list[str]) -> tuple[list[str], list[str]]:
    """Top-level names that must load: what the source requires of others, and those of its own
    packages that it imports by name. Declared optional and guarded imports are not among them."""
    excused = {name.split(".", 1)[0] for name in optional}
    must = observed.get("must_load") or {}
    others = {str(top) for top in must.get("third_party") or []} - excused
    own = {str(top) for top in must.get("first_party") or []} - excused
    return sorted(others), sorted(own - others)


def _c1(session: Session, own: frozenset[str]) -> Rung:
    chosen = [e for e in session.plan.entries if e.level == "c1"]
    if not chosen:
        return verdicts.not_applicable("c1", "the spec has no entry of level c1")
    return judge.entries("c1", [_entry(session, e) for e in chosen], own)


def _entry(session: Session, entry: Entry, *, gpus: bool = False) -> Ran:
    name, probe = f"{entry.level}-{entry.name}", f"{entry.level}_entry"
    config = {
        "argv": [session.locate(a) for a in entry.argv],
        "cwd": session.locate(plan.SOURCE),
        "environment": session.environment(dict(entry.environment), gpus=gpus),
        "output_limit": 65536,
        "expect_files": list(entry.expect.files),
        "expect_output": list(entry.expect.output),
        "source_roots": [session.locate(plan.SOURCE), session.locate(plan.ENTRIES)],
    }
    observation = session.run(
        name, probe, config, seconds=entry.timeout, gpus=gpus, network=entry.network
    )
    return Ran(entry, observation, name, session.locate(plan.SOURCE))


def _gpu_rungs(
    session: Session, identity: Observation, gpus: int, own: frozenset[str]
) -> dict[str, Rung]:
    names = ("c2_live", "c3", "c4")
    if session.plan.accelerator.kind == "none":
        return {n: verdicts.not_applicable(n, "the spec says `accelerator none`") for n in names}
    if gpus == 0:
        reason = "this machine has no GPU"
        return {n: verdicts.blocked(n, verdicts.HARDWARE, reason) for n in names}
    rungs = {"c2_live": judge.c2_live(identity, ("identity",))}
    rungs["c3"] = _c3(session, own)
    if gpus < 2:
        reason = "this machine has one GPU, a collective needs two"
        rungs["c4"] = verdicts.blocked("c4", verdicts.HARDWARE, reason)
    else:
        rungs["c4"] = _c4(session, own)
    return rungs


def _c3(session: Session, own: frozenset[str]) -> Rung:
    config = {
        "python": session.locate(plan.INTERPRETER),
        "environment": session.environment(gpus=True),
        "device": 0,
    }
    kernel = session.run("c3_kernel", "c3_kernel", config, seconds=KERNEL_SECONDS, gpus=True)
    chosen = [e for e in session.plan.entries if e.level == "c3"]
    return judge.c3(kernel, ("c3_kernel",), [_entry(session, e, gpus=True) for e in chosen], own)


def _c4(session: Session, own: frozenset[str]) -> Rung:
    config = {
        "python": session.locate(plan.INTERPRETER),
        "environment": session.environment(gpus=True),
        "processes": 2,
        "backend": "nccl",
    }
    name = "c4_collective"
    collective = session.run(name, name, config, seconds=KERNEL_SECONDS, gpus=True)
    chosen = [e for e in session.plan.entries if e.level == "c4"]
    return judge.c4(collective, (name,), [_entry(session, e, gpus=True) for e in chosen], own)


def _interpreter(session: Session, identity: Observation) -> bool | None:
    """Whether the interpreter that the spec claims is this environment's."""
    claimed = next((c.value for c in session.plan.claims if c.name == "python_path"), None)
    if claimed is None or not identity.usable:
        return None
    if claimed == plan.INTERPRETER:
        return bool(identity.observed.get("executable"))
    tried = _identity(session, "identity-claimed", python=session.locate(claimed))
    return tried.usable and tried.observed.get("prefix") == identity.observed.get("prefix")


def own_packages(observed: dict[str, Any]) -> frozenset[str]:
    """Top-level names that the source has itself, as far as it imports them."""
    imports = observed.get("imports") or []
    return frozenset(str(i.get("top")) for i in imports if i.get("origin") == "first_party")


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
