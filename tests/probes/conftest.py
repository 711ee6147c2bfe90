"""Fixtures of the probes' tests."""

from __future__ import annotations

import os
from typing import Any

import pytest
from probe_host import NONCE, Probe, envelope, start


@pytest.fixture
def probe() -> Probe:
    """Run a probe of this name with the given configuration."""

    def run(program: str, *, raw: bool = False, **config: Any) -> dict[str, Any]:
        full = {"schema": 1, "probe": program, "nonce": NONCE, "seconds": 60, **config}
        document = envelope(start(program, full))
        assert document["nonce"] == NONCE
        if raw:
            return document
        assert "observed" in document, document
        observed = document["observed"]
        assert isinstance(observed, dict)
        return observed

    return run


@pytest.fixture
def torch_python(request: pytest.FixtureRequest) -> str:
    """An interpreter that has torch: ENVSPEC_TEST_TORCH_PYTHON, else the example's own."""
    named = os.environ.get("ENVSPEC_TEST_TORCH_PYTHON", "")
    return named or str(request.getfixturevalue("example_python"))
