"""What a report was judged by, read back from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envspec.verify.claims.model import Provenance, Seen
from envspec.verify.verdicts import BLOCKED, ERROR, FAIL, NOT_APPLICABLE, PASS, RUNGS, Rung

_VERDICTS = {PASS, FAIL, BLOCKED, NOT_APPLICABLE, ERROR}


def seen(report: Mapping[str, Any]) -> Seen:
    """The evidence that the claims of a report were held against.

    Raises:
        ValueError: the report does not hold it, or not in this form.
    """
    try:
        about = report["seen"]
        origin = about["provenance"]
        return Seen(
            {name: _rung(name, report["rungs"][name]) for name in RUNGS},
            _of(dict, report["identity"]),
            None if about["interpreter"] is None else _of(bool, about["interpreter"]),
            _of(bool, about["gpu_present"]),
            _of(str, about["accelerator"]),
            Provenance(*(_of(str, origin[name]) for name in Provenance._fields)),
            {str(name): _of(bool, loaded) for name, loaded in about["modules"].items()},
            _of(int, about["processes"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it holds no {error}") from None


def _rung(name: str, record: Mapping[str, Any]) -> Rung:
    if record["verdict"] not in _VERDICTS:
        raise ValueError(f"`{name}` has no verdict")
    return Rung(
        name,
        record["verdict"],
        _of(str, record["cause"] or ""),
        _of(str, record["reason"]),
        tuple(_of(str, e) for e in record["evidence"]),
        _of(dict, record["details"]),
    )


def _of(kind: type, value: Any) -> Any:
    """The value, if it is of a type."""
    if type(value) is not kind:
        raise TypeError(kind.__name__)
    return value
