"""Where an alias is, what pip is configured with, and how a server is asked."""

from __future__ import annotations

import base64
import http.server
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envspec.lock import pipconfig
from envspec.lock.indexes import Indexes, UnreachableError
from envspec.lock.pipconfig import PipConfig
from envspec.lock.uvindex import address_in, torch_index
from envspec.lock.web import Patience


def test_pip_configuration_by_section() -> None:
    """The environment wins over a section of a command, and that over the global one."""
    listing = (
        "global.find-links='/a /b\\n file:///c'\n"
        "install.index-url='https://one.example/simple'\n"
        "global.index-url='https://two.example/simple'\n"
        "global.extra-index-url='https://x.example/ file:///y'\n"
        ":env:.cert='/env.pem'\n"
        "global.cert='/global.pem'\n"
        "freeze.proxy='http://not.example'\n"
        "global.timeout='60'\n"
        "global.proxy=broken'\n"
        "nonsense\n"
    )
    assert pipconfig.parse(listing) == PipConfig(
        find_links=("/a", "/b", "file:///c"),
        index_url="https://one.example/simple",
        extra_index_urls=("https://x.example/", "file:///y"),
        cert="/env.pem",
        proxy="",
    )


def test_pip_is_really_asked(
    tmp_path: Path, local_index: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(f"[global]\nfind-links =\n    {tmp_path}\n    /elsewhere\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    indexes = Indexes()
    assert indexes.pip.find_links[-2:] == (str(tmp_path), "/elsewhere")
    assert tmp_path in indexes.find_links()
    assert Path("/elsewhere") not in indexes.find_links()


def test_a_broken_pip_configuration_is_none(
    tmp_path: Path, local_index: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "pip.conf"
    config.write_text("[global\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    assert Indexes().pip == PipConfig()


def test_nothing_configured(local_index: Any) -> None:
    """What the other tests here start from, as pip itself tells it."""
    assert pipconfig.read() == PipConfig()


def test_both_ways_to_pips_default_index() -> None:
    """The private import, and the public help that stands by for it, know the same address."""
    address = pipconfig._default_index_of_pip()
    assert address.startswith("https://")
    assert pipconfig._default_index_in_help() == address
    assert pipconfig.default_index() == address


def test_order_of_addresses(local_index: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    indexes = Indexes({"lab.one-two": "https://declared.example/simple/"})
    assert indexes.url("lab.one-two") == "https://declared.example/simple"
    monkeypatch.setenv("ENVSPEC_INDEX_LAB_ONE_TWO", "https://mine.example/simple")
    assert Indexes(indexes.declared).url("lab.one-two") == "https://mine.example/simple"
    monkeypatch.delenv("ENVSPEC_INDEX_PYPI")
    monkeypatch.setenv("PIP_INDEX_URL", "https://company.example/simple/")
    assert Indexes().url("pypi") == "https://company.example/simple"
    monkeypatch.delenv("PIP_INDEX_URL")
    assert Indexes().url("pypi") == pipconfig.default_index().rstrip("/")


def test_torch_index_in_uvs_answer() -> None:
    output = "torch==2.0+cpu\n    # from https://torch.example/whl/cpu\n"
    assert address_in(output, "pytorch-cpu") == "https://torch.example/whl/cpu"
    with pytest.raises(UnreachableError, match="uv got no answer"):
        address_in("", "pytorch-cpu")


def test_index_annotation_is_what_uv_writes(local_index: Any, kit: Any, tmp_path: Path) -> None:
    """The form that `address_in` reads, from the real uv."""
    from envspec.lock.uvrun import run_uv

    local_index.add(kit.wheel("torch", "1.0"))
    (tmp_path / "torch.in").write_text("torch\n")
    done = run_uv(
        ["torch.in", "--no-deps", "-q", "--emit-index-annotation"],
        tmp_path,
        PipConfig(),
        {"UV_DEFAULT_INDEX": local_index.url},
    )
    assert address_in(done.stdout, "pytorch-cpu") == local_index.url


@pytest.mark.parametrize("backend", ["auto", "none", "cpu --x", ""])
def test_no_such_torch_backend(backend: str) -> None:
    with pytest.raises(UnreachableError, match="no such torch backend"):
        torch_index(f"pytorch-{backend}", PipConfig())


def test_asked_once(local_index: Any, kit: Any) -> None:
    local_index.add(kit.wheel("lib", "1.0"))
    indexes = kit.indexes()
    for name in ("lib", "LIB", "ghost", "ghost"):
        indexes.files("pypi", name)
    assert local_index.asked == ["/simple/lib/", "/simple/ghost/"]


def test_who_does_not_answer_is_not_asked_again(local_index: Any, kit: Any) -> None:
    local_index.bend["lib/"] = lambda h: kit.send(h, b"", 503)
    indexes = kit.indexes()
    for _ in range(3):
        with pytest.raises(UnreachableError, match="HTTP 503"):
            indexes.files("pypi", "lib")
    assert len(local_index.asked) == 1 + kit.patience.retries


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b'{"files": 3}', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"\xff\xfe", "application/json"),
    ],
)
def test_pages_that_are_none(local_index: Any, kit: Any, body: bytes, kind: str) -> None:
    local_index.bend["lib/"] = lambda h: kit.send(h, body, 200, kind)
    with pytest.raises(UnreachableError, match="no known form"):
        kit.indexes().files("pypi", "lib")


def test_an_endless_page(local_index: Any, kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envspec.lock.web.MAX_PAGE", 1 << 20)

    def endless(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b" " * 65536)

    local_index.bend["lib/"] = endless
    with pytest.raises(UnreachableError, match="longer than"):
        kit.indexes().files("pypi", "lib")


def test_password_in_the_address_is_sent(local_index: Any, kit: Any) -> None:
    seen: list[str] = []

    def guarded(handler: Any) -> None:
        seen.append(handler.headers.get("Authorization", ""))
        kit.send(handler, b"", 200, "text/html")

    local_index.bend["lib/"] = guarded
    address = local_index.url.replace("://", "://user:s3cret@")
    assert kit.indexes({"lab": address}).files("lab", "lib") == ()
    assert seen == ["Basic " + base64.b64encode(b"user:s3cret").decode()]


def test_netrc_is_honoured(
    local_index: Any, kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login user password s3cret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    seen: list[str] = []

    def guarded(handler: Any) -> None:
        seen.append(handler.headers.get("Authorization", ""))
        kit.send(handler, b"", 200, "text/html")

    local_index.bend["lib/"] = guarded
    kit.indexes().files("pypi", "lib")
    assert seen == ["Basic " + base64.b64encode(b"user:s3cret").decode()]


def test_a_proxy_that_is_not_there(
    local_index: Any, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", "http://user:s3cret@127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://user:s3cret@127.0.0.1:9")
    with pytest.raises(UnreachableError) as caught:
        kit.indexes({"lab": "http://lab.invalid/simple"}).files("lab", "lib")
    assert "proxy" in caught.value.reason
    assert "s3cret" not in str(caught.value)


def test_a_name_nobody_knows(local_index: Any, kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UnreachableError, match="host name is not known"):
        kit.indexes({"lab": "http://lab.invalid/simple"}).files("lab", "lib")


@pytest.fixture
def secure(tmp_path: Path, kit: Any, local_index: Any) -> Iterator[tuple[str, Path]]:
    """A TLS server with a certificate of its own making; (address, certificate)."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if "/moved/" in self.path:
                self.send_response(302)
                self.send_header("Location", f"{local_index.url}/lib/")
                self.end_headers()
            else:
                kit.send(self, b"<a href='lib-1.0.tar.gz'>lib</a>", 200, "text/html")

        def log_message(self, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *args: object) -> None:
            """A client that refuses the certificate is what one test is about."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_port}", certificate
        finally:
            server.shutdown()
            thread.join()


def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_a_certificate_nobody_signed(
    local_index: Any, kit: Any, secure: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(monkeypatch)
    with pytest.raises(UnreachableError, match="certificate was not accepted"):
        kit.indexes({"lab": secure[0]}).files("lab", "lib")


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT"])
def test_a_certificate_the_user_trusts(
    local_index: Any,
    kit: Any,
    secure: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
) -> None:
    plain(monkeypatch)
    monkeypatch.setenv(variable, str(secure[1]))
    files = kit.indexes({"lab": secure[0]}).files("lab", "lib")
    assert [f.filename for f in files] == ["lib-1.0.tar.gz"]


def test_a_certificate_file_that_is_not_there(
    local_index: Any, kit: Any, secure: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(monkeypatch)
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    with pytest.raises(UnreachableError, match="certificate file cannot be read"):
        kit.indexes({"lab": secure[0]}).files("lab", "lib")


def test_a_way_out_of_encryption_is_refused(
    local_index: Any, kit: Any, secure: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may hold the hash we trust, so nobody on the way may write it."""
    plain(monkeypatch)
    monkeypatch.setenv("SSL_CERT_FILE", str(secure[1]))
    local_index.add(kit.wheel("lib", "1.0"))
    with pytest.raises(UnreachableError, match="without encryption"):
        kit.indexes({"lab": f"{secure[0]}/moved"}).files("lab", "lib")


def test_patience_has_sane_defaults() -> None:
    assert Patience().retries <= 3
