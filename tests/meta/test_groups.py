"""Tests of one group run in one worker: some look at all processes, some share something large."""

from __future__ import annotations

import os

import pytest


@pytest.mark.xdist_group("of-groups")
def test_the_scheduler_is_told_of_groups(request: pytest.FixtureRequest) -> None:
    """It is told in the node's id, and where that fails nothing else says so."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("one process runs everything here")
    assert request.node.nodeid.endswith("@of-groups")
