"""`envspec vendor`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from envspec.cli import common
from envspec.cli.compile import _ALL, _TARGETS

if TYPE_CHECKING:
    from envspec.diagnostics import Diagnostic


@click.command("vendor")
@common.spec_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the deposit; replaced as a whole where it holds an earlier one.",
)
@click.option(
    "--archive",
    metavar="FILE.tar",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The same as one archive, beside the folder or in its place.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    type=click.Choice([*_TARGETS, _ALL]),
    help="Which outputs go in; may be given more than once. Default: all.",
)
@click.option(
    "--with-base",
    is_flag=True,
    help="Save the images that the build starts from too, by their digests. Needs Docker.",
)
@click.option(
    "--base-from",
    metavar="IMAGE",
    envvar="ENVSPEC_BASE_FROM",
    help="A local image to bring packages of the distribution where the base cannot be pulled.",
)
@click.option(
    "--check",
    "checked",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Look a deposit over: what is missing, changed or left over. Writes nothing.",
)
@common.format_option
@common.quiet_option
def command(
    spec: Path,
    output: Path | None,
    archive: Path | None,
    targets: tuple[str, ...],
    with_base: bool,
    base_from: str | None,
    checked: Path | None,
    form: str,
    quiet: bool,
) -> None:
    """Write a deposit: spec, lock, outputs and every file that a build takes in.

    With it the environment is built and verified without network, also by people who do not have
    envspec; its README.md says how. The same lock gives the same bytes.
    """
    from envspec.cli.progress import reporting
    from envspec.wording import size_of

    if checked is not None:
        if output or archive or targets or with_base:
            raise click.UsageError("`--check` writes nothing, so it goes with no other option.")
        _check(checked, form, quiet=quiet)
        return
    if output is None and archive is None:
        raise click.UsageError("Say where it goes: `-o DIR`, `--archive FILE.tar`, or both.")
    from envspec.pipeline import compile as compiling
    from envspec.pipeline import load
    from envspec.pipeline.vendor import Asked, vendor

    chosen = _TARGETS if _ALL in targets or not targets else targets
    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec)
        lock, text = load.locked(loaded, reporter, frozen=True)
        made = compiling.compiled(loaded, lock, text, chosen)
        asked = Asked(output, archive, chosen, with_base, base_from or "")
        found = vendor(loaded, made, reporter, asked)
        if form == common.JSON:
            _print(
                loaded.findings,
                {
                    "folder": str(output) if output else None,
                    "archive": str(archive) if archive else None,
                    "files": found.files,
                    "bytes": found.size,
                    "sums_sha256": found.sums,
                    "archive_sha256": found.archive or None,
                    "written": found.written,
                },
            )
            return
        common.show(loaded.findings, form)
        if output:
            state = "written" if found.written else "unchanged"
            click.echo(f"{output}: {state} ({found.files} files, {size_of(found.size)})")
        if archive:
            click.echo(f"{archive}: sha256 {found.archive}")


def _check(folder: Path, form: str, *, quiet: bool) -> None:
    from envspec.cli.progress import reporting
    from envspec.pipeline.deposit_check import check

    with common.findings(folder, form), reporting(quiet=quiet) as reporter:
        files = check(folder, reporter)
        if form == common.JSON:
            _print((), {"folder": str(folder), "files": files})
        else:
            click.echo(f"{folder}: whole ({files} files)")


def _print(findings: tuple[Diagnostic, ...], deposit: dict[str, object]) -> None:
    from envspec import render

    document = {**render.document(findings), "deposit": deposit}
    click.echo(json.dumps(document, indent=2, ensure_ascii=not _plain(document)))


def _plain(document: object) -> bool:
    """Whether a document is text in UTF-8 when nothing in it is escaped."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
