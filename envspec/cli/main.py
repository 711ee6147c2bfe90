"""Entry point. Signals are looked after before anything slow is imported, and until the end."""

from __future__ import annotations

import sys

from envspec.cli.deaf import deaf
from envspec.interrupt import terminable


def main() -> None:
    """Run the command line. Ctrl-C and SIGTERM end it with status 1 and E0901, wherever they
    come; a failure of envspec itself says where to look and exits 3."""
    try:
        with terminable():
            from envspec.cli.verbs import cli

            cli(prog_name="envspec")
    except KeyboardInterrupt:
        deaf()
        from envspec.cli import common

        common.stopped("spec.env", common.asked_form())
    except OSError as error:
        from envspec.cli import common

        common.unwritten(error)
        _crashed()
    except Exception:
        _crashed()
    finally:
        deaf()  # all is said: the interpreter's own end is not to be torn


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
