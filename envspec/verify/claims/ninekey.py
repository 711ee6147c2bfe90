"""The nine-key report of ResearchEnvBench, read and written. Pure.

An agent leaves one beside its environment: nine required keys, some of which may be null, and
any number of others. Six of them are audited; they are claims like those of a spec.
Source: the schema in that benchmark's repository, and its validators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from envspec.plan.model import INTERPRETER, Claim
from envspec.verify.claims.model import UNSTATED
from envspec.verify.verdicts import FAIL, PASS

TOOLS = ("conda", "uv", "pip", "poetry", "venv", "none")
_LONGEST = 4096


class NineKey(NamedTuple):
    """The report; None is null, which claims nothing."""

    python_path: str
    python_version: str | None
    torch_version: str | None
    cuda_available: bool | None
    gpu_count: int | None
    ddp_expected_ok: bool | None
    env_tool: str
    env_name: str | None
    notes: str | None


_CLAIMS = {
    "python_path": "python_path",
    "python_version": "python_version",
    "torch_version": "torch_version",
    "cuda_available": "cuda_available",
    "gpu_count": "gpu_count",
    "ddp_expected_ok": "c4",
}
"""The audited keys, and the claims they are."""

_TEXTS = ("python_version", "torch_version", "env_name", "notes")


def problems(data: Mapping[str, Any]) -> list[str]:
    """What keeps a JSON object from being such a report: a sentence for each key."""
    found = [f"`{key}` is missing" for key in NineKey._fields if key not in data]
    for key in ("python_path", *_TEXTS, "env_tool"):
        value = data.get(key)
        if isinstance(value, str) and len(value) > _LONGEST and key != "notes":
            found.append(f"`{key}` is longer than {_LONGEST} characters")
    path = data.get("python_path", "-")
    if not isinstance(path, str) or not path:
        found.append("`python_path` is no text")
    found += [f"`{k}` is neither text nor null" for k in _TEXTS if not _is(data.get(k), str)]
    for key in ("cuda_available", "ddp_expected_ok"):
        if not _is(data.get(key), bool):
            found.append(f"`{key}` is neither true, false nor null")
    count = data.get("gpu_count")
    if not _is(count, int) or isinstance(count, bool) or (count or 0) < 0:
        found.append("`gpu_count` is neither a number from 0 nor null")
    if "env_tool" in data and data["env_tool"] not in TOOLS:
        found.append(f"`env_tool` is none of {', '.join(TOOLS)}")
    return found


def _is(value: Any, kind: type) -> bool:
    return value is None or isinstance(value, kind)


def read(data: Mapping[str, Any]) -> NineKey:
    """The report of an object that has no `problems`; what else the object holds is left out."""
    return NineKey(*(data[key] for key in NineKey._fields))


def claims(report: NineKey) -> tuple[Claim, ...]:
    """What it claims. Null is `unstated`."""
    return tuple(
        Claim(name, _text(name, getattr(report, key)), "", 0) for key, name in _CLAIMS.items()
    )


def _text(name: str, value: str | bool | int | None) -> str:
    if value is None:
        return UNSTATED
    if isinstance(value, bool):
        words = (PASS, FAIL) if name == "c4" else ("true", "false")
        return words[0] if value else words[1]
    return str(value)


def report(stated: Iterable[Claim], notes: str | None = None) -> NineKey:
    """The same claims as a report: what they do not state is null. The environment is made by
    uv, and its interpreter has a path whether or not that is claimed."""
    said = {c.name: c.value for c in stated if not c.subject and c.value != UNSTATED}
    cuda, count, ddp = (said.get(n) for n in ("cuda_available", "gpu_count", "c4"))
    return NineKey(
        said.get("python_path", INTERPRETER),
        said.get("python_version"),
        said.get("torch_version"),
        None if cuda is None else cuda == "true",
        None if count is None else int(count),
        None if ddp is None else ddp == PASS,
        "uv",
        None,
        notes,
    )
