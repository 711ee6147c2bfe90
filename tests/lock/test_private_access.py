"""Private indexes: every source of credentials, with both resolvers, for the lock and the files."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envspec.diagnostics import DiagnosticError
from envspec.lock import access
from envspec.lock.access import Kept, Login
from envspec.lock.places import Locations
from envspec.lock.request import PackageRequest, Request
from envspec.lock.resolve import resolve
from envspec.lock.store import Store
from envspec.source import SourceFile, Span

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
USER, PASSWORD = "canary-user-x7", "canary/pass:word@x7"
HEADER = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

Setter = Callable[[pytest.MonkeyPatch, Path, str], None]


def guard(index: Any, kit: Any) -> list[str]:
    """From now on the index wants the one login; headers that were refused."""
    wrong: list[str] = []
    plain = index.answer

    def answer(handler: Any) -> None:
        sent = handler.headers.get("Authorization", "")
        if sent == HEADER:
            plain(handler)
        else:
            wrong.append(sent)
            handler.send_response(401)
            handler.send_header("WWW-Authenticate", 'Basic realm="lab"')
            handler.send_header("Content-Length", "0")
            handler.end_headers()

    index.answer = answer
    return wrong


def in_address(patch: pytest.MonkeyPatch, folder: Path, alias: str) -> None:
    import os

    address = os.environ[f"ENVSPEC_INDEX_{alias}"]
    patch.setenv(f"ENVSPEC_INDEX_{alias}", access.joined(address, Login(USER, PASSWORD)))


def in_variables(patch: pytest.MonkeyPatch, folder: Path, alias: str) -> None:
    patch.setenv(f"ENVSPEC_INDEX_{alias}_USERNAME", USER)
    patch.setenv(f"ENVSPEC_INDEX_{alias}_PASSWORD", PASSWORD)


def in_uvs_variables(patch: pytest.MonkeyPatch, folder: Path, alias: str) -> None:
    patch.setenv(f"UV_INDEX_{alias}_USERNAME", USER)
    patch.setenv(f"UV_INDEX_{alias}_PASSWORD", PASSWORD)


def in_netrc(patch: pytest.MonkeyPatch, folder: Path, alias: str) -> None:
    path = folder / "netrc"
    path.write_text(f"machine 127.0.0.1 login {USER} password {PASSWORD}\n")
    path.chmod(0o600)
    patch.setenv("NETRC", str(path))


def in_keyring(patch: pytest.MonkeyPatch, folder: Path, alias: str) -> None:
    import os

    programs = folder / "bin"
    programs.mkdir()
    stub = programs / "keyring"
    stub.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {folder}/keyring.argv\n'
        'test "$1 $2 $3" = "--mode creds get" || exit 1\n'
        f"printf '%s\\n%s\\n' '{USER}' '{PASSWORD}'\n"
    )
    stub.chmod(0o755)
    patch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    patch.setenv("UV_KEYRING_PROVIDER", "subprocess")


SOURCES = [in_address, in_variables, in_uvs_variables, in_netrc, in_keyring]


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.__name__)
@pytest.mark.parametrize("alias", ["PYPI", "LAB"])
def test_lock_and_fetch_with_credentials(
    local_index: Any,
    kit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resolver: str,
    source: Setter,
    alias: str,
) -> None:
    """The index tells no hash, so the lock's digest has to be let in as well."""
    app, lib = kit.wheel("app", "1.0", ("lib",)), kit.wheel("lib", "1.0")
    local_index.add(app, lib)
    local_index.hashes = False
    monkeypatch.setenv("ENVSPEC_INDEX_LAB", local_index.url)
    guard(local_index, kit)
    monkeypatch.setenv("NETRC", "/dev/null")
    source(monkeypatch, tmp_path, alias)
    if alias == "LAB":  # what both have to do with: the default index lists nothing of these
        in_variables(monkeypatch, tmp_path, "PYPI")
    index = "lab" if alias == "LAB" else ""
    lines = tuple(PackageRequest(n, "", index, span=Span(0, 1)) for n in ("app", "lib"))
    request = Request(HERE, "linux/amd64", "2.28", lines, {}, source=SourceFile("s", "  "))
    indexes = kit.indexes()
    done = resolve(request, resolver, kit.notes(), indexes)
    assert [p.artefact.sha256 for p in done.packages] == [app.sha256, lib.sha256]
    store = Store(tmp_path / "store")
    for package in done.packages:
        assert store.fetch(package.artefact, Locations(kit.indexes()), kit.notes()).is_file()
    assert PASSWORD not in repr(done) + repr(indexes.login(alias.lower()))
    if source is in_keyring:
        asked = (tmp_path / "keyring.argv").read_text("utf-8")
        assert USER not in asked
        assert PASSWORD not in asked


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize("wrong", [True, False])
def test_e0416_says_where_it_looked(
    local_index: Any,
    kit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resolver: str,
    wrong: bool,
) -> None:
    local_index.add(kit.wheel("app", "1.0"))
    guard(local_index, kit)
    monkeypatch.setenv("NETRC", "/dev/null")
    monkeypatch.delenv("UV_KEYRING_PROVIDER", raising=False)
    if wrong:
        monkeypatch.setenv("ENVSPEC_INDEX_PYPI_USERNAME", "somebody-else")
        monkeypatch.setenv("ENVSPEC_INDEX_PYPI_PASSWORD", "another-secret")
    lines = (PackageRequest("app", "", "", span=Span(0, 1)),)
    request = Request(HERE, "linux/amd64", "2.28", lines, {}, source=SourceFile("s", "  "))
    with pytest.raises(DiagnosticError) as caught:
        resolve(request, resolver, kit.notes(), kit.indexes())
    (found,) = caught.value.diagnostics
    assert found.code == "E0416"
    assert found.title == "the index `pypi` refused access with HTTP 401"
    assert "`ENVSPEC_INDEX_PYPI_USERNAME` and `ENVSPEC_INDEX_PYPI_PASSWORD`" in found.cause
    if wrong:
        assert found.cause.startswith("credentials from `ENVSPEC_INDEX_PYPI_USERNAME`")
    else:
        assert found.cause.startswith("no credentials were found; looked for them in: the address")
        assert found.cause.endswith("the netrc file")
    assert "another-secret" not in repr(found)
    assert "somebody-else" not in repr(found)
    assert local_index.url not in repr(found)


def test_credentials_go_to_their_own_host_only() -> None:
    kept = Kept()
    kept.add("https://a.example/one", Login("u", "first"))
    kept.add("https://a.example/two", Login("u", "second"))
    said = [
        ("https://a.example/one/lib/", "first"),
        ("https://a.example/two/lib/", "second"),
        ("https://a.example:443/two/", "first"),  # not below, but the host: the first
        ("https://a.example/files/x.whl", "first"),
    ]
    for address, password in said:
        login = kept.login(address)
        assert login is not None
        assert login.password == password
    for other in ("http://a.example/one/", "https://b.example/one/", "https://a.example:8443/one"):
        assert kept.login(other) is None


def test_a_redirect_to_another_host_gets_no_credentials(
    local_index: Any, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As signed addresses do it: the file is elsewhere."""
    from local_index import serving

    monkeypatch.setenv("NETRC", "/dev/null")
    in_variables(monkeypatch, Path(), "PYPI")
    app = kit.wheel("app", "1.0")
    local_index.add(app)
    seen: list[str | None] = []
    with serving() as other:
        other.add(app)
        plain = other.answer

        def answer(handler: Any) -> None:
            seen.append(handler.headers.get("Authorization"))
            handler.path = handler.path.partition("?")[0]
            plain(handler)

        other.answer = answer  # type: ignore[method-assign]

        def moved(handler: Any) -> None:
            handler.send_response(302)
            handler.send_header("Location", f"{other.url[:-7]}/files/{app.name}?sig=CANARY")
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        local_index.bend[app.name] = moved
        guarded = guard(local_index, kit)
        indexes = kit.indexes()
        assert indexes.files("pypi", "app")
        with indexes.client().stream(f"{local_index.url[:-7]}/files/{app.name}") as (_, chunks):
            assert b"".join(chunks) == app.data
    assert seen == [None]
    assert guarded == []


@pytest.mark.parametrize(
    "form",
    [PASSWORD, HEADER.removeprefix("Basic "), "canary%2Fpass%3Aword%40x7"],
    ids=["plain", "header", "quoted"],
)
def test_masked_in_every_form(form: str) -> None:
    kept = Kept()
    kept.add("https://a.example/one", Login(USER, PASSWORD))
    assert form not in kept.masked(f"the server says: {form}!")
    assert kept.repeats(f"app-1.0+{form}-py3-none-any.whl")
    assert not kept.repeats("app-1.0-py3-none-any.whl")


def test_a_file_named_by_a_password_is_not_listed(
    local_index: Any, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVSPEC_INDEX_PYPI_USERNAME", "u")
    monkeypatch.setenv("ENVSPEC_INDEX_PYPI_PASSWORD", "canarypassword")
    local_index.add(kit.wheel("app", "1.0"), kit.wheel("app", "1.0+canarypassword"))
    assert [f.filename for f in kit.indexes().files("pypi", "app")] == ["app-1.0-py3-none-any.whl"]
