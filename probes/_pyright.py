"""Ask pyright which imports of a copied tree cannot be resolved, and whom it asked.

The repository must not be able to soften the check: its own configuration stays behind, and
the comments that silence diagnostics are blunted in the copy without moving a character.
"""

from __future__ import annotations

import json
import os
import re
import stat
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from _children import run_child
from _imports import Occurrence
from _protocol import ProbeError, printable

FILE_LIMIT = 2 << 20
TREE_LIMIT = 50_000  # files
_OUTPUT = 64 << 20
_RULES = ("reportMissingImports", "reportMissingModuleSource")
_COMMENT = re.compile(rb"#[^\r\n]*")
_DIRECTIVE = re.compile(rb"pyright(?=\s*:)|type(?=\s*:\s*ignore)")
_MARK = "envspec-shows-"
_UNSEEN = (".", "__editable__.", _MARK)
_SKIPPED_FOLDERS = {".git", ".hg", ".svn", "__pycache__", "node_modules"}


class Source(NamedTuple):
    """What was read of a tree: Python files by relative path, what was left out and why."""

    files: Dict[str, bytes]
    skipped: List[Dict[str, str]]
    notebooks: int


class Answer(NamedTuple):
    """What pyright said. ``diagnostics`` are {file, line, rule, severity, module}."""

    version: str
    files_analyzed: int
    diagnostics: List[Dict[str, Any]]


def read_source(root: str) -> Source:
    """Every ``*.py`` below ``root`` that is a plain file inside it, at most 2 MiB each."""
    files: Dict[str, bytes] = {}
    skipped: List[Dict[str, str]] = []
    notebooks = 0
    real_root = os.path.realpath(root)
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            notebooks += name.endswith(".ipynb")
            if not name.endswith(".py"):
                continue
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root)
            data, reason = _read(path, real_root)
            if data is not None and len(files) >= TREE_LIMIT:
                data, reason = None, "more than %d files" % TREE_LIMIT
            if data is None:
                skipped.append({"file": printable(relative), "reason": reason})
            else:
                files[relative] = data
    return Source(files, skipped, notebooks)


def _read(path: str, real_root: str) -> Tuple[Optional[bytes], str]:
    if not os.path.realpath(path).startswith(real_root + os.sep):
        return None, "a link out of the tree"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a FIFO must not hold us
        with os.fdopen(descriptor, "rb") as handle:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None, "not a plain file"
            data = handle.read(FILE_LIMIT + 1)
    except OSError as exc:
        return None, os.strerror(exc.errno or 0)
    return (data, "") if len(data) <= FILE_LIMIT else (None, "larger than 2 MiB")


def blunt(data: bytes) -> bytes:
    """Comments that silence pyright, made harmless; every byte stays in its place."""
    return _COMMENT.sub(lambda match: _DIRECTIVE.sub(_cross_out, match.group()), data)


def _cross_out(match: "re.Match[bytes]") -> bytes:
    return match.group()[:1] + b"_" * (len(match.group()) - 1)


def skeleton(occurrences: Sequence[Occurrence]) -> bytes:
    """The import statements of a module, each on its own line of before, and nothing else.

    Pyright infers types through every expression it sees, at ten times the cost of resolving
    the imports; and what is not there can silence nothing. A branch for another platform is
    left out, since pyright does not look into those either.
    """
    lines: List[str] = []
    for item in sorted(occurrences, key=lambda o: o.line):
        if item.kind in ("dynamic", "platform") or item.module == "__future__":
            continue
        names = ", ".join(item.names)
        statement = "from %s import %s" % (item.module, names) if names else "import " + item.module
        lines.extend([""] * (item.line - len(lines)))
        lines[-1] += ("; " if lines[-1] else "") + statement
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def write_copy(
    files: Dict[str, bytes],
    found: Mapping[str, Sequence[Occurrence]],
    tree: str,
    roots: Sequence[str],
) -> str:
    """Write the copy and our configuration into ``tree``; the configuration's path.

    Of a file whose imports were ``found`` only those are written; one that could not be parsed
    is written whole, with its silencing comments blunted.
    """
    for relative, data in files.items():
        target = os.path.join(tree, _shown(relative))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as handle:
            handle.write(skeleton(found[relative]) if relative in found else blunt(data))
    return _configure(tree, [os.path.join(tree, _shown(root)) if root else tree for root in roots])


def _shown(relative: str) -> str:
    """The name in the copy: pyright leaves out what starts with a dot, whatever it is told."""
    parts = relative.split(os.sep)
    return os.sep.join(_MARK + part if part.startswith(_UNSEEN) else part for part in parts)


def _original(shown: str) -> str:
    parts = shown.split(os.sep)
    cut = [part[len(_MARK) :] if part.startswith(_MARK) else part for part in parts]
    return os.sep.join(cut)


def _configure(folder: str, extra_paths: List[str]) -> str:
    settings = {
        "include": ["."],
        "exclude": [],
        "extraPaths": extra_paths,
        "pythonPlatform": "Linux",
        "stubPath": "envspec-no-stubs",
        "typeCheckingMode": "off",
        "enableTypeIgnoreComments": False,
        "reportMissingImports": "error",
        "reportMissingModuleSource": "warning",
    }
    path = os.path.join(folder, "pyrightconfig.json")
    with open(path, "w", encoding="ascii") as handle:
        json.dump(settings, handle)
    return path


class Pyright:
    """One pinned pyright: how to start it, bound to one interpreter."""

    def __init__(
        self, node: str, script: str, python: str, env: Dict[str, str], scratch: str
    ) -> None:
        self.argv = [node, script, "--pythonpath", python, "--project"]
        self.python = python
        self.scratch = scratch
        home = os.path.join(scratch, "home")
        os.makedirs(home)
        # Messages are read, so their language is fixed; caches go where we may write.
        self.env = {**env, "HOME": home, "TMPDIR": home, "LC_ALL": "en_US.UTF-8"}
        self.env.update(XDG_CACHE_HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home)
        self.env.pop("NODE_OPTIONS", None)

    def check(self, project: str, tree: str, seconds: float) -> Answer:
        """Analyse the copy."""
        argv = [*self.argv, project, "--outputjson"]
        run = run_child(argv, self.env, self.scratch, seconds, _OUTPUT)
        text = run["stdout"]
        if run["exit_code"] not in (0, 1):
            raise ProbeError("PyrightFailed", _why(run))
        try:
            document = json.loads(text)
            found = document["generalDiagnostics"]
            analyzed = int(document["summary"]["filesAnalyzed"])
            version = str(document["version"])
            diagnostics = [_diagnostic(d, tree) for d in found if d.get("rule") in _RULES]
        except (ValueError, KeyError, TypeError) as exc:
            raise ProbeError("PyrightOutput", "not the document pyright writes") from exc
        return Answer(version, analyzed, diagnostics)

    def binding(self, seconds: float) -> Dict[str, Any]:
        """Which interpreter it works with: its own account, against the interpreter's.

        ``bound`` is true when every folder the interpreter imports from, and its version, are
        in what pyright says it searches. (Its JSON does not tell, hence an empty project.)
        """
        folder = os.path.join(self.scratch, "binding")
        os.makedirs(folder)
        with open(os.path.join(folder, "empty.py"), "w", encoding="ascii"):
            pass
        code = "import json, sys; print(json.dumps([sys.path, list(sys.version_info[:3])]))"
        asked = run_child([self.python, "-c", code], self.env, folder, seconds)
        argv = [*self.argv, _configure(folder, []), "--verbose"]
        told = run_child(argv, self.env, folder, seconds, 4 << 20)
        searched, version = _search_paths(told["stdout"])
        try:
            path, numbers = json.loads(asked["stdout"])
            own = [entry for entry in path if entry and os.path.isdir(entry)]
            expected = ".".join(str(number) for number in numbers)
        except (ValueError, TypeError):
            own, expected = [], ""
        known = {os.path.realpath(entry) for entry in searched}
        missing = [entry for entry in own if os.path.realpath(entry) not in known]
        right = version == expected or version.startswith(expected + ".")
        bound = bool(own) and not missing and bool(expected) and right
        return {
            "bound": bound,
            "interpreter": {
                "python": self.python,
                "version": expected,
                "pyright_version": version,
                "search_paths": [printable(entry) for entry in searched[:200]],
                "not_searched": [printable(entry) for entry in missing[:200]],
            },
        }


def _search_paths(text: str) -> Tuple[List[str], str]:
    """The ``Search paths:`` block of ``--verbose`` and the Python version it names."""
    paths: List[str] = []
    version = ""
    inside = False
    for line in text.splitlines():
        if line.strip().startswith("Python version:"):
            version = line.partition(":")[2].strip()
        if inside and not line.startswith("    "):
            inside = False
        if inside:
            paths.append(line.strip())
        if line.strip() == "Search paths:":
            inside = True
    return paths, version


def _diagnostic(item: Dict[str, Any], tree: str) -> Dict[str, Any]:
    found = re.match(r'Import "([^"]+)"', item["message"])
    if found is None:
        raise ValueError("a message of another shape")
    file = _original(os.path.relpath(os.path.realpath(item["file"]), os.path.realpath(tree)))
    return {
        "file": file,
        "line": int(item["range"]["start"]["line"]) + 1,
        "rule": item["rule"],
        "severity": item["severity"],
        "module": found.group(1),
    }


def _why(run: Dict[str, Any]) -> str:
    if run["start_error"]:
        return str(run["start_error"]["message"])
    if run["timed_out"]:
        return "no answer after %s s" % run["seconds"]
    tail = (run["stderr"] + run["stdout"])[-1500:]
    return "exit code %s, signal %s: %s" % (run["exit_code"], run["signal"], tail)
