"""The language server on stdin and stdout."""

from __future__ import annotations

import logging
import os
import sys

from envspec.lsp.features import make


def run() -> int:
    """Serve on stdin and stdout until the client says `exit`; the exit status.

    It is 0 only where `shutdown` came first, as the protocol asks.
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")
    # Messages leave by a descriptor of their own: what anything else prints would break them.
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        server = make()
        server.start_io(sys.stdin.buffer, out)
    return 0 if server.shut_down else 1
