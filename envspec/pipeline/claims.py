"""Claims from where they stand: a spec, a report of a verification, a nine-key report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envspec import model
from envspec.diagnostics import DiagnosticError
from envspec.language.format import print_claims
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.language.statements import Word, words_in
from envspec.plan.model import Claim
from envspec.render import visible
from envspec.report import reader, restore
from envspec.source import Span
from envspec.verify.claims import ninekey
from envspec.verify.claims.honest import Forms, honest
from envspec.verify.claims.model import UNSTATED

_WORDS = words_in("claims")


def _example(word: Word) -> str:
    """Some value that a claim can have."""
    return word.example.split(None, 2 if word.names else 1)[-1].strip('"')


FORMS = Forms(
    {name: _example(word) for name, word in _WORDS.items()},
    lambda name, value: _WORDS[name].params[-2].shape.fits(value),
)
"""What the language says of claims: an example of each, and the shapes of their values."""
_NOWHERE = Span(0, 0)


def of_spec(path: Path) -> tuple[Claim, ...]:
    """What a spec claims, in its own order.

    Raises:
        DiagnosticError: E0902 (unreadable), E01.., E02...
    """
    from envspec.pipeline.load import read_spec

    source = read_spec(path)
    spec = resolve(parse(source), source)
    return tuple(Claim(c.name, c.value, c.because, 0, c.subject) for c in spec.claims)


def of_report(path: Path) -> tuple[Claim, ...]:
    """What a `report.json` allows a spec to claim, or what a nine-key report does claim.

    Raises:
        DiagnosticError: E0833 (unreadable), E0830 to E0832 (a report that is not whole), E0861
            (neither of the two), E0862 (a nine-key report that is not as its schema says), E0863
            (a value that no spec can state).
    """
    text = reader.file_text(path, "the report")
    data = _object(path, text)
    if "schema" in data and "rungs" in data:
        return honest(restore.outcome(reader.loads(text, str(path))).seen, FORMS)
    if "python_path" not in data and len(ninekey.NineKey._fields & data.keys()) < 2:
        raise _wrong(
            "E0861",
            path,
            "is no report",
            "it has neither the `rungs` of `envspec verify` nor the keys of a nine-key report",
            "name the `report.json` that `envspec verify` wrote",
        )
    found = ninekey.problems(data)
    if found:
        raise _wrong(
            "E0862",
            path,
            f"is not as a nine-key report should be: {len(found)} keys are wrong",
            "; ".join(map(visible, found)),
            "write every required key, null where nothing was verified",
        )
    claims = ninekey.claims(ninekey.read(data))
    _refuse_unfit(path, claims)
    return claims


def _refuse_unfit(path: Path, claims: Iterable[Claim]) -> None:
    for claim in claims:
        shape = _WORDS[claim.name].params[0].shape
        if claim.value != UNSTATED and not shape.fits(claim.value):
            raise _wrong(
                "E0863",
                path,
                f"states a `{claim.name}` that no spec can state",
                f"`{visible(claim.value[:80])}` is not {shape.expected}",
                "correct the report, or write null for what was not verified",
            )


def _object(path: Path, text: str) -> dict[str, Any]:
    """The JSON object of a text. A key that stands twice would say two things at once."""
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, _TwiceError) else "it is no JSON"
        raise _wrong("E0861", path, "is no report", why, "") from None
    if not isinstance(data, dict):
        raise _wrong("E0861", path, "is no report", "it is no JSON object", "")
    return data


class _TwiceError(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwiceError("a key stands in it twice")
    return found


def _wrong(code: str, path: Path, what: str, cause: str, hint: str) -> DiagnosticError:
    return DiagnosticError.of(code, f"`{visible(str(path))}` {what}", cause=cause, hint=hint)


def text(claims: Iterable[Claim]) -> str:
    """The block of a spec that states them; ``""`` where there are none."""
    return print_claims(
        model.Claim(c.name, c.value, visible(c.because), _NOWHERE, c.subject) for c in claims
    )


def document(claims: Iterable[Claim]) -> str:
    """The same as JSON: a list of name, subject, value and because."""
    kept = ("name", "subject", "value", "because")
    rows = [{key: getattr(claim, key) for key in kept} for claim in claims]
    return json.dumps({"claims": rows}, indent=2, ensure_ascii=False) + "\n"


def nine_keys(claims: Iterable[Claim], notes: str | None) -> str:
    """The same as a nine-key report."""
    report = ninekey.report(claims, notes)
    return json.dumps(report._asdict(), indent=2, ensure_ascii=False) + "\n"
