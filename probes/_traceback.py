"""Read what a Python program wrote on standard error: which exception, raised where."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from typing import Any, Dict, List, Optional, Sequence

FRAMES = 50
FILES = 5000
FILE_LIMIT = 2 << 20
_FRAME = re.compile(r'  File "(.+)", line (\d+)(?:, in (.+))?$')
_RAISED = re.compile(r"([^\W\d][\w.]*)(?:: (.*))?$")
_RUNPY = re.compile(
    r"^\S*python[\d.]*: (?:Error while finding module specification for .*: )?"
    r"No module named '?([\w.]+)'?\)?\s*$",
    re.MULTILINE,
)
_CALLS = (
    ("unexpected_keyword", r"got (?:an|some) unexpected keyword arguments? '(\w+)'"),
    ("unexpected_keyword", r"got some positional-only arguments passed as keyword.*: '(\w+)"),
    ("multiple_values", r"got multiple values for (?:keyword )?argument '(\w+)'"),
    ("positional_count", r"takes (?:from |at most |exactly )?\d+ .*positional arguments?"),
    ("positional_count", r"takes no (?:keyword )?arguments"),
    ("missing_required", r"missing \d+ required (?:positional|keyword-only) arguments?:? ?'?(\w*)"),
)


def last_exception(stderr: str) -> Optional[Dict[str, Any]]:
    """The last traceback of ``stderr`` as {type, message, frames: [{file, line, function,
    code}]}, or None. The last one is the cause that ended the program, chained ones before it.
    """
    lines = stderr.splitlines()
    start, prefix = _last_header(lines)
    if start is None:
        return None
    frames: List[Dict[str, Any]] = []
    position = start
    while position < len(lines):
        line = lines[position][prefix:]
        match = _FRAME.match(line)
        if match:
            file, number, function = match.groups()
            frames.append(
                {"file": file, "line": int(number), "function": function or "", "code": ""}
            )
        elif not line.startswith("  "):
            raised = _RAISED.match(line)
            if raised is None:
                return None  # cut off, or not a traceback at all
            rest = [text[prefix:] for text in lines[position + 1 : position + 21]]
            message = "\n".join([raised.group(2) or "", *rest]).strip()
            if not frames and not raised.group(2):
                return None
            return {"type": raised.group(1), "message": message[:4000], "frames": frames[-FRAMES:]}
        elif frames and not frames[-1]["code"]:
            frames[-1]["code"] = line.strip()[:300]
        position += 1
    return None


def _last_header(lines: Sequence[str]) -> "tuple[Optional[int], int]":
    """The line after the last header and the width of what stands before it (in groups)."""
    for index in range(len(lines) - 1, -1, -1):
        place = lines[index].find("Traceback (most recent call last):")
        if place >= 0:
            before = lines[index][:place].replace("Exception Group ", "")
            return index + 1, len(before) if before.strip(" |+") == "" else 0
    # The main script's own syntax error has no header.
    for index in range(len(lines) - 1, -1, -1):
        if _FRAME.match(lines[index]) and any("Error: " in line for line in lines[index:]):
            return index, 0
    return None, 0


def missing_module(stderr: str, exception: Optional[Dict[str, Any]]) -> Optional[str]:
    """The module that was not there, as the exception or ``python -m`` names it."""
    if exception is None:
        found = _RUNPY.findall(stderr)
        return found[-1] if found else None
    if exception["type"] in ("ModuleNotFoundError", "ImportError"):
        match = re.match(r"No module named '?([\w.]+)'?", exception["message"])
        return match.group(1) if match else None
    return None


def innermost(exception: Optional[Dict[str, Any]], roots: Sequence[str], cwd: str) -> str:
    """Whose code raised: ``repository`` | ``library`` | ``stdlib`` | ``unknown``."""
    frames = [f for f in (exception or {}).get("frames", []) if not f["file"].startswith("<frozen")]
    if not frames or frames[-1]["file"].startswith("<"):
        return "unknown"
    path = os.path.realpath(os.path.join(cwd, frames[-1]["file"]))
    for root in roots:
        inside = _inside(path, os.path.realpath(root))
        if inside is not None and not _is_library(inside):
            return "repository"
    if _is_library(path):
        return "library"
    folders = [sysconfig.get_paths()["stdlib"], os.path.dirname(os.__file__), sys.base_prefix]
    if any(_inside(path, os.path.realpath(folder)) is not None for folder in folders):
        return "stdlib"
    return "unknown"


def _inside(path: str, folder: str) -> Optional[str]:
    folder = folder.rstrip(os.sep) + os.sep
    return path[len(folder) :] if path.startswith(folder) else None


def _is_library(path: str) -> bool:
    parts = path.split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts


def call_error(
    exception: Optional[Dict[str, Any]], roots: Sequence[str]
) -> Optional[Dict[str, Any]]:
    """A call that does not fit its callee: {kind, callee, argument, callee_in_source}.

    ``callee_in_source`` tells a repository that calls its own code wrongly (True) from a
    library of another version (False); None where the message names no callee.
    """
    if exception is None or exception["type"] != "TypeError":
        return None
    first = exception["message"].split("\n")[0]
    called = re.match(r"((?:[^\W\d]\w*|<locals>|<lambda>)(?:\.(?:\w+|<\w+>))*)\(\) ", first)
    fits = [(kind, re.search(pattern, first)) for kind, pattern in _CALLS]
    kind, found = next((fit for fit in fits if fit[1] is not None), ("", None))
    if called is None or found is None:
        return None
    argument = found.group(1) if found.groups() else ""
    names = [part for part in called.group(1).split(".") if not part.startswith("<")]
    if names[-1:] == ["__init__"]:
        names.pop()
    if names:
        inside: Optional[bool] = _defined(names, roots)
    else:  # up to Python 3.9 only "__init__" is said: the line that calls has to tell
        code = exception["frames"][-1]["code"] if exception["frames"] else ""
        calls = re.findall(r"([^\W\d]\w*)\s*\(", code)
        inside = any(_defined([name], roots) for name in calls) if calls else None
    return {
        "kind": kind,
        "callee": called.group(1),
        "argument": argument or None,
        "callee_in_source": inside,
    }


def _defined(names: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether one Python file below ``roots`` defines every one of ``names``."""
    patterns = [
        re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+%s\b" % re.escape(name), re.M)
        for name in names
    ]
    seen = 0
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = [f for f in folders if f not in ("site-packages", ".git")]
            for file in files:
                path = os.path.join(folder, file)
                if not file.endswith(".py") or not os.path.isfile(path):
                    continue
                seen += 1
                if seen > FILES:
                    return False
                try:
                    with open(path, encoding="utf-8", errors="replace") as handle:
                        text = handle.read(FILE_LIMIT)
                except OSError:
                    continue
                if all(pattern.search(text) for pattern in patterns):
                    return True
    return False
