"""A package index on the loopback device that can misbehave, and wheels made by hand."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from envspec.lock.model import Artefact


class Wheel(NamedTuple):
    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def artefact(self, index: str = "pypi") -> Artefact:
        return Artefact(index, self.name, self.sha256, len(self.data))


def make_wheel(
    name: str,
    version: str,
    requires: tuple[str, ...] = (),
    tag: str = "py3-none-any",
    extra: str = "",
) -> Wheel:
    """A wheel that pip and uv accept, the same bytes each time."""
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {line}\n" for line in requires)
    metadata += f"Provides-Extra: {extra}\n" if extra else ""
    members = {
        f"{name.replace('-', '_')}.py": f"NAME = {name!r}\n",
        f"{stem}.dist-info/METADATA": metadata,
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
        f"Root-Is-Purelib: true\nTag: {tag}\n",
    }
    record = ""
    for path, text in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{path},sha256={digest.decode()},{len(text)}\n"
    members[f"{stem}.dist-info/RECORD"] = record + f"{stem}.dist-info/RECORD,,\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in members.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
    return Wheel(f"{stem}-{tag}.whl", buffer.getvalue())


class LocalIndex:
    """An index whose answers a test may bend.

    ``bend`` maps a file name or ``<project>/`` to a function that answers in place of the
    server; ``asked`` holds every path asked for; ``uploaded`` maps file names to moments, which
    only the JSON form tells.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.projects: dict[str, list[Wheel]] = {}
        self.bend: dict[str, Callable[[http.server.BaseHTTPRequestHandler], None]] = {}
        self.asked: list[str] = []
        self.hashes = True
        self.json = False
        self.uploaded: dict[str, str] = {}

    def add(self, *wheels: Wheel) -> None:
        for wheel in wheels:
            project = wheel.name.partition("-")[0].replace("_", "-").lower()
            self.projects.setdefault(project, []).append(wheel)

    def page(self, project: str) -> tuple[str, bytes]:
        wheels = self.projects[project]
        if self.json:
            files = [
                {
                    "filename": w.name,
                    "url": f"../../files/{w.name}",
                    "hashes": {"sha256": w.sha256} if self.hashes else {},
                    "size": len(w.data),
                    "requires-python": ">=3.8",
                    **({"upload-time": self.uploaded[w.name]} if w.name in self.uploaded else {}),
                }
                for w in wheels
            ]
            body = json.dumps({"meta": {"api-version": "1.1"}, "name": project, "files": files})
            return "application/vnd.pypi.simple.v1+json", body.encode()
        links = ""
        for wheel in wheels:
            href = "../../files/" + wheel.name.replace("+", "%2B")
            href += f"#sha256={wheel.sha256}" if self.hashes else ""
            links += f'<a href="{href}">{wheel.name}</a>\n'
        return "text/html", f"<!DOCTYPE html><html><body>{links}</body></html>".encode()

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = handler.path.replace("%2B", "+")
        self.asked.append(path)
        parts = path.strip("/").split("/")
        key = parts[-1] if parts[0] == "files" else parts[-1] + "/"
        if key in self.bend:
            self.bend[key](handler)
        elif parts[0] == "files":
            found = [w for ws in self.projects.values() for w in ws if w.name == parts[-1]]
            send(handler, found[0].data if found else b"", 200 if found else 404)
        elif parts[0] == "simple" and parts[-1] in self.projects:
            kind, body = self.page(parts[-1])
            send(handler, body, 200, kind)
        else:
            send(handler, b"", 404)


def send(
    handler: http.server.BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    kind: str = "application/octet-stream",
    length: int | None = None,
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    if length != -1:
        handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


@contextmanager
def serving() -> Iterator[LocalIndex]:
    """An index that answers while the block runs."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                index.answer(self)
            except OSError:  # the client went away
                self.close_connection = True

        do_HEAD = do_GET

        def log_message(self, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        index = LocalIndex(f"http://127.0.0.1:{server.server_port}/simple")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield index
        finally:
            server.shutdown()
            thread.join()
