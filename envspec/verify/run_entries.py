"""Running the entries of a spec, and the rung that is nothing but entries: C1."""

from __future__ import annotations

from envspec.plan import model as plan
from envspec.plan.model import Entry
from envspec.verify import judge_entries, verdicts
from envspec.verify.judge_entries import Ran
from envspec.verify.session import Session
from envspec.verify.verdicts import Rung


def climb(session: Session, own: frozenset[str]) -> Rung:
    """C1: every entry of the level, with the GPUs hidden. ``own`` is the repository's own."""
    chosen = [e for e in session.plan.entries if e.level == "c1"]
    if not chosen:
        return verdicts.not_applicable("c1", "the spec has no entry of level c1")
    return judge_entries.entries("c1", [run_entry(session, e) for e in chosen], own)


def run_entry(session: Session, entry: Entry, *, gpus: bool = False) -> Ran:
    """Run one entry under its probe; ``gpus`` shows it the accelerators."""
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
