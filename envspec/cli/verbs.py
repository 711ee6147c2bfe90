"""The `envspec` command. Verbs are imported when they are used, so that `--help` and
`compile` never pay for what `verify` needs."""

from __future__ import annotations

import importlib
from typing import Any

import click

from envspec import __version__
from envspec.cli import common

_VERBS = {
    "attest": "Write the in-toto statement about a report, to be signed.",
    "audit": "Re-check a committed set: spec, lock, outputs, report, evidence, attestation.",
    "check": "Find what is wrong in a spec, without resolving or building.",
    "claims": "Print the claims of a spec, or those that a report allows.",
    "compile": "Turn a spec into a Dockerfile, a Nix flake and lock artefacts.",
    "convert": "Print a spec in its other form: text as JSON, JSON as text.",
    "diagnose": "Say why a verification failed, and which change of the spec mends it.",
    "diff": "Say what turns one lock into another, and what that means.",
    "doctor": "Look at this machine and, for a spec, at pins that no longer resolve.",
    "facts": "List what EnvSpec knows of drivers, CUDA, torch and packages, with sources.",
    "explain": "Say why each pin is possible, from the driver to the extension.",
    "export": "Write a lock as pylock.toml, requirements or a CycloneDX SBOM.",
    "fetch": "Put every locked file into a folder, for a build without network.",
    "fmt": "Write specs in the one layout, comments and order kept.",
    "inspect": "Say whether compiled libraries fit each other, a GPU and a C library.",
    "lock": "Resolve the spec and write its lock.",
    "lsp": "Serve editors over the Language Server Protocol.",
    "report": "Draw a report in another form: HTML, JUnit, SARIF, Markdown.",
    "schema": "Print the JSON Schema of the JSON form of a spec.",
    "solve": "Find the newest CUDA, torch and companions that fit, and say why.",
    "tree": "Show who requires whom in a lock.",
    "vendor": "Write a deposit: all that a build takes in, to be kept or carried.",
    "verify": "Build the environment, climb C0 to C4, and audit the claims (C5).",
    "why": "Show every chain of requirements from the spec to a package.",
}


_MODULES = {"explain": "explain_spec"}
"""Verbs whose module is not named after them."""


class _Verbs(click.Group):
    """A group whose commands live in modules of their own, loaded by name."""

    # click would say "Aborted!" of a Ctrl-C between the beginning and the verb's own first line.

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*args, **more)
        except KeyboardInterrupt:
            common.stopped("spec.env", common.asked_form())

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            common.stopped("spec.env", common.asked_form())

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        module = importlib.import_module(f"envspec.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            from envspec.suggest import closest

            near = closest(args[0], _VERBS)
            hint = f" Did you mean `{near}`?" if near else ""
            ctx.fail(f"There is no command `{args[0]}`.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Shell completion: eval "$(_ENVSPEC_COMPLETE=bash_source envspec)"  (or zsh, fish).',
)
@click.version_option(__version__, prog_name="envspec")
def cli() -> None:
    """One auditable spec.env in; a reproducible, verified research environment out.

    \b
    Exit codes: 0 good, 1 findings or a failed rung, 2 usage, 3 internal error,
    4 something could not be checked here.
    """  # noqa: D301 - \b is click's mark for "do not rewrap"
