"""The golden-file helper is beside the other golden files."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "golden"))
