"""Entry point. Signals are looked after before anything slow is imported, and until the end."""

from __future__ import annotations

import signal
import sys

from envspec.build.interrupt import terminable


def main() -> None:
    """Run the command line. Ctrl-C and SIGTERM end it with status 1 and E0901, wherever they
    come; a failure of envspec itself says where to look and exits 3."""
    try:
        with terminable():
            from envspec.cli.verbs import cli

            cli(prog_name="envspec")
    except KeyboardInterrupt:
        _deaf()
        from envspec.cli import common

        common.stopped("spec.env", common.JSON if "json" in sys.argv else common.TEXT)
    except Exception:
        _crashed()
    finally:
        _deaf()  # all is said: the interpreter's own end is not to be torn


def _deaf() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _crashed() -> None:
    import platform
    import traceback

    from envspec import __version__

    traceback.print_exc()
    where = f"envspec {__version__}, Python {platform.python_version()}, {platform.platform()}"
    sys.stderr.write(
        f"\nThis is a bug in envspec. Please report it with the lines above.\n{where}\n"
    )
    sys.exit(3)
