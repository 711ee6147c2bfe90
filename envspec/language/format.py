"""Model → text: the canonical way to write a spec.

What is left out means its default; a word stands in quotes only where the language asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envspec.language.checks import DEFAULT_TIMEOUT
from envspec.language.values import seconds
from envspec.model import Accelerator, Claim, Entry, Package, Platform, Project, Spec, Variable

_UNITS = (("h", 3600), ("m", 60), ("s", 1))
_NOT_IN_WORDS = frozenset('"{}# \t')

Cells = tuple[str, ...]


def print_spec(spec: Spec) -> str:
    """The text of a spec. Parsing and resolving it gives the same model, spans apart.

    The model must be one that a text can have: strings hold no character that the language
    refuses (E0102), and names and versions have the shapes of `envspec.language.values`.
    """
    parts = [
        ["envspec 1"],
        _block(f"project {spec.project.name}", _project(spec.project)),
        _block(f"platform {spec.platform.os_arch}", _platform(spec.platform)),
        _accelerator(spec.accelerator),
        _aligned(("index", i.name, _string(i.url) if i.url else "") for i in spec.indexes),
        _block("packages", [_package(p) for p in spec.packages]),
        _block(
            "system",
            [
                (stage, " ".join(p.name for p in spec.system if p.stage == stage))
                for stage in ("runtime", "build")
                if any(p.stage == stage for p in spec.system)
            ],
        ),
        *(_block(f"step {s.name}", [("run", _strings(s.argv))]) for s in spec.steps),
        _block("env", [(_assignment(v),) for v in spec.environment]),
        _block(
            "imports",
            [("optional", o.name, "because " + _string(o.because)) for o in spec.optional_imports],
        ),
        *(_block(f"entry {e.name}", _entry(e)) for e in spec.entries),
        _block("claims", [_claim(c) for c in spec.claims]),
    ]
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts if part)


def _project(project: Project) -> list[Cells]:
    source = project.source
    came_from = f" from {source.index}" if source.index else ""
    archive = f"archive {_string(source.file)} sha256 {_string(source.sha256)}{came_from}"
    lines: list[Cells] = [("source", archive)]
    if project.pythonpath:
        lines.append(("pythonpath", _strings(project.pythonpath)))
    return lines


def _platform(platform: Platform) -> list[Cells]:
    digest = f"@{platform.base_digest}" if platform.base_digest else ""
    lines: list[Cells] = [("base", _string(platform.base + digest)), ("python", platform.python)]
    if platform.glibc:
        lines.append(("glibc", f">={platform.glibc}"))
    return lines


def _accelerator(accelerator: Accelerator) -> list[str]:
    lines = [
        ("driver", f">={accelerator.driver}" if accelerator.driver else ""),
        ("gpus", " ".join(accelerator.gpus)),
        ("cudnn", accelerator.cudnn),
        ("nccl", accelerator.nccl),
    ]
    head = f"accelerator {accelerator.kind} {accelerator.toolkit}".rstrip()
    return _block(head, [line for line in lines if line[1]]) or [head]


def _package(package: Package) -> Cells:
    extras = f"[{','.join(package.extras)}]" if package.extras else ""
    came_from = f"from {package.index}" if package.index else ""
    because = f"because {_string(package.because)}" if package.because else ""
    tail = f"{came_from} {because}".strip()
    return (package.name + extras, package.specifier, tail)


def _entry(entry: Entry) -> list[Cells]:
    what = ("script", (entry.script, *entry.argv)) if entry.script else ("run", entry.argv)
    lines: list[Cells] = [("level", entry.level), (what[0], _strings(what[1]))]
    if entry.timeout != seconds(DEFAULT_TIMEOUT):
        lines.append(("timeout", _duration(entry.timeout)))
    if entry.processes != 1:
        lines.append(("processes", str(entry.processes)))
    if entry.environment:
        lines.append(("env", " ".join(_assignment(v) for v in entry.environment)))
    if entry.network:
        lines.append(("network", "allowed"))
    return lines


def _claim(claim: Claim) -> Cells:
    value = _string(claim.value) if _NOT_IN_WORDS.intersection(claim.value) else claim.value
    return (claim.name, value, f"because {_string(claim.because)}" if claim.because else "")


def _duration(value: int) -> str:
    unit, size = next((u, s) for u, s in _UNITS if value % s == 0)
    return f"{value // size}{unit}"


def _assignment(variable: Variable) -> str:
    return f"{variable.name}={_string(variable.value)}"


def _strings(texts: Iterable[str]) -> str:
    return " ".join(map(_string, texts))


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _block(head: str, lines: Sequence[Cells]) -> list[str]:
    """A statement with its block, or nothing where the block is empty."""
    return [head + " {", *(f"  {line}" for line in _aligned(lines)), "}"] if lines else []


def _aligned(lines: Iterable[Cells]) -> list[str]:
    """Cells in columns, two deep at most; a cell after those stands where it falls."""
    rows = list(lines)
    widths = [max((len(r[i]) for r in rows if len(r) > i + 1), default=0) for i in (0, 1)]
    return [
        " ".join(
            cell.ljust(widths[i]) if i < min(2, len(row) - 1) else cell
            for i, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]
