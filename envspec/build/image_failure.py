"""Why the build of an image failed, as a finding at the line of the spec."""

from __future__ import annotations

import re

from envspec.build import buildx
from envspec.build.failure import BuildFailed
from envspec.diagnostics import DiagnosticError
from envspec.plan.model import Base, Plan

_NO_SPACE = ("no space left on device", "disk quota exceeded")
_LOADING = "[internal] load metadata for"
_BASE_STEPS = (_LOADING, "[base 1/1] FROM", "[context ")
_DEVEL_STEP = "[toolchain 1/"
_EXIT = re.compile(r"exit code: (\d+)")
_KILLED = 137


def explain(
    failure: buildx.Failure, plan: Plan, dockerfile: str, base_from: str
) -> BuildFailed | DiagnosticError:
    """What to raise for a build that failed; ``base_from`` is what stood in for the base."""
    said = " ".join((failure.error, *failure.excerpt)).lower()
    if any(words in said for words in _NO_SPACE):
        return no_space()
    loading = failure.step.startswith(_LOADING)
    devel = plan.devel
    if devel and (failure.step.startswith(_DEVEL_STEP) or (loading and devel.name in failure.step)):
        return _devel_failed(devel, plan.devel_line)
    if failure.step.startswith(_BASE_STEPS):
        return _base_failed(plan, base_from)
    line = buildx.spec_line(dockerfile, failure.line)
    code = _EXIT.search(failure.error)
    if code is None:
        cause = "BuildKit stopped before the step had run; its words are below"
    elif int(code[1]) == _KILLED:
        cause = "it was killed (exit code 137), most often because memory ran out"
    else:
        cause = f"it ended with exit code {code[1]}"
    return BuildFailed(
        "E0703",
        "a build step failed",
        line=line,
        cause=cause,
        hint="the whole log is kept; the last lines are below",
        excerpt=failure.excerpt,
    )


def no_space() -> DiagnosticError:
    """E0504, for what the engine or we ourselves could not write."""
    return DiagnosticError.of(
        "E0504",
        "no space is left on the disk",
        cause="the engine could not write the image or its log",
        hint="free some space (`docker system df` says what the engine holds), then try again",
    )


def _devel_failed(devel: Base, line: int) -> BuildFailed:
    return BuildFailed(
        "E0702",
        f"the image `{devel.name}@{devel.digest}` cannot be pulled",
        line=line,
        cause="the engine does not have it and its registry did not give it",
        hint="pull or load it into the engine: it compiles the extensions",
    )


def _base_failed(plan: Plan, base_from: str) -> BuildFailed:
    if base_from:
        return BuildFailed(
            "E0702",
            f"the image `{base_from}` that replaces the base cannot be used",
            line=plan.base_line,
            cause="the engine does not have it and cannot pull it",
            hint="name an image that `docker image ls` lists",
        )
    return BuildFailed(
        "E0702",
        f"the base image `{plan.base.name}@{plan.base.digest}` cannot be pulled",
        line=plan.base_line,
        cause="the engine does not have it and its registry did not give it",
        hint="pull or load it into the engine, or build on another image with "
        "`--base-from IMAGE`; the report will say so",
    )
