"""The two output streams of a container, read from before it starts.

The SDK's own attach leaves its sockets to the garbage collector, so this is the engine's attach
call spoken directly: one request, then frames of eight bytes of header and a payload.
"""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

from envspec.build.endpoint import ANSWER_WITHIN, dial, silent
from envspec.build.tail import Tail

_HEADER = struct.Struct(">BxxxL")
_STDERR = 2
_CHUNK = 1 << 16
_LONGEST_HEAD = 1 << 16


class Attached:
    """Keeps the last ``limit`` bytes of each stream, however much is printed.

    Raises:
        DiagnosticError: E0701 where the engine does not take the call.
    """

    def __init__(self, endpoint: str, container: str, limit: int) -> None:
        self.stdout, self.stderr = Tail(limit), Tail(limit)
        self._connection = dial(endpoint, ANSWER_WITHIN)
        try:
            rest = _upgrade(self._connection, container)
            self._connection.settimeout(None)
        except OSError:
            self._connection.close()
            raise silent("the engine did not give a container's output") from None
        self._thread = threading.Thread(target=self._read, args=(rest,), daemon=True)
        self._thread.start()

    def finish(self, seconds: float) -> None:
        """Wait for the end of both streams."""
        self._thread.join(seconds)

    def __enter__(self) -> Attached:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # the engine may have closed it first
            self._connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()

    def _read(self, received: bytes) -> None:
        left = 0  # bytes of the current frame that are still to come
        tail = self.stdout
        waiting = bytearray(received)
        while True:
            while waiting:
                if left:
                    part = bytes(waiting[:left])
                    tail.add(part)
                    left -= len(part)
                    del waiting[: len(part)]
                elif len(waiting) >= _HEADER.size:
                    stream, left = _HEADER.unpack_from(waiting)
                    tail = self.stderr if stream == _STDERR else self.stdout
                    del waiting[: _HEADER.size]
                else:
                    break
            try:
                data = self._connection.recv(_CHUNK)
            except OSError:
                return  # the engine is gone; whoever waits for the container says so
            if not data:
                return
            waiting += data


def _upgrade(connection: socket.socket, container: str) -> bytes:
    """Ask for both streams; returns what came of them with the answer's head.

    Raises:
        OSError: the engine refused, or hung up.
    """
    request = (
        f"POST /containers/{container}/attach?stream=1&stdout=1&stderr=1 HTTP/1.1",
        *("Host: localhost", "Connection: Upgrade", "Upgrade: tcp", "Content-Length: 0", "", ""),
    )
    connection.sendall("\r\n".join(request).encode("ascii"))
    head = b""
    while b"\r\n\r\n" not in head:
        data = connection.recv(4096)
        if not data or len(head) > _LONGEST_HEAD:
            raise ConnectionError
        head += data
    status = head.split(b"\r\n", 1)[0].split()
    if status[1:2] not in ([b"101"], [b"200"]):
        raise ConnectionError
    return head.partition(b"\r\n\r\n")[2]
