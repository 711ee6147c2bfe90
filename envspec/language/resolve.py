"""Syntax tree → model: every word known, every value typed, every reference found.

Pure: reads no disk, so a script that an entry names is looked for later, by the pipeline.
"""

from __future__ import annotations

from envspec.diagnostics import Diagnostic, DiagnosticError, in_order
from envspec.language import checks, installs
from envspec.language import values as shapes
from envspec.language.reader import Block, Fields, Reader
from envspec.language.references import check_references
from envspec.language.statements import words_in
from envspec.language.syntax import Statement
from envspec.model import (
    NOWHERE,
    Accelerator,
    ArchiveSource,
    GitSource,
    PathSource,
    Platform,
    Project,
    Resources,
    Source,
    Spec,
)
from envspec.source import SourceFile, Span

LANGUAGE_VERSION = 1


def resolve(statements: tuple[Statement, ...], source: SourceFile) -> Spec:
    """The model of a parsed spec.

    Raises:
        DiagnosticError: E0106 (language version), E0201 to E0206; all of them at once.
    """
    spec, findings = resolve_all(statements, source)
    if findings:
        raise DiagnosticError(findings)
    return spec


def resolve_all(
    statements: tuple[Statement, ...], source: SourceFile
) -> tuple[Spec, tuple[Diagnostic, ...]]:
    """The model, with harmless defaults where something is wrong, and every finding."""
    reader = Reader(source)
    _check_version(reader, statements)
    end = Span(len(source.text), len(source.text))
    top = Block(reader, "", reader.sort(statements, "", statements[0].span if statements else end))
    spec = Spec(
        project=_project(reader, top),
        platform=_platform(reader, top),
        accelerator=_accelerator(reader, top),
        resources=_resources(reader, top),
        indexes=installs.indexes(reader, top),
        mirrors=installs.mirrors(top),
        secrets=installs.secrets(top),
        packages=installs.packages(reader, top),
        system=installs.system_packages(reader, top),
        extensions=installs.extensions(reader, top),
        steps=installs.steps(reader, top),
        environment=installs.environment(reader, top),
        assets=checks.assets(reader, top),
        services=checks.services(reader, top),
        optional_imports=checks.optional_imports(reader, top),
        entries=checks.entries(reader, top),
        claims=checks.claims(reader, top),
    )
    check_references(reader, spec)
    return spec, in_order(reader.findings)


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
    fields = reader.fields(first, words_in("")["envspec"])
    version = fields.text(default=str(LANGUAGE_VERSION))
    if int(version) != LANGUAGE_VERSION:
        reader.report(
            "E0106",
            f"language version {version} is not known",
            fields.at("value"),
            f"this envspec knows version {LANGUAGE_VERSION}",
            hint="install a newer envspec, or write the spec in a version it knows",
        )


def _project(reader: Reader, top: Block) -> Project:
    statement = _only(top, "project")
    if statement is None:
        return Project("", ArchiveSource("", "", "", NOWHERE), (), NOWHERE)
    name = top.one("project").text("name")
    inside = reader.block(statement, "project")
    source = code_source(inside.one("source"))
    return Project(name, source, inside.one("pythonpath").texts(), statement.span)


def code_source(fields: Fields) -> Source:
    """The source that a `source` statement names; an archive without a name if none is right."""
    if "git" in fields.values:
        return GitSource(fields.text("git"), fields.text("at"), fields.span)
    if "path" in fields.values:
        return PathSource(fields.text("path"), fields.span)
    return ArchiveSource(
        fields.text("archive"), fields.text("sha256"), fields.text("from"), fields.span
    )


def _platform(reader: Reader, top: Block) -> Platform:
    statement = _only(top, "platform")
    if statement is None:
        return Platform("", "", "", NOWHERE, "", NOWHERE, "", NOWHERE)
    inside = reader.block(statement, "platform")
    base, _, digest = inside.text("base").partition("@")
    devel, _, devel_digest = inside.text("devel").partition("@")
    python, glibc = inside.one("python"), inside.one("glibc")
    return Platform(
        top.one("platform").text("os_arch"),
        base,
        digest,
        inside.one("base").span if base else statement.span,
        python.text(),
        python.span if python else statement.span,
        glibc.text().removeprefix(">="),
        statement.span,
        devel,
        devel_digest,
        inside.one("devel").span,
        glibc.span,
        _reasons(inside, ("base", "python", "glibc")),
    )


def _accelerator(reader: Reader, top: Block) -> Accelerator:
    statement = _only(top, "accelerator")
    if statement is None:
        return Accelerator("none", "", "", (), "", "")
    head = top.one("accelerator")
    kind, toolkit = head.text("kind", "cuda"), head.text("toolkit")
    if kind == "none" and toolkit:
        reader.report("E0206", "`accelerator none` has no version", head.at("toolkit"),
                      hint="remove it")  # fmt: skip
        toolkit = ""
    if kind == "none" and statement.block:
        reader.report(
            "E0206",
            "`accelerator none` has no block",
            statement.block[0].span,
            hint="remove the block, or write `accelerator cuda X.Y`",
        )
    inside = reader.block(statement, "accelerator")
    words = ("driver", "gpus", "cudnn", "nccl")
    driver, gpus, cudnn, nccl = (inside.one(word) for word in words)
    return Accelerator(
        kind,
        toolkit,
        driver.text().removeprefix(">="),
        gpus.texts(),
        cudnn.text(),
        nccl.text(),
        _reasons(inside, words),
        head.at("toolkit"),
        driver.span,
        gpus.span,
        cudnn.span,
        nccl.span,
        statement.span,
    )


def _reasons(inside: Block, words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    reasons = ((word, inside.one(word).text("because")) for word in words)
    return tuple((word, reason) for word, reason in reasons if reason)


def _resources(reader: Reader, top: Block) -> Resources:
    statement = _only(top, "resources")
    inside = reader.block(statement, "resources")
    memory, shm, disk = (
        shapes.size(text) if (text := inside.text(word)) else 0
        for word in ("memory", "shm", "disk")
    )
    span = statement.span if statement else NOWHERE
    return Resources(memory, shm, disk, int(inside.text("jobs", "0")), span)


def _only(top: Block, word: str) -> Statement | None:
    lines = top.lines.get(word)
    return lines[0] if lines else None
