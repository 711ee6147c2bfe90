"""Evidence → one diagnosis, or the honest answer that there is none.

A sign that is special beats one that is general. Of a chain of exceptions the first one is the
cause of the others; of several chains the last one ended the program. Where signs of different
kinds are as strong as each other and nothing says which came of which, the answer is that it is
not certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from envspec.diagnose.categories import CATEGORIES
from envspec.diagnose.log import Line, Log
from envspec.diagnose.match import Hit, hits
from envspec.diagnose.tracebacks import Traceback, chains
from envspec.facts.failure_rows import Sign

CERTAIN = 2
"""From so strong a sign on, its category is told as what it is."""

_ENDED_WELL = re.compile(
    r"""
      Successfully\ (?:installed|built|tagged|completed|\w{1,20}\ \w)
    | ={1,80}\ .{0,80}\d\ passed(?!.{0,80}\bfailed)
    | \d{1,6}\ passed(?:,\ \d{1,6}\ (?:skipped|warnings?|deselected|xfailed)){0,4}\ in\s
    | OK$ | OK\ \( | All\ tests\ passed
    | Training\ (?:finished|complete|done) | Finished\ training | [Dd]one[.!]?$
    | (?:[Pp]rocess|[Cc]ommand|[Jj]ob|[Pp]rogram)\ (?:finished|exited|completed|succeeded)
      (?:\ with|\ in)?(?:\ exit)?(?:\ code|\ status)?:?\ ?0?$
    | exit\ (?:code|status):?\ 0$ | [Bb]uild\ succeeded | verdict:\ pass
    """,
    re.VERBOSE,
)
# Exceptions that only hand on that something else went wrong.
_FOLLOWS = frozenset({
    "CalledProcessError", "ChildFailedError", "ProcessExitedException", "ProcessRaisedException",
    "SystemExit", "KeyboardInterrupt", "CompileError", "DistutilsExecError", "BrokenProcessPool",
    "RayTaskError", "WorkerCrashedError", "CellExecutionError", "BackendCompilerFailed",
    "DistBackendError", "DistNetworkError", "DistStoreError", "BrokenPipeError",
    "ConnectionResetError", "EOFError", "RayActorError", "ActorDiedError", "SubprocessError",
})  # fmt: skip
_FOLLOWING = re.compile(
    r"Error (?:compiling objects|building extension|in model execution)|Command |Failed to import|"
    r"Engine (?:core|process)|DataLoader worker|DNN library initialization failed|NCCL error|"
    r"metadata-generation-failed|Failed building wheel|Failed to build"
)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_WORDS = re.compile(r"[A-Za-z][a-z']{0,20}(?:,? [a-z']{1,20}){5}")


class Evidence(NamedTuple):
    """The line that tells: the log it is in, its number there from 1, its text."""

    log: str
    line: int
    text: str


class Diagnosis(NamedTuple):
    """What went wrong. ``cause`` is whose fault it is, as verdicts name it; ``because`` says what
    happened; ``values`` is what the line named; ``evidence`` is None for what a report states."""

    sign: Sign
    because: str
    values: Mapping[str, str]
    evidence: Evidence | None = None

    @property
    def category(self) -> str:
        """The key of its category."""
        return self.sign.category

    @property
    def cause(self) -> str:
        """Whose fault it is, in the words of a verdict."""
        return self.sign.cause or CATEGORIES[self.sign.category].cause


class Outcome(NamedTuple):
    """``found`` is the diagnosis, None where there is none that is certain; then ``candidates`` are
    what it may be, and ``why`` says why none was chosen."""

    found: Diagnosis | None
    candidates: tuple[Diagnosis, ...] = ()
    why: str = ""


def state(sign: Sign, values: Mapping[str, str], evidence: Evidence | None = None) -> Diagnosis:
    """A sign with what it named put into its sentence."""
    said = sign.because.format_map(_Blank(values))
    return Diagnosis(sign, said, values, evidence)


class _Blank(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "it"


def diagnose(log: Log) -> Outcome:
    """What a log says went wrong."""
    linked = chains(log.lines)
    found = hits(log, linked)
    ended = _ended_well(log.lines)
    alive = [h for h in found if h.strength > 0 and h.position > ended]
    if not alive:
        why = "the log ends well" if found and ended >= 0 else ""
        return Outcome(None, (), why)
    alive = _weighed(log, linked, alive)
    if _is_document(log.lines):
        why = "the text talks about an error: it is no log of one"
        return Outcome(None, _told(log, alive), why)
    top = max(h.strength for h in alive)
    best = [h for h in alive if h.strength == top]
    if top < CERTAIN:
        return Outcome(None, _told(log, best), "what is there may come of something else")
    chosen = _choose(linked, best)
    if chosen is None:
        return Outcome(None, _told(log, best), "signs of different kinds are as strong")
    others = [h for h in alive if h.sign.category != chosen.sign.category and h.strength >= CERTAIN]
    return Outcome(_diagnosis(log, chosen), _told(log, others))


def _ended_well(lines: Sequence[Line]) -> int:
    """The position of the last line that says that the run ended well, -1 for none."""
    for position in range(len(lines) - 1, -1, -1):
        if _ENDED_WELL.match(lines[position].body):
            return position
    return -1


def _weighed(log: Log, linked: Sequence[Sequence[Traceback]], alive: list[Hit]) -> list[Hit]:
    """The hits after what came later: a program that raised something else at its end had gone on
    after what stands before."""
    if not linked:
        return alive
    last = len(linked) - 1
    ending = linked[last][-1]
    line = log.lines[ending.end]
    follows = bool(_FOLLOWS & set(line.exceptions)) or bool(_FOLLOWING.match(line.message))
    explained = {h.sign.category for h in alive if h.chain == last and h.strength >= CERTAIN}
    if follows and not explained:
        return alive
    weighed = []
    for hit in alive:
        lost = 0
        if hit.position < linked[last][0].start:
            if hit.chain >= 0:
                lost = 1 if explained and hit.sign.category not in explained else 0
            elif not explained and not follows:
                lost = 2
        weighed.append(hit._replace(strength=max(1, hit.strength - lost)))
    return weighed


def _choose(linked: Sequence[Sequence[Traceback]], best: list[Hit]) -> Hit | None:
    """The hit that is the cause of the others; None where that cannot be told."""
    if len({h.sign.category for h in best}) == 1:
        inside = [h for h in best if h.chain >= 0]
        last = max((h.chain for h in inside), default=-1)
        return next((h for h in inside if h.chain == last), best[0])
    last = len(linked) - 1
    inside = [h for h in best if h.chain == last and last >= 0]
    if not inside or any(h.position > inside[-1].position for h in best if h not in inside):
        return None
    if any(h.chain < 0 for h in best):
        return inside[0] if len({h.sign.category for h in inside}) == 1 else None
    return inside[0]  # of a chain the first is the cause


def _is_document(lines: Sequence[Line]) -> bool:
    """Whether a text is written for people and only quotes what programs said."""
    fences = sum(bool(_FENCE.match(line.raw)) for line in lines)
    if fences < 2:
        return False
    return sum(bool(_WORDS.match(line.body)) for line in lines) >= 2


def _told(log: Log, found: Iterable[Hit]) -> tuple[Diagnosis, ...]:
    """One diagnosis of each category, the strongest and then the first."""
    by_category: dict[str, Hit] = {}
    for hit in sorted(found, key=lambda h: (-h.strength, h.position)):
        by_category.setdefault(hit.sign.category, hit)
    return tuple(_diagnosis(log, hit) for hit in by_category.values())


def _diagnosis(log: Log, hit: Hit) -> Diagnosis:
    line = log.lines[hit.position]
    return state(hit.sign, hit.values, Evidence(log.name, line.number, line.raw.strip()))
