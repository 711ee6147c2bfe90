"""What day it is: the only clock that findings and listings see."""

from __future__ import annotations

import os
from datetime import date, datetime, timezone


def today() -> date:
    """Today in UTC, or the day of `SOURCE_DATE_EPOCH` where that is set, so that what depends on
    the day can be made again."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isascii() and given.isdigit() and len(given) < 12:
        return datetime.fromtimestamp(int(given), timezone.utc).date()
    return datetime.now(timezone.utc).date()
