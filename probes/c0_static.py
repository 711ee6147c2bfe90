"""C0 static: which imports of a source tree the environment cannot resolve.

Reads the tree with `ast` (every import and its circumstances) and has pyright, mounted from
outside and bound to the environment's interpreter, resolve each one. Runs nothing of the tree.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from typing import Any, Dict, List, Set, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _children import run_child
from _imports import Layout, Occurrence, collect, origin
from _protocol import (
    RESULT_LIMIT,
    ProbeError,
    encode,
    environment,
    need,
    printable,
    serve,
)
from _pyright import Pyright, read_source, write_copy

OCCURRENCES = 5000
_SHORTEN = (
    "imports",
    "diagnostics",
    "skipped",
    "syntax_errors",
    "distinct_top_level",
    "missing",
    "missing_top_level",
    "missing_source_top_level",
)
_ORDER = ("required", "dynamic", "guarded", "platform", "type_checking")

Found = Dict[str, List[Occurrence]]


def observe(config: Dict[str, Any]) -> Dict[str, Any]:
    """See README.md, `c0_static`."""
    source = os.path.realpath(need(config, "source", str))
    if not os.path.isdir(source):
        raise ProbeError("NoSource", printable(source))
    end = time.monotonic() + need(config, "seconds", float)
    tool = need(config, "pyright", dict)
    python = need(config, "python", str)
    env = environment(config)
    roots = _roots(source, config.get("import_roots", []))
    tree = read_source(source)
    found, broken = _parse(tree.files)
    scratch = tempfile.mkdtemp(prefix="envspec-c0-", dir=config.get("scratch"))
    try:
        pyright = Pyright(need(tool, "node", str), need(tool, "script", str), python, env, scratch)
        binding = pyright.binding(max(1.0, end - time.monotonic()))
        copy = os.path.join(scratch, "tree")
        os.makedirs(copy)
        project = write_copy(tree.files, found, copy, roots)
        answer = pyright.check(project, copy, max(1.0, end - time.monotonic()))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    layout = Layout(list(tree.files), roots)
    standard = _standard_library(python, env)
    optional = [str(name) for name in config.get("optional", [])]
    tops = {rule: _tops(answer.diagnostics, rule) for rule in ("Imports", "ModuleSource")}
    imported = sorted({_top(item.module) for items in found.values() for item in items} - {""})
    observed = {
        "pyright_version": answer.version,
        **binding,
        "import_roots": roots,
        "files_total": len(tree.files),
        "files_analyzed": answer.files_analyzed,
        "skipped": tree.skipped,
        "notebooks": tree.notebooks,
        "syntax_errors": broken,
        "distinct_top_level": imported,
        "distinct_top_level_count": len(imported),
        "missing_top_level": tops["Imports"],
        "missing_top_level_count": len(tops["Imports"]),
        "missing_source_top_level": tops["ModuleSource"],
        "missing_source_top_level_count": len(tops["ModuleSource"]),
        "diagnostic_count": sum(d["rule"] == "reportMissingImports" for d in answer.diagnostics),
        "diagnostics": answer.diagnostics,
        "missing": _missing(answer.diagnostics, found, layout, optional),
        "imports": _occurrences(found, layout, standard)[:OCCURRENCES],
        "must_load": _must_load(found, layout, standard),
        "truncated": False,
        "cut": [],
    }
    _fit(observed)
    return observed


def _roots(source: str, configured: List[Any]) -> List[str]:
    """Folders of the tree that imports start from, relative to it; "" is the tree itself.

    ``src`` counts without being named, as it does for pyright by default: both public counts
    of missing imports were made that way.
    """
    roots = []
    for root in configured:
        path = os.path.relpath(os.path.realpath(os.path.join(source, str(root))), source)
        if path.split(os.sep)[0] == os.pardir:
            raise ProbeError("BadConfig", "import root outside of the source: %s" % root)
        roots.append("" if path == os.curdir else path)
    src = os.path.join(source, "src")
    if os.path.isdir(src) and not os.path.exists(os.path.join(src, "__init__.py")):
        roots.append("src")
    return list(dict.fromkeys([*roots, ""]))


def _parse(files: Dict[str, bytes]) -> Tuple[Found, List[Dict[str, Any]]]:
    found: Found = {}
    broken: List[Dict[str, Any]] = []
    sys.setrecursionlimit(10_000)  # long chains of operators make deep trees
    warnings.simplefilter("ignore")  # about escapes in the repository's strings
    for file, data in files.items():
        try:
            found[file] = collect(ast.parse(data, filename="<source>"))
        except SyntaxError as exc:
            message = printable(str(exc.msg), 300)
            broken.append({"file": printable(file), "line": exc.lineno or 0, "message": message})
        except (ValueError, RecursionError, MemoryError) as exc:
            message = "%s: %s" % (type(exc).__name__, printable(str(exc), 300))
            broken.append({"file": printable(file), "line": 0, "message": message})
    return found, broken


def _standard_library(python: str, env: Dict[str, str]) -> Set[str]:
    """Top-level names of the standard library, as the interpreter under test has it."""
    names = getattr(sys, "stdlib_module_names", None)  # 3.10 and later
    if names is not None:
        return set(names)
    code = (
        "import json, os, sys, sysconfig"
        "\nnames = set(sys.builtin_module_names)"
        "\npaths = sysconfig.get_paths()"
        "\nlib = paths['platstdlib']"
        "\nfor folder in (paths['stdlib'], lib, os.path.join(lib, 'lib-dynload')):"
        "\n  if os.path.isdir(folder): names.update(n.split('.')[0] for n in os.listdir(folder))"
        "\nprint(json.dumps(sorted(names)))"
    )
    run = run_child([python, "-I", "-S", "-B", "-c", code], env, None, 60)
    try:
        return set(json.loads(run["stdout"])) - {"site-packages", "dist-packages"}
    except ValueError as exc:
        raise ProbeError("NoStandardLibrary", "the interpreter did not list it") from exc


def _top(module: str) -> str:
    return module.split(".", maxsplit=1)[0]  # "" for a relative one


def _tops(diagnostics: List[Dict[str, Any]], rule: str) -> List[str]:
    wanted = "reportMissing" + rule
    return sorted({_top(d["module"]) for d in diagnostics if d["rule"] == wanted} - {""})


def _missing(
    diagnostics: List[Dict[str, Any]], found: Found, layout: Layout, optional: List[str]
) -> List[Dict[str, Any]]:
    """One entry for each module and rule; its kind is the strictest of its occurrences."""
    groups: Dict[Tuple[str, str], List[Dict[str, Any]]] = {}
    for item in diagnostics:
        groups.setdefault((item["module"], item["rule"]), []).append(item)
    entries = []
    for (module, rule), items in sorted(groups.items()):
        declared = any(module == name or module.startswith(name + ".") for name in optional)
        kinds = {kind for item in items for kind in _kinds(item, found, layout)}
        kind = next((kind for kind in _ORDER if kind in kinds), "first_party")
        places = [{"file": item["file"], "line": item["line"]} for item in items]
        entries.append(
            {
                "module": module,
                "top": _top(module),
                "rule": rule,
                "classification": "optional" if declared else kind,
                "places": places[:20],
                "places_total": len(places),
            }
        )
    return entries


def _kinds(item: Dict[str, Any], found: Found, layout: Layout) -> Set[str]:
    """How the file of a diagnostic imports its module; what we cannot place is required."""
    module = item["module"]
    if module.startswith("."):
        return {"first_party"}
    same = [o for o in found.get(item["file"], []) if o.module == module]
    if not same:
        return {"required"}
    if all(layout.provides(item["file"], o.module, o.names) for o in same):
        return {"first_party"}
    return {o.kind for o in same}


def _occurrences(found: Found, layout: Layout, standard: Set[str]) -> List[Dict[str, Any]]:
    """One entry for each module, kind and file: third-party first, in case of a cut."""
    entries: Dict[Tuple[str, str, str], Dict[str, Any]] = {}
    for file, items in found.items():
        for item in items:
            entry = {
                "module": printable(item.module, 300),
                "top": printable(_top(item.module), 300),
                "file": printable(file),
                "line": item.line,
                "kind": item.kind,
                "lazy": item.lazy,
                "origin": origin(layout, standard, file, item),
            }
            entries.setdefault((item.module, item.kind, file), entry)
    rank = {"third_party": 0, "first_party": 1, "stdlib": 2}
    return sorted(entries.values(), key=lambda e: (rank[e["origin"]], e["module"], e["file"]))


def _must_load(found: Found, layout: Layout, standard: Set[str]) -> Dict[str, List[str]]:
    """Top-level names that the source requires, by origin. Never cut: what is left out of it
    would not be loaded, and so would count as loading."""
    names: Dict[str, Set[str]] = {"third_party": set(), "first_party": set()}
    for file, items in found.items():
        for item in items:
            top = _top(item.module)
            if item.kind == "required" and top:
                names.get(origin(layout, standard, file, item), set()).add(printable(top, 300))
    return {kind: sorted(tops) for kind, tops in names.items()}


def _fit(observed: Dict[str, Any]) -> None:
    """Shorten the long lists until the line fits, what matters least first.

    The counts are of the whole, and ``truncated`` is set: no list may then be read as complete.
    """
    for key in _SHORTEN:
        while len(observed[key]) > 1 and len(encode(observed)) > RESULT_LIMIT - 10_000:
            observed[key] = observed[key][: len(observed[key]) // 2]
            observed["truncated"] = True
            if key not in observed["cut"]:
                observed["cut"].append(key)


if __name__ == "__main__":
    serve(["c0_static"], observe)
