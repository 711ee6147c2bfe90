"""Which modules a source tree imports, and under which circumstances: read, never run."""

from __future__ import annotations

import ast
import os
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

_FORGIVING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_IMPORTERS = {"import_module", "importlib.import_module", "__import__"}


class Occurrence(NamedTuple):
    """One import of one module at one line.

    ``kind``: required | guarded (its absence is caught) | type_checking | platform (under a
    test that is not true here) | relative | dynamic (a literal given to import_module).
    ``lazy``: inside a function. ``names``: what a ``from`` import takes.
    """

    module: str
    line: int
    kind: str
    lazy: bool
    names: Tuple[str, ...] = ()


def collect(tree: ast.AST) -> List[Occurrence]:
    """Every import of a parsed module, in the order of the text."""
    collector = _Collector()
    collector.visit(tree)
    return sorted(collector.found, key=lambda item: (item.line, item.module))


class _Collector(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: List[Occurrence] = []
        self.guarded = False
        self.typing = False
        self.elsewhere = False
        self.lazy = False

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        names = tuple(alias.name for alias in node.names)
        if node.level:
            module = "." * node.level + (node.module or "")
            self.found.append(Occurrence(module, node.lineno, "relative", self.lazy, names))
        elif node.module:
            self._add(node.module, node.lineno, names)

    def visit_Call(self, node: ast.Call) -> None:
        module = _literal(node.args[0]) if node.args else None
        if module and _dotted(node.func) in _IMPORTERS:
            kind = "relative" if module.startswith(".") else "dynamic"
            self.found.append(Occurrence(module, node.lineno, kind, self.lazy))
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for outside in [*node.decorator_list, node.args]:
            self.visit(outside)
        self._function(node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        for outside in [*node.decorator_list, node.args]:
            self.visit(outside)
        self._function(node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function([node.body])

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
        test = node.test.operand if isinstance(node.test, ast.UnaryOp) and negated else node.test
        branches = (node.orelse, node.body) if negated else (node.body, node.orelse)
        if _dotted(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"):
            self._under(branches[0], typing=True)
            self._under(branches[1])
        elif _asks_platform(test):
            truth = _truth(test)
            self._under(branches[0], elsewhere=truth is not True)
            self._under(branches[1], elsewhere=truth is not False)
        else:
            self._under(node.body)
            self._under(node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        self._try(node)

    def visit_TryStar(self, node: Any) -> None:
        self._try(node)

    def visit_With(self, node: ast.With) -> None:
        forgiving = False
        for item in node.items:
            self.visit(item.context_expr)
            call = item.context_expr
            if isinstance(call, ast.Call) and _dotted(call.func).endswith("suppress"):
                forgiving = forgiving or any(_dotted(arg) in _FORGIVING for arg in call.args)
        self._under(node.body, guarded=forgiving)

    def _try(self, node: Any) -> None:
        catching = next((handler for handler in node.handlers if _catches(handler)), None)
        # A handler that raises again makes a module need the import. Inside a function it only
        # tells the user which optional package the chosen feature lacks.
        guarded = catching is not None and (self.lazy or _goes_on(catching))
        self._under(node.body, guarded=guarded)
        for handler in node.handlers:
            self._under(handler.body, guarded=guarded and handler is catching)
        self._under(node.orelse, guarded=guarded)
        self._under(node.finalbody)

    def _function(self, body: Sequence[ast.AST]) -> None:
        # A guard around the definition does not guard the call.
        before = self.lazy, self.guarded
        self.lazy, self.guarded = True, False
        for child in body:
            self.visit(child)
        self.lazy, self.guarded = before

    def _under(
        self,
        body: Sequence[ast.AST],
        guarded: bool = False,
        typing: bool = False,
        elsewhere: bool = False,
    ) -> None:
        before = self.guarded, self.typing, self.elsewhere
        self.guarded = self.guarded or guarded
        self.typing = self.typing or typing
        self.elsewhere = self.elsewhere or elsewhere
        for child in body:
            self.visit(child)
        self.guarded, self.typing, self.elsewhere = before

    def _add(self, module: str, line: int, names: Tuple[str, ...] = ()) -> None:
        kind = "required"
        if self.typing:
            kind = "type_checking"
        elif self.elsewhere:
            kind = "platform"
        elif self.guarded:
            kind = "guarded"
        self.found.append(Occurrence(module, line, kind, self.lazy, names))


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return handler.type is None or any(_dotted(kind) in _FORGIVING for kind in kinds)


def _goes_on(handler: ast.ExceptHandler) -> bool:
    """Whether the program goes on after the failed import: not if the handler raises."""
    last = handler.body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return _dotted(last.value.func) not in ("sys.exit", "exit", "quit", "os._exit")
    return not isinstance(last, ast.Raise)


def _dotted(node: Optional[ast.AST]) -> str:
    parts: List[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _literal(node: ast.AST) -> Optional[str]:
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None


def _asks_platform(test: ast.AST) -> bool:
    asked = {"sys.platform", "sys.version_info", "os.name", "platform.system"}
    return any(_dotted(node) in asked for node in ast.walk(test))


def _truth(test: ast.AST) -> Optional[bool]:
    """What a platform test says here, in the interpreter under test; None: too clever for us."""
    if isinstance(test, ast.BoolOp):
        values = [_truth(value) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in values:
            return decisive
        return None if None in values else not decisive
    if isinstance(test, ast.Call) and _dotted(test.func) == "sys.platform.startswith":
        prefix = _literal(test.args[0]) if test.args else None
        return None if prefix is None else sys.platform.startswith(prefix)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    try:
        right: Any = ast.literal_eval(test.comparators[0])
    except (ValueError, TypeError, SyntaxError):
        return None
    left = _fact(test.left)
    if isinstance(right, list):
        right = tuple(right)
    try:
        return _compare(left, test.ops[0], right) if left is not None else None
    except TypeError:
        return None


def _fact(node: ast.AST) -> Any:
    facts: Dict[str, Any] = {
        "sys.platform": sys.platform,
        "os.name": os.name,
        "sys.version_info": tuple(sys.version_info[:3]),
        "sys.version_info.major": sys.version_info[0],
        "sys.version_info.minor": sys.version_info[1],
    }
    if isinstance(node, ast.Call) and _dotted(node.func) == "platform.system":
        return os.uname().sysname
    if isinstance(node, ast.Subscript) and _dotted(node.value) == "sys.version_info":
        where: Any = node.slice
        if isinstance(where, ast.Slice):  # [:2]
            upper = getattr(where.upper, "value", None)
            return tuple(sys.version_info[:3])[:upper] if where.lower is None else None
        index = getattr(where, "value", None)  # Python 3.8 wraps the constant once more
        index = getattr(index, "value", index)
        return sys.version_info[index] if index in (0, 1) else None
    return facts.get(_dotted(node))


def _compare(left: Any, operator: ast.cmpop, right: Any) -> Optional[bool]:
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        return bool(left == right) == isinstance(operator, ast.Eq)
    if isinstance(operator, (ast.In, ast.NotIn)):
        return (left in right) == isinstance(operator, ast.In)
    if isinstance(operator, ast.Lt):
        return bool(left < right)
    if isinstance(operator, ast.LtE):
        return bool(left <= right)
    if isinstance(operator, ast.Gt):
        return bool(left > right)
    return bool(left >= right) if isinstance(operator, ast.GtE) else None


class Layout:
    """Which modules the tree itself provides.

    ``files`` are relative to the tree; ``roots`` are folders in it (relative, "" for the tree)
    from which imports start. A module's own folder counts too: Python puts a script's there.
    """

    def __init__(self, files: Sequence[str], roots: Sequence[str]) -> None:
        self.roots = list(dict.fromkeys(roots))
        self.files = set(files)
        self.folders: Set[str] = set()
        for file in files:
            folder = os.path.dirname(file)
            while folder and folder not in self.folders:
                self.folders.add(folder)
                folder = os.path.dirname(folder)

    def provides(self, file: str, module: str, names: Sequence[str]) -> bool:
        """Whether ``module``, as imported by ``file``, is part of the tree.

        A folder without ``__init__.py`` counts only if what is asked of it is inside: a folder
        ``datasets/`` of data must not pass for the package of that name.
        """
        parts = module.split(".")
        for root in [*self.roots, os.path.dirname(file)]:
            top = os.path.join(root, parts[0])
            if top + ".py" in self.files or os.path.join(top, "__init__.py") in self.files:
                return True
            if top in self.folders:
                inner = os.path.join(root, *parts)
                asked = [inner] if len(parts) > 1 else [os.path.join(inner, n) for n in names]
                if any(path + ".py" in self.files or path in self.folders for path in asked):
                    return True
        return False


def origin(layout: Layout, standard: Set[str], file: str, item: Occurrence) -> str:
    """``stdlib`` | ``first_party`` | ``third_party`` of one occurrence in ``file``."""
    if item.kind == "relative":
        return "first_party"
    if item.module.split(".")[0] in standard:
        return "stdlib"
    return "first_party" if layout.provides(file, item.module, item.names) else "third_party"
