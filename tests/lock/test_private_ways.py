"""The way to an index: proxies, certificates of a private authority, mirrors."""

from __future__ import annotations

import http.server
import shutil
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from local_index import LocalIndex, serving

from envspec.diagnostics import DiagnosticError
from envspec.lock.indexes import Indexes, UnreachableError
from envspec.lock.places import Locations
from envspec.lock.request import PackageRequest, Request
from envspec.lock.resolve import resolve
from envspec.lock.store import Store
from envspec.source import SourceFile, Span

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
HOST = "127.77.0.1"
"""Nobody listens there: whoever gets an answer got it through the proxy. pip trusts it as it does
localhost, and would ask no other host without encryption."""
VARIABLES = [f(f"{s}_PROXY") for s in ("HTTP", "HTTPS", "ALL", "NO") for f in (str, str.lower)]


class Proxy:
    """A forward proxy that knows where `HOST` is, and keeps what it was asked."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[str] = []
        self.login: list[str] = []
        self.refuse = 0


@contextmanager
def proxying(index: LocalIndex) -> Iterator[Proxy]:
    home = index.url.removesuffix("/simple")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            proxy.asked.append(self.path)
            proxy.login.append(self.headers.get("Proxy-Authorization", ""))
            status, kind, body = proxy.refuse, "text/plain", b""
            if not proxy.refuse:
                there = home + self.path.removeprefix(f"http://{HOST}")
                opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
                try:
                    with opener.open(there) as got:
                        status, kind, body = 200, got.headers["Content-Type"], got.read()
                except urllib.error.HTTPError as error:
                    status = error.code
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        proxy = Proxy(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def proxy(local_index: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ENVSPEC_INDEX_PYPI", f"http://{HOST}/simple")
    monkeypatch.setenv("NETRC", "/dev/null")
    with proxying(local_index) as found:
        yield found


def one(name: str = "app") -> Request:
    lines = (PackageRequest(name, "", "", span=Span(0, 1)),)
    return Request(HERE, "linux/amd64", "2.28", lines, {}, source=SourceFile("s", "  "))


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "PIP_PROXY"])
def test_only_through_the_proxy(
    local_index: Any,
    proxy: Proxy,
    kit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resolver: str,
    variable: str,
) -> None:
    """Our own requests, uv and pip: each of them, or there is no answer."""
    app = kit.wheel("app", "1.0")
    local_index.add(app)
    monkeypatch.setenv(variable, f"http://canary-user:canary-pass@127.0.0.1:{proxy.port}")
    done = resolve(one(), resolver, kit.notes(), kit.indexes())
    by_resolver = len(proxy.asked)
    assert by_resolver >= 2  # the resolver, and the question about another index or file
    assert done.packages[0].artefact == app.artefact()
    Store(tmp_path / "store").fetch(app.artefact(), Locations(kit.indexes()), kit.notes())
    assert len(proxy.asked) > by_resolver
    assert all(proxy.login), "credentials of the proxy were not sent"


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize("exempt", ["NO_PROXY", "no_proxy"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "PIP_PROXY"])
def test_hosts_in_no_proxy_are_asked_without(
    local_index: Any,
    proxy: Proxy,
    kit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resolver: str,
    exempt: str,
    variable: str,
) -> None:
    app = kit.wheel("app", "1.0")
    local_index.add(app)
    monkeypatch.setenv("ENVSPEC_INDEX_PYPI", local_index.url)
    monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv(exempt, "127.0.0.1")
    resolve(one(), resolver, kit.notes(), kit.indexes())
    Store(tmp_path / "store").fetch(app.artefact(), Locations(kit.indexes()), kit.notes())
    assert proxy.asked == []


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize("trouble", ["nobody there", "407", "403 of the index"])
def test_a_proxy_that_fails_is_named_without_its_password(
    local_index: Any,
    proxy: Proxy,
    kit: Any,
    monkeypatch: pytest.MonkeyPatch,
    resolver: str,
    trouble: str,
) -> None:
    port = 9 if trouble == "nobody there" else proxy.port
    proxy.refuse = 407 if trouble == "407" else 403
    monkeypatch.setenv("HTTP_PROXY", f"http://canary-user:canary-pass@127.0.0.1:{port}")
    with pytest.raises(DiagnosticError) as caught:
        resolve(one(), resolver, kit.notes(), kit.indexes())
    (found,) = caught.value.diagnostics
    assert found.code == ("E0416" if "403" in trouble else "E0501")
    if found.code == "E0501":
        assert f"the proxy `http://127.0.0.1:{port}`" in found.cause
    assert "canary" not in repr(found)


# --- certificates ------------------------------------------------------------------------------


@pytest.fixture
def secure(tmp_path: Path, local_index: LocalIndex) -> Iterator[tuple[str, Path]]:
    """The index behind TLS, with a certificate of an authority made here; (address, its file)."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path / "ca"
    folder.mkdir()

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Company"),
        *("-keyout", "ca.key", "-out", "ca.pem", "-addext", "keyUsage=keyCertSign"),
    )
    openssl(
        *("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"),
        *("-keyout", "key.pem", "-out", "request.pem"),
    )
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl(
        *("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2"),
        *("-CAcreateserial", "-extfile", "names", "-out", "cert.pem"),
    )

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            local_index.answer(self)

        do_HEAD = do_GET

        def log_message(self, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: object) -> None:
            """A client that refuses the certificate is what one test is about."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_port}/simple", folder / "ca.pem"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize(
    "setting", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "pip.conf", ""]
)
def test_an_authority_of_the_user(
    local_index: Any,
    secure: tuple[str, Path],
    kit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resolver: str,
    setting: str,
) -> None:
    """Every way to name it holds for our own requests, for uv and for pip; without, none."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    app = kit.wheel("app", "1.0")
    local_index.add(app)
    monkeypatch.setenv("ENVSPEC_INDEX_PYPI", secure[0])
    if setting == "pip.conf":
        (tmp_path / "pip.conf").write_text(f"[global]\ncert = {secure[1]}\n")
        monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    elif setting:
        monkeypatch.setenv(setting, str(secure[1]))
    if not setting:
        with pytest.raises(DiagnosticError) as caught:
            resolve(one(), resolver, kit.notes(), kit.indexes())
        assert "certificate was not accepted" in caught.value.diagnostics[0].cause
        return
    done = resolve(one(), resolver, kit.notes(), kit.indexes())
    assert done.packages[0].artefact == app.artefact()
    Store(tmp_path / "store").fetch(app.artefact(), Locations(kit.indexes()), kit.notes())


# --- mirrors -----------------------------------------------------------------------------------


@pytest.fixture
def mirror() -> Iterator[LocalIndex]:
    with serving() as index:
        yield index


def mirrored(kit: Any) -> Indexes:
    return Indexes(None, kit.patience, [("campus", "pypi"), ("attic", "lab")])


def test_a_mirror_is_asked_first(
    local_index: Any, mirror: LocalIndex, kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = kit.wheel("app", "1.0")
    mirror.add(app)
    monkeypatch.setenv("ENVSPEC_MIRROR_CAMPUS", mirror.url)
    Store(tmp_path).fetch(app.artefact(), Locations(mirrored(kit)), kit.notes())
    assert local_index.asked == []


def test_a_mirror_without_an_address_is_skipped_and_that_is_said(
    local_index: Any, kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENVSPEC_MIRROR_CAMPUS", raising=False)
    app = kit.wheel("app", "1.0")
    local_index.add(app)
    notes = kit.notes()
    Store(tmp_path).fetch(app.artefact(), Locations(mirrored(kit)), notes)
    assert notes.lines == ["the mirror `campus` is skipped: ENVSPEC_MIRROR_CAMPUS is not set"]


def test_another_file_on_a_mirror_is_refused_and_the_index_asked(
    local_index: Any, mirror: LocalIndex, kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, other = kit.wheel("app", "1.0"), kit.wheel("app", "1.0", ("evil",))
    local_index.add(app)
    mirror.add(other)
    monkeypatch.setenv("ENVSPEC_MIRROR_CAMPUS", mirror.url)
    notes, store = kit.notes(), Store(tmp_path)
    assert store.fetch(app.artefact(), Locations(mirrored(kit)), notes).read_bytes() == app.data
    assert notes.lines == [f"{app.name} from the mirror `campus` has another hash: set aside"]
    assert [p.read_bytes() for p in (tmp_path / "rejected").iterdir()] == [other.data]
    local_index.projects.clear()
    with pytest.raises(DiagnosticError) as caught:
        Store(tmp_path / "2").fetch(app.artefact(), Locations(mirrored(kit)), kit.notes())
    assert [d.code for d in caught.value.diagnostics] == ["E0502"]


@pytest.mark.parametrize("trouble", ["page", "file", "401", "nobody", "no address"])
def test_a_mirror_in_trouble_is_passed_over(
    local_index: Any,
    mirror: LocalIndex,
    kit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
) -> None:
    app = kit.wheel("app", "1.0")
    local_index.add(app)
    mirror.add(app)
    address = {"nobody": "http://127.0.0.1:9/simple", "no address": "ftp://x"}.get(trouble)
    monkeypatch.setenv("ENVSPEC_MIRROR_CAMPUS", address or mirror.url)
    key, status = {"page": ("app/", 500), "file": (app.name, 500)}.get(trouble, ("app/", 401))
    if address is None:
        mirror.bend[key] = lambda h: kit.send(h, b"", status)
    path = Store(tmp_path).fetch(app.artefact(), Locations(mirrored(kit)), kit.notes())
    assert path.read_bytes() == app.data
    local_index.projects.clear()
    with pytest.raises(DiagnosticError) as caught:
        Store(tmp_path / "2").fetch(app.artefact(), Locations(mirrored(kit)), kit.notes())
    (found,) = caught.value.diagnostics
    assert found.code == "E0503"
    assert "the mirror `campus`: " in found.cause
    assert found.hint.endswith("or run `envspec lock -P app`")


def test_a_mirror_decides_no_lock(
    local_index: Any, mirror: LocalIndex, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_index.add(kit.wheel("app", "1.0"))
    mirror.add(kit.wheel("app", "9.0"))
    monkeypatch.setenv("ENVSPEC_MIRROR_CAMPUS", mirror.url)
    for resolver in ("uv", "pip-tools"):
        done = resolve(one(), resolver, kit.notes(), mirrored(kit))
        assert done.packages[0].version == "1.0"
    assert mirror.asked == []


def test_a_yanked_file_is_fetched_by_its_hash(local_index: Any, kit: Any, tmp_path: Path) -> None:
    app = kit.wheel("app", "1.0")
    local_index.add(app)
    page = f'<a href="../../files/{app.name}" data-yanked="broken">{app.name}</a>'.encode()
    local_index.bend["app/"] = lambda h: kit.send(h, page, 200, "text/html")
    assert Store(tmp_path).fetch(app.artefact(), Locations(kit.indexes()), kit.notes()).is_file()


def test_a_project_that_is_none_of_the_mirrors(kit: Any) -> None:
    with pytest.raises(UnreachableError, match="neither a web address nor a folder"):
        mirrored(kit).on_mirror("campus", "app")
