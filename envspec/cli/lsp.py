"""`envspec lsp`."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec

import click


@click.command("lsp")
@click.option("--stdio", is_flag=True, expose_value=False, help="Accepted, since editors pass it.")
def command() -> None:
    """Serve editors over the Language Server Protocol, on stdin and stdout.

    An editor starts this command; it is of no use in a terminal.
    """
    if find_spec("pygls") is None:
        raise click.UsageError(
            "`envspec lsp` needs pygls. Install it with `pip install 'envspec[lsp]'`."
        )
    # Nothing has to be cleaned up, and the thread that waits for stdin would keep the process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    from envspec.lsp.stdio import run

    sys.exit(run())
