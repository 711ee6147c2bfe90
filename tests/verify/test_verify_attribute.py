"""Whose fault a failed entry is."""

from __future__ import annotations

from typing import Any

import pytest

from envspec.verify.attribute import attribute

OWN = frozenset({"vision_mamba"})


def failed(kind: str = "", message: str = "", innermost: str = "repository", **more: Any) -> Any:
    exception = {"type": kind, "message": message, "frames": []} if kind else None
    seen = {"exit_code": 1, "exception": exception, "innermost": innermost, "stderr": ""}
    return {**seen, **more}


def call(inside: bool | None) -> dict[str, Any]:
    return {"kind": "unexpected", "callee": "Vim", "argument": "heads", "callee_in_source": inside}


CASES = [
    (failed(timed_out=True, seconds=600.0), "environment", "600 s"),
    (failed(exit_code=None, signal=11), "environment", "signal 11"),
    (failed(exit_code=137, killed=True), "environment", "out of memory"),
    (failed(exit_code=1, oom_kills=1), "environment", "out of memory"),
    (failed(start_error={"type": "FileNotFoundError", "message": "train"}), "environment", "train"),
    (failed("ModuleNotFoundError", "x", missing_module="datasets"), "environment", "datasets"),
    (failed("ModuleNotFoundError", missing_module="vision_mamba.ops"), "repository", "no module"),
    (failed("TypeError", "Vim() got heads", call_error=call(True)), "repository", "heads"),
    (failed("TypeError", "f() got heads", call_error=call(False)), "environment", "heads"),
    (failed("TypeError", "unsupported operand"), "repository", "operand"),
    (failed("TypeError", "unsupported operand", "library"), "environment", "operand"),
    (failed("AttributeError", "module 'numpy' has no attribute 'float'"), "environment", "float"),
    (failed("ImportError", "libcudart.so.13: cannot open shared object file"), "environment", "13"),
    (failed("ValueError", "bad shape"), "repository", "bad shape"),
    (failed("ValueError", "bad shape", "library"), "environment", "bad shape"),
    (failed("OSError", "couldn't connect to 'the hub'"), "network", "connect"),
    (failed("urllib.error.URLError", "Network is unreachable"), "network", "unreachable"),
    (failed("GatedRepoError", "401 Client Error"), "asset", "401"),
    (failed("RuntimeError", "Found no NVIDIA driver on your system"), "hardware", "driver"),
    (
        failed("AssertionError", "Torch not compiled with CUDA enabled", "library"),
        "environment",
        "",
    ),
    (failed(), "environment", "status 1"),
]


@pytest.mark.parametrize(("seen", "cause", "words"), CASES)
def test_causes(seen: dict[str, Any], cause: str, words: str) -> None:
    found = attribute(seen, OWN)
    assert found.cause == cause, found
    assert words in found.reason
