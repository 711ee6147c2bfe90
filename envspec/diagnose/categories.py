"""The kinds of failure, and whose fault each usually is."""

from __future__ import annotations

from typing import NamedTuple

ENVIRONMENT = "environment"
REPOSITORY = "repository"
ASSET = "asset"
HARNESS = "harness"


class Category(NamedTuple):
    """A kind of failure: ``title`` as people read it, ``cause`` in the words of a verdict."""

    key: str
    title: str
    cause: str


CATEGORIES = {
    c.key: c
    for c in (
        Category("abi", "native extension ABI", ENVIRONMENT),
        Category("compiler", "missing compiler", ENVIRONMENT),
        Category("architecture", "wrong architecture", ENVIRONMENT),
        Category("cuda", "CUDA or driver", ENVIRONMENT),
        Category("mixed", "mixed frameworks", ENVIRONMENT),
        Category("undeclared", "undeclared import", ENVIRONMENT),
        Category("version", "version conflict", ENVIRONMENT),
        Category("asset", "asset or gate", ASSET),
        Category("memory", "out of memory", ENVIRONMENT),
        Category("shm", "shared memory", ENVIRONMENT),
        Category("time", "time limit", ENVIRONMENT),
        Category("repository", "repository fault", REPOSITORY),
        Category("harness", "harness", HARNESS),
    )
}
