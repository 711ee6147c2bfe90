"""A climb without an engine: every probe run is answered by what is recorded of it. Pure.

So verdicts are worked out again by the code that worked them out, from the evidence alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from envspec.plan import model as plan
from envspec.plan.model import Plan
from envspec.verify.claims.model import Provenance
from envspec.verify.pyramid import Outcome, ascend
from envspec.verify.results import Observation
from envspec.verify.session import Evidence, Session

_CANNOT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class NotThisEvidenceError(Exception):
    """The evidence is not that of a climb of this plan; the message is a clause that says how."""


def replay(
    subject: Plan,
    provenance: Provenance,
    records: Sequence[Evidence],
    answers: Mapping[str, Observation],
    gpus: int,
) -> Outcome:
    """What the climb found, judged again. ``answers`` are the observations by the id of the run.

    Raises:
        NotThisEvidenceError: a run is missing, left over, of another probe, or of a shape that
            nothing can be judged from.
    """
    session = _Recorded(subject, records, answers)
    immutable = "state-before" not in session.records
    try:
        outcome = ascend(session, provenance, gpus, _Silence(), immutable=immutable)
    except _CANNOT:
        raise NotThisEvidenceError("nothing can be judged from evidence of its shape") from None
    found, told = [run.id for run in outcome.evidence], [run.id for run in records]
    if found != told:
        left = [name for name in told if name not in found] or ["in another order"]
        raise NotThisEvidenceError(f"this climb has no run `{left[0]}` where the report has one")
    return outcome


class _Recorded(Session):
    """A session whose probes ran long ago."""

    def __init__(
        self, subject: Plan, records: Sequence[Evidence], answers: Mapping[str, Observation]
    ) -> None:
        self.plan = subject
        self.evidence = []
        self.records = {record.id: record for record in records}
        self._answers = answers
        # Entries are started in the source; where that was is part of what some of them say.
        folders = [record.cwd for record in records if record.probe.endswith("_entry")]
        self._source = folders[0] if folders else plan.SOURCE

    def locate(self, text: str) -> str:
        return self._source if text == plan.SOURCE else text

    @contextmanager
    def warm(self, *, last: bool = False) -> Iterator[str]:  # noqa: ARG002 - a session's own
        yield ""

    def run(
        self,
        identity: str,
        probe: str,
        config: Mapping[str, Any],  # noqa: ARG002 - a session's own
        *,
        seconds: float,  # noqa: ARG002 - a session's own
        gpus: bool = False,
        network: bool = False,
    ) -> Observation:
        record, answer = self.records.get(identity), self._answers.get(identity)
        if record is None or answer is None:
            raise NotThisEvidenceError(f"the run `{identity}` is missing")
        if (record.probe, record.gpus, record.network) != (probe, gpus, network):
            raise NotThisEvidenceError(f"`{identity}` was run as something else")
        if (answer.probe, answer.error) != (record.probe, record.error):
            raise NotThisEvidenceError(f"the log of `{identity}` is of another run")
        self.evidence.append(record)
        return answer


class _Silence:
    """A reporter that says nothing."""

    def stage(self, title: str) -> None: ...

    def advance(self, done: int, total: int, unit: str = "") -> None: ...

    def line(self, text: str) -> None: ...
