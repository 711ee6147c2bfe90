"""The search, by resolvelib: the first set in the order of preference. Its one importer.

torch is chosen first and the rest hangs on it, so the first set that is found has the best
torch that any set has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, Resolver
from resolvelib.structs import RequirementInformation

from envspec.solve.candidates import Candidate
from envspec.solve.fitting import Answer
from envspec.solve.problem import Problem

_ROUNDS = 10_000

Choice = dict[str, Candidate]


class _Wish(NamedTuple):
    """Some of the candidates of an identifier, by their number."""

    ident: str
    allowed: frozenset[int]


class _Pick(NamedTuple):
    ident: str
    number: int


class Search:
    """Searches of one problem, with all its statements or some of them.

    ``strict`` takes what the facts say fits; otherwise what they do not rule out counts too.
    """

    def __init__(self, problem: Problem, *, strict: bool = True) -> None:
        self.problem = problem
        self._strict = strict
        self._numbers: dict[int, frozenset[int]] = {}
        self._paired: dict[tuple[int, int], frozenset[int]] = {}

    def find(self, keys: frozenset[str] | None = None) -> Choice | None:
        """The best set that meets the statements of ``keys``, all by default; None for none."""
        problem = self.problem
        active = problem.keys if keys is None else keys
        wishes = list(self._wishes(active))
        provider = _Provider(self, active)
        resolver: Resolver[_Wish, _Pick, str] = Resolver(provider, BaseReporter())
        try:
            picks = resolver.resolve(wishes, max_rounds=_ROUNDS).mapping
        except ResolutionImpossible:
            return None
        return {ident: problem.candidates[ident][pick.number] for ident, pick in picks.items()}

    def left(self, keys: frozenset[str]) -> list[Candidate]:
        """Candidates of the first choice that some statements leave, each looked at alone."""
        first = self.problem.first
        (numbers,) = (wish.allowed for wish in self._wishes(keys) if wish.ident == first)
        return [
            self.problem.candidates[first][number]
            for number in sorted(numbers)
            if all(wish.allowed for wish in self.paired(_Pick(first, number), keys))
        ]

    def _wishes(self, active: frozenset[str]) -> Iterator[_Wish]:
        """What the statements by themselves leave of each choice."""
        problem = self.problem
        left: dict[str, frozenset[int]] = {}
        for ident, found in problem.candidates.items():
            owner = problem.owners.get(ident, "")
            if not owner or owner in active:
                left[ident] = frozenset(range(len(found)))
        for place, limit in enumerate(problem.limits):
            numbers = left.get(limit.ident)
            if numbers and limit.keys <= active:
                left[limit.ident] = numbers & self._fitting(place)
        yield from (_Wish(ident, numbers) for ident, numbers in left.items())

    def _fitting(self, place: int) -> frozenset[int]:
        """The candidates that meet one condition."""
        if place not in self._numbers:
            limit = self.problem.limits[place]
            found = enumerate(self.problem.candidates[limit.ident])
            self._numbers[place] = frozenset(n for n, c in found if self._good(limit.holds(c)))
        return self._numbers[place]

    def paired(self, pick: _Pick, active: frozenset[str]) -> Iterator[_Wish]:
        """What a choice asks of the others."""
        problem = self.problem
        if pick.ident != problem.first:
            return
        first = problem.candidates[pick.ident][pick.number]
        for place, pair in enumerate(problem.pairs):
            if pair.key in active:
                key = (place, pick.number)
                if key not in self._paired:
                    found = problem.candidates[pair.ident]
                    fits = (n for n, c in enumerate(found) if self._good(pair.holds(first, c)))
                    self._paired[key] = frozenset(fits)
                yield _Wish(pair.ident, self._paired[key])

    def _good(self, answer: Answer) -> bool:
        return answer is True or (answer is None and not self._strict)


class _Provider(AbstractProvider[_Wish, _Pick, str]):
    def __init__(self, search: Search, active: frozenset[str]) -> None:
        self._search = search
        self._active = active

    def identify(self, requirement_or_candidate: _Wish | _Pick) -> str:
        return requirement_or_candidate.ident

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, _Pick],
        candidates: Mapping[str, Iterator[_Pick]],
        information: Mapping[str, Iterator[RequirementInformation[_Wish, _Pick]]],
        backtrack_causes: Sequence[RequirementInformation[_Wish, _Pick]],
    ) -> Any:
        del resolutions, candidates, information, backtrack_causes
        return identifier != self._search.problem.first, identifier

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[_Wish]],
        incompatibilities: Mapping[str, Iterator[_Pick]],
    ) -> Sequence[_Pick]:
        numbers = frozenset.intersection(*(wish.allowed for wish in requirements[identifier]))
        bad = {pick.number for pick in incompatibilities[identifier]}
        return [_Pick(identifier, number) for number in sorted(numbers - bad)]

    def is_satisfied_by(self, requirement: _Wish, candidate: _Pick) -> bool:
        return candidate.number in requirement.allowed

    def get_dependencies(self, candidate: _Pick) -> Iterable[_Wish]:
        return list(self._search.paired(candidate, self._active))
