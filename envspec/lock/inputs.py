"""What changed between the spec a lock was made from and the spec of today."""

from __future__ import annotations

Inputs = tuple[tuple[str, str], ...]


def difference(lock_inputs: Inputs, spec_inputs: Inputs) -> tuple[str, ...]:
    """Sentences that say what makes a lock stale; empty where it is fresh.

    Both are pairs (key, value) such as ``("package torch", "==2.13.0")``. The order of the pairs
    means nothing. A key that stands several times is compared by all its values. Sentences come
    in the spec's order, then what only the lock has.
    """
    if lock_inputs == spec_inputs:
        return ()
    locked, wanted = _by_key(lock_inputs), _by_key(spec_inputs)
    sentences: list[str] = []
    for key, values in wanted.items():
        if key not in locked:
            said = f" ({_said(values)})" if any(values) else ""
            sentences.append(f"{key}: the spec has it{said}, the lock does not")
        elif sorted(locked[key]) != sorted(values):
            sentences.append(f"{key}: lock has {_said(locked[key])}, the spec says {_said(values)}")
    sentences.extend(
        f"{key}: the lock has it, the spec no longer does" for key in locked if key not in wanted
    )
    return tuple(sentences)


def _by_key(inputs: Inputs) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for key, value in inputs:
        values.setdefault(key, []).append(value)
    return values


def _said(values: list[str]) -> str:
    return ", ".join(value or "no condition" for value in sorted(values))
