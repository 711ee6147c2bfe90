"""Exit codes as shells write them."""

from __future__ import annotations

_LAST_SIGNAL = 64


def ended(code: int) -> tuple[int | None, int | None]:
    """Exit code and signal of a status: 128 + N is death by signal N."""
    number = code - 128
    return (None, number) if 0 < number <= _LAST_SIGNAL else (code, None)
