"""Model → text: the canonical way to write a spec.

What is left out means its default; a word stands in quotes only where the language asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envspec.language.checks import DEFAULT_READY, DEFAULT_TIMEOUT
from envspec.language.values import seconds
from envspec.model import (
    Accelerator,
    Asset,
    Claim,
    Entry,
    Extension,
    GitSource,
    Package,
    PathSource,
    Platform,
    Project,
    Resources,
    Service,
    Spec,
    Step,
    Variable,
)

_UNITS = (("h", 3600), ("m", 60), ("s", 1))
_SIZES = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20))
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
        _block("resources", _resources(spec.resources)),
        _aligned(("index", i.name, _string(i.url) if i.url else "") for i in spec.indexes),
        _aligned(("mirror", m.name, f"for {m.index}") for m in spec.mirrors),
        _aligned(("secret", s.name, f"because {_string(s.because)}") for s in spec.secrets),
        _block("packages", [_package(p) for p in spec.packages]),
        _block(
            "system",
            [
                (stage, " ".join(p.name for p in spec.system if p.stage == stage))
                for stage in ("runtime", "build")
                if any(p.stage == stage for p in spec.system)
            ],
        ),
        *map(_extension, spec.extensions),
        *(_block(f"step {s.name}", _step(s)) for s in spec.steps),
        _block("env", [(_assignment(v),) for v in spec.environment]),
        *(_block(f"asset {a.name}", _asset(a)) for a in spec.assets),
        *(_block(f"service {s.name}", _service(s)) for s in spec.services),
        _block(
            "imports",
            [("optional", o.name, "because " + _string(o.because)) for o in spec.optional_imports],
        ),
        *(_block(f"entry {e.name}", _entry(e)) for e in spec.entries),
        _block("claims", [_claim(c) for c in spec.claims]),
    ]
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts if part)


def print_claims(claims: Iterable[Claim]) -> str:
    """The text of a `claims` block alone."""
    return "".join(f"{line}\n" for line in _block("claims", [_claim(c) for c in claims]))


def _project(project: Project) -> list[Cells]:
    source = project.source
    if isinstance(source, PathSource):
        text = f"path {_string(source.folder)}"
    elif isinstance(source, GitSource):
        text = _git(source)
    else:
        came_from = f" from {source.index}" if source.index else ""
        text = f"archive {_string(source.file)} sha256 {_string(source.sha256)}{came_from}"
    lines: list[Cells] = [("source", text)]
    if project.pythonpath:
        lines.append(("pythonpath", _strings(project.pythonpath)))
    return lines


def _git(source: GitSource) -> str:
    return f"git {_string(source.url)} at {_string(source.commit)}"


def _platform(platform: Platform) -> list[Cells]:
    reasons = dict(platform.because)
    lines = [
        ("base", _image(platform.base, platform.base_digest)),
        ("devel", _image(platform.devel, platform.devel_digest) if platform.devel else ""),
        ("python", platform.python),
        ("glibc", f">={platform.glibc}" if platform.glibc else ""),
    ]
    return [_reasoned(word, value, reasons) for word, value in lines if value]


def _image(name: str, digest: str) -> str:
    return _string(f"{name}@{digest}" if digest else name)


def _reasoned(word: str, value: str, reasons: dict[str, str]) -> Cells:
    return (word, value, f"because {_string(reasons[word])}") if word in reasons else (word, value)


def _accelerator(accelerator: Accelerator) -> list[str]:
    reasons = dict(accelerator.because)
    lines = [
        ("driver", f">={accelerator.driver}" if accelerator.driver else ""),
        ("gpus", " ".join(accelerator.gpus)),
        ("cudnn", accelerator.cudnn),
        ("nccl", accelerator.nccl),
    ]
    head = f"accelerator {accelerator.kind} {accelerator.toolkit}".rstrip()
    stated = [_reasoned(word, value, reasons) for word, value in lines if value]
    return _block(head, stated) or [head]


def _resources(resources: Resources) -> list[Cells]:
    sizes = [(word, getattr(resources, word)) for word in ("memory", "shm", "disk")]
    lines = [(word, _measured(value, _SIZES)) for word, value in sizes if value]
    return [*lines, ("jobs", str(resources.jobs))] if resources.jobs else list(lines)


def _package(package: Package) -> Cells:
    extras = f"[{','.join(package.extras)}]" if package.extras else ""
    came_from = f"from {package.index}" if package.index else ""
    because = f"because {_string(package.because)}" if package.because else ""
    tail = f"{came_from} {because}".strip()
    return (package.name + extras, package.specifier, tail)


def _extension(extension: Extension) -> list[str]:
    came_from = f"from {extension.index}" if extension.index else ""
    because = f"because {_string(extension.because)}" if extension.because else ""
    cells = ("extension", extension.name, extension.specifier, came_from, because)
    head = " ".join(filter(None, cells))
    lines: list[Cells] = []
    if extension.git:
        lines.append(("source", _git(extension.git)))
    if extension.needs:
        lines.append(("needs", " ".join(extension.needs)))
    lines.extend(_variables(extension.environment))
    if extension.modules:
        lines.append(("module", " ".join(extension.modules)))
    return _block(head, lines) or [head]


def _step(step: Step) -> list[Cells]:
    return [("run", _strings(step.argv)), *_variables(step.environment)]


def _variables(variables: tuple[Variable, ...]) -> list[Cells]:
    return [("env", " ".join(map(_assignment, variables)))] if variables else []


def _asset(asset: Asset) -> list[Cells]:
    lines: list[Cells] = [("hub" if asset.hub else "url", _string(asset.hub or asset.url))]
    if asset.revision:
        lines.append(("revision", _string(asset.revision)))
    lines.append(("sha256", _string(asset.sha256)))
    if asset.folder != f"assets/{asset.name}":
        lines.append(("folder", _string(asset.folder)))
    if asset.secret:
        lines.append(("secret", asset.secret))
    return lines


def _service(service: Service) -> list[Cells]:
    lines: list[Cells] = [("image", _image(service.image, service.digest))]
    lines.append(("port", str(service.port)))
    if service.argv:
        lines.append(("run", _strings(service.argv)))
    lines.extend(_variables(service.environment))
    if service.ready:
        lines.append(("ready", _strings(service.ready)))
    if service.timeout != seconds(DEFAULT_READY):
        lines.append(("timeout", _measured(service.timeout, _UNITS)))
    return lines


def _entry(entry: Entry) -> list[Cells]:
    what = ("script", (entry.script, *entry.argv)) if entry.script else ("run", entry.argv)
    lines: list[Cells] = [("level", entry.level), (what[0], _strings(what[1]))]
    if entry.timeout != seconds(DEFAULT_TIMEOUT):
        lines.append(("timeout", _measured(entry.timeout, _UNITS)))
    if entry.processes != 1:
        lines.append(("processes", str(entry.processes)))
    lines.extend(_variables(entry.environment))
    if entry.network:
        lines.append(("network", "allowed"))
    if entry.expect.status:
        lines.append(("expect", f"exit {entry.expect.status}"))
    lines.extend(("expect", f"file {_string(file)}") for file in entry.expect.files)
    lines.extend(("expect", f"output {_string(pattern)}") for pattern in entry.expect.output)
    used = (("service", entry.services), ("asset", entry.assets), ("secret", entry.secrets))
    lines.extend((word, " ".join(names)) for word, names in used if names)
    return lines


def _claim(claim: Claim) -> Cells:
    value = _string(claim.value) if _NOT_IN_WORDS.intersection(claim.value) else claim.value
    because = f"because {_string(claim.because)}" if claim.because else ""
    return (f"{claim.name} {claim.subject}".rstrip(), value, because)


def _measured(value: int, units: tuple[tuple[str, int], ...]) -> str:
    """A number in the largest unit that it is a whole number of."""
    unit, size = next((u, s) for u, s in units if value % s == 0)
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
