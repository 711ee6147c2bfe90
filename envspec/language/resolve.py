"""Syntax tree → model: every word known, every value typed, every reference found.

Pure: reads no disk, so a script that an entry names is looked for later, by the pipeline.
"""

from __future__ import annotations

from envspec.diagnostics import DiagnosticError, Label, in_order
from envspec.language import values as shapes
from envspec.language.checks import claims, entries, optional_imports
from envspec.language.installs import (
    environment,
    indexes,
    packages,
    steps,
    system_packages,
    take_index,
)
from envspec.language.reader import Reader
from envspec.language.statements import words_in
from envspec.language.suggest import closest
from envspec.language.syntax import STRING, WORD, Statement
from envspec.model import Accelerator, ArchiveSource, Platform, Project, Spec
from envspec.source import SourceFile, Span

LANGUAGE_VERSION = 1
# Aliases that the clients themselves can find: pip and uv know their default index, and uv
# knows where the builds of torch for each backend are.
WELL_KNOWN = ("pypi",)
WELL_KNOWN_PREFIX = "pytorch-"


def resolve(statements: tuple[Statement, ...], source: SourceFile) -> Spec:
    """The model of a parsed spec.

    Raises:
        DiagnosticError: E0106 (language version), E0201 to E0206; all of them at once.
    """
    reader = Reader(source)
    _check_version(reader, statements)
    end = Span(len(source.text), len(source.text))
    top = reader.sort(statements, "", statements[0].span if statements else end)
    spec = Spec(
        project=_project(reader, top),
        platform=_platform(reader, top),
        accelerator=_accelerator(reader, top),
        indexes=indexes(reader, top),
        packages=packages(reader, top),
        system=system_packages(reader, top),
        steps=steps(reader, top),
        environment=environment(reader, top),
        entries=entries(reader, top),
        optional_imports=optional_imports(reader, top),
        claims=claims(reader, top),
    )
    _check_references(reader, spec)
    if reader.findings:
        raise DiagnosticError(in_order(reader.findings))
    return spec


def _check_version(reader: Reader, statements: tuple[Statement, ...]) -> None:
    if not any(s.keyword.text == "envspec" for s in statements):
        return  # reported as missing, like every required statement
    first = statements[0]
    if first.keyword.text != "envspec":
        reader.report(
            "E0106",
            "the spec does not begin with its language version",
            first.span,
            hint=f"write `envspec {LANGUAGE_VERSION}` as the first statement",
        )
        return
    values = reader.values(first, f"envspec {LANGUAGE_VERSION}", 1, 1)
    version = reader.text(values[0] if values else None, shapes.COUNT, WORD, "1")
    if int(version) != LANGUAGE_VERSION:
        reader.report(
            "E0106",
            f"language version {version} is not known",
            values[0].span,
            f"this envspec knows version {LANGUAGE_VERSION}",
            hint="install a newer envspec, or write the spec in a version it knows",
        )


def _project(reader: Reader, top: dict[str, list[Statement]]) -> Project:
    statement = reader.single(top, "project")
    empty = Project("", ArchiveSource("", "", "", Span(0, 0)), (), Span(0, 0))
    if statement is None:
        return empty
    values = reader.values(statement, "project NAME { … }", 1, 1)
    name = reader.text(values[0] if values else None, shapes.NAME, WORD)
    found = reader.children(statement, "project")
    roots = reader.single(found, "pythonpath")
    folders: tuple[str, ...] = ()
    if roots is not None:
        given = reader.values(roots, 'pythonpath "FOLDER" …', 1, 100)
        folders = tuple(reader.text(v, shapes.RELATIVE, STRING, ".") for v in given)
    source = reader.single(found, "source")
    archive = _archive(reader, source) if source else empty.source
    return Project(name, archive, folders, statement.span)


def _archive(reader: Reader, statement: Statement) -> ArchiveSource:
    form = words_in("project")["source"].form
    values = list(statement.values[1:])
    index = take_index(reader, values)
    kinds = [v.kind for v in values]
    words = [v.text for v in values if v.kind == WORD]
    if kinds != [WORD, STRING, WORD, STRING] or words != ["archive", "sha256"]:
        reader.report(
            "E0206", "`source` is written differently", statement.span, hint=f"write `{form}`"
        )
        return ArchiveSource("", "", index, statement.span)
    file = reader.text(values[1], shapes.FILE_NAME, STRING)
    sha256 = reader.text(values[3], shapes.SHA256, STRING)
    return ArchiveSource(file, sha256, index, statement.span)


def _platform(reader: Reader, top: dict[str, list[Statement]]) -> Platform:
    statement = reader.single(top, "platform")
    nowhere = Span(0, 0)
    if statement is None:
        return Platform("", "", "", nowhere, "", nowhere, "", nowhere)
    values = reader.values(statement, "platform OS/ARCH { … }", 1, 1)
    os_arch = reader.text(values[0] if values else None, shapes.PLATFORM, WORD)
    found = reader.children(statement, "platform")
    base, _, digest = reader.one(found, "platform", "base", shapes.IMAGE, STRING).partition("@")
    at = {word: lines[0].span for word, lines in found.items()}
    return Platform(
        os_arch,
        base,
        digest,
        at.get("base", statement.span),
        reader.one(found, "platform", "python", shapes.PYTHON, WORD),
        at.get("python", statement.span),
        reader.one(found, "platform", "glibc", shapes.FLOOR, WORD).removeprefix(">="),
        statement.span,
    )


def _accelerator(reader: Reader, top: dict[str, list[Statement]]) -> Accelerator:
    statement = reader.single(top, "accelerator")
    if statement is None:
        return Accelerator("none", "", "", (), "", "", Span(0, 0))
    values = reader.values(statement, words_in("")["accelerator"].form, 1, 2)
    kind = reader.choice(values[0], ("cuda", "none"), "an accelerator") if values else "cuda"
    toolkit = reader.text(values[1], shapes.NUMBER_DOTTED, WORD) if len(values) == 2 else ""
    if kind == "none" and len(values) == 2:
        reader.report(
            "E0206", "`accelerator none` has no version", values[1].span, hint="remove it"
        )
    if kind == "none" and statement.block:
        reader.report(
            "E0206",
            "`accelerator none` has no block",
            statement.block[0].span,
            hint="remove the block, or write `accelerator cuda X.Y`",
        )
    found = reader.children(statement, "accelerator")
    gpus = reader.single(found, "gpus")
    listed = reader.values(gpus, "gpus sm_XY …", 1, 50) if gpus else ()
    return Accelerator(
        kind,
        toolkit,
        reader.one(found, "accelerator", "driver", shapes.FLOOR, WORD).removeprefix(">="),
        tuple(reader.text(v, shapes.GPU, WORD) for v in listed),
        reader.one(found, "accelerator", "cudnn", shapes.NUMBER_DOTTED, WORD),
        reader.one(found, "accelerator", "nccl", shapes.NUMBER_DOTTED, WORD),
        statement.span,
    )


def _check_references(reader: Reader, spec: Spec) -> None:
    declared = {index.name: index for index in spec.indexes}
    for index in spec.indexes:
        if not index.url and not _well_known(index.name):
            reader.report(
                "E0205",
                f"index `{index.name}` has no address",
                index.span,
                cause="only `pypi` and `pytorch-…` are known to the clients themselves",
                hint=f'write `index {index.name} "https://…"`',
            )
    users = [(p.index, p.span) for p in spec.packages]
    users.append((spec.project.source.index, spec.project.source.span))
    for name, span in users:
        if name and name not in declared and not _well_known(name):
            near = closest(name, (*declared, *WELL_KNOWN))
            also = (Label(declared[near].span, "declared here"),) if near in declared else ()
            reader.report(
                "E0205",
                f"index `{name}` is not declared",
                span,
                "used here",
                also=also,
                hint=f"did you mean `{near}`?" if near else f'add `index {name} "https://…"`',
            )


def _well_known(name: str) -> bool:
    return name in WELL_KNOWN or name.startswith(WELL_KNOWN_PREFIX)
