"""`envspec compile`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common

# The names of `envspec.emit.outputs.TARGETS`, which only the verb itself imports.
_TARGETS = ("docker", "nix", "apptainer", "devcontainer", "compose", "kubernetes")
_ALL = "all"


@click.command("compile")
@common.spec_argument
@click.option(
    "--target",
    "targets",
    multiple=True,
    type=click.Choice([*_TARGETS, _ALL]),
    help="What to write; may be given more than once. Default: docker and nix; with --check, what "
    "is there.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the outputs go. Default: generated/PROJECT.",
)
@click.option(
    "--check", is_flag=True, help="Only say whether the outputs are fresh; exit 1 if not."
)
@common.frozen_option
@common.resolver_option
@common.format_option
@common.quiet_option
def command(
    spec: Path,
    targets: tuple[str, ...],
    output: Path | None,
    check: bool,
    frozen: bool,
    resolver: str | None,
    form: str,
    quiet: bool,
) -> None:
    """Turn a spec into a Dockerfile, a Nix flake and lock artefacts, or other targets.

    Where no lock is beside the spec, it is resolved and written first.
    """
    from envspec.cli.progress import reporting
    from envspec.emit.outputs import DEFAULT_TARGETS
    from envspec.pipeline import compile as compiling
    from envspec.pipeline import load

    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec)
        lock, text = load.locked(loaded, reporter, frozen=frozen or check, resolver=resolver)
        loaded = load.checked_with(loaded, lock)
        folder = output or Path("generated") / loaded.spec.project.name
        usual = compiling.targets_of(folder) if check else DEFAULT_TARGETS
        chosen = _TARGETS if _ALL in targets else targets or usual
        made = compiling.compiled(loaded, lock, text, chosen)
        if check:
            compiling.check_fresh(loaded, made, folder)
            said = "fresh"
        else:
            said = "written" if compiling.write(loaded, made, folder) else "unchanged"
        common.show(loaded.findings, form)
        if form == common.TEXT:
            click.echo(f"{folder}: {said} ({len(made.files)} files)")
