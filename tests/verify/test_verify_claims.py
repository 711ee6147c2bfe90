"""C5: every kind of claim against every kind of evidence has one verdict."""

from __future__ import annotations

import pytest
from claim_cells import CELLS, SITUATIONS

from envspec.language.statements import CLAIMS, NAMED_CLAIMS, words_in
from envspec.plan.model import Claim
from envspec.verify.claims.judge import ALWAYS, JUDGES, judge
from envspec.verify.claims.model import Judgement, Seen
from envspec.verify.claims.scores import scores


def verdict(name: str, subject: str, value: str, what: Seen) -> Judgement:
    found = judge((Claim(name, value, "", 7, subject),), what)
    return next(j for j in found if j.name == f"{name} {subject}".rstrip())


def test_everything_the_language_can_claim_is_judged() -> None:
    assert sorted(CLAIMS) == sorted(JUDGES)
    assert {name for name, *_ in CELLS} == {*CLAIMS, *NAMED_CLAIMS}


@pytest.mark.parametrize(("name", "subject", "value"), CELLS)
def test_a_claim_in_every_situation(name: str, subject: str, value: str) -> None:
    shape = words_in("claims")[name].params[-2].shape
    assert shape.fits(value)
    found = {where: verdict(name, subject, value, what) for where, what in SITUATIONS.items()}
    assert {where: j.verdict for where, j in found.items()} == CELLS[name, subject, value]
    for judgement in found.values():
        assert (judgement.claimed, judgement.line) == (value, 7)
        if judgement.verdict == "inconclusive":
            assert judgement.note
        elif judgement.verdict != "confirmed":
            assert judgement.observed


@pytest.mark.parametrize("where", SITUATIONS)
def test_unstated_is_never_judged(where: str) -> None:
    silent = [Claim(name, "unstated", "", 7, subject) for name, subject, _ in CELLS]
    for claims in ((), silent):
        assert {j.verdict for j in judge(claims, SITUATIONS[where])} == {"unstated"}


def test_what_coverage_counts() -> None:
    """Of what few specs can state, only what this one states."""
    what = SITUATIONS["cpu"]
    assert [j.name for j in judge((), what)] == list(ALWAYS)
    more = (Claim("jax_version", "0.8.1", "", 1), Claim("entry", "pass", "", 2, "smoke"))
    found = scores(judge(more, what))
    assert (found["claimable"], found["stated"]) == (len(ALWAYS) + 2, 2)


def test_scores_count_classes_and_rates() -> None:
    claims = (
        Claim("torch_version", "2.12.0", "", 1),
        Claim("python_path", "/nowhere", "", 2),
        Claim("cuda_available", "true", "", 3),
        Claim("c1", "pass", "", 4),
        Claim("c3", "pass", "", 5),
        Claim("glibc", "2.31", "", 6),
    )
    what = SITUATIONS["cpu"]._replace(interpreter=False)
    found = scores(judge(claims, what))
    assert found["stated"] == 6
    assert found["unstated"] == len(ALWAYS) - 5
    assert (found["overclaims"], found["mismatches"], found["confirmed"]) == (2, 3, 1)
    # ResearchEnvBench has no claim of C3 or of the C library.
    assert found["researchenvbench"] == {"path": 1, "version": 1, "capability": 1}
    assert found["overclaim_rate"] == 0.3333
    assert found["calibration"] == {"judged": 2, "as_claimed": 1, "rate": 0.5}


def test_nothing_stated_scores_nothing() -> None:
    found = scores(judge((), SITUATIONS["cpu"]))
    assert found["calibration"] == {"judged": 0, "as_claimed": 0, "rate": None}
    assert (found["coverage"], found["overclaim_rate"]) == (0.0, 0.0)
