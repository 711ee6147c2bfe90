"""C2 live, C3 and C4: what needs one GPU or more."""

from __future__ import annotations

from envspec.plan import model as plan
from envspec.verify import judge_kernels, verdicts
from envspec.verify.results import Observation
from envspec.verify.run_entries import run_entry
from envspec.verify.session import Session
from envspec.verify.verdicts import Rung

KERNEL_SECONDS = 300.0


def climb(
    session: Session, identity: Observation, gpus: int, own: frozenset[str]
) -> dict[str, Rung]:
    """The rungs that ask for GPUs, blocked where the machine has too few of them."""
    names = ("c2_live", "c3", "c4")
    if session.plan.accelerator.kind == "none":
        return {n: verdicts.not_applicable(n, "the spec says `accelerator none`") for n in names}
    if gpus == 0:
        reason = "this machine has no GPU"
        return {n: verdicts.blocked(n, verdicts.HARDWARE, reason) for n in names}
    rungs = {"c2_live": judge_kernels.c2_live(identity, ("identity",))}
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
    return judge_kernels.c3(
        kernel, ("c3_kernel",), [run_entry(session, e, gpus=True) for e in chosen], own
    )


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
    return judge_kernels.c4(
        collective, (name,), [run_entry(session, e, gpus=True) for e in chosen], own
    )
