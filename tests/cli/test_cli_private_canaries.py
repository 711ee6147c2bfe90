"""Canaries: secrets in every place that a company has them, and none of them anywhere else."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from local_index import LocalIndex, make_wheel, send, serving
from user_room import SUBSTITUTE, Room

PLACES = (
    "address-user",
    "address-password",
    "envspec-user",
    "envspec-password",
    "uv-user",
    "uv-password",
    "netrc-login",
    "netrc-password",
    "keyring-user",
    "keyring-password",
    "proxy-user",
    "proxy-password",
    "extra-index-user",
    "extra-index-password",
    "find-links-password",
    "find-links-token",
    "spec-secret",
    "redirect-token",
    "page-token",
    "ca-bundle-text",
)
C = {place: f"CaNaRy{i:02d}q{place.replace('-', '')}Zx" for i, place in enumerate(PLACES)}
UV_MAY_KEEP = {"page-token"}
"""uv's cache holds pages as an index sent them, and this one stands in a page."""


class Company:
    """Indexes that each want a login, and repeat it in their error pages once ``angry``."""

    def __init__(self, room: Room, stack: ExitStack, folder: Path) -> None:
        self.room, self.folder, self.angry = room, folder, False
        self.sent: list[str] = []
        names = ("envspec", "uv", "netrc", "keyring")
        self.indexes = {name: stack.enter_context(serving()) for name in names}
        for name, index in self.indexes.items():
            index.add(make_wheel(f"of-{name}", "1.0"))
        room.index.add(make_wheel("tiny", "1.0"))
        for index in (room.index, *self.indexes.values()):
            index.hashes = False
        for name, login in self.logins().items():
            self._guard(self.indexes.get(name, room.index), login)
        self._signed()
        self._settings()

    def logins(self) -> dict[str, tuple[str, str]]:
        found = {n: (C[f"{n}-user"], C[f"{n}-password"]) for n in ("envspec", "uv", "keyring")}
        found["netrc"] = (C["netrc-login"], C["netrc-password"])
        found["pypi"] = (C["address-user"], C["address-password"])
        return found

    def _guard(self, index: LocalIndex, login: tuple[str, str]) -> None:
        right = "Basic " + base64.b64encode(":".join(login).encode()).decode()
        plain = index.answer

        def answer(handler: Any) -> None:
            sent = handler.headers.get("Authorization", "")
            if self.angry:
                echo = f'{{"title": "no {sent} {login}", "detail": "{sent}"}}'.encode()
                send(handler, echo, 403, "application/problem+json")
            elif sent != right:
                handler.send_response(401)
                handler.send_header("WWW-Authenticate", 'Basic realm="company"')
                handler.send_header("Content-Length", "0")
                handler.end_headers()
            else:
                self.sent.append(login[0])
                handler.path = handler.path.partition("?")[0]
                plain(handler)

        index.answer = answer  # type: ignore[method-assign]

    def _signed(self) -> None:
        """A file that a page names by a signed address, and that redirects to another one."""
        index = self.indexes["envspec"]
        wheel = index.projects["of-envspec"][0]
        href = f"../../files/{wheel.name}?sig={C['page-token']}"
        page = f'<a href="{href}">{wheel.name}</a>'
        index.bend["of-envspec/"] = lambda h: send(h, page.encode(), 200, "text/html")

        def moved(handler: Any) -> None:
            handler.send_response(302)
            handler.send_header(
                "Location", f"/files/x/../{wheel.name}.real?t={C['redirect-token']}"
            )
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        index.bend[wheel.name] = moved
        index.bend[f"{wheel.name}.real"] = lambda h: send(h, wheel.data)

    def _settings(self) -> None:
        room, folder = self.room, self.folder
        folder.mkdir()
        (folder / "netrc").write_text(
            f"machine localhost login {C['netrc-login']} password {C['netrc-password']}\n"
        )
        (folder / "netrc").chmod(0o600)
        (folder / "bin").mkdir()
        stub = folder / "bin" / "keyring"
        stub.write_text(
            "#!/bin/sh\n"
            f'case "$*" in *:{self.port("keyring")}*) '
            f"printf '%s\\n%s\\n' {C['keyring-user']} {C['keyring-password']};; *) exit 1;; esac\n"
        )
        stub.chmod(0o755)
        host = room.index.url.removeprefix("http://")
        extra = f"http://{C['extra-index-user']}:{C['extra-index-password']}@{host}"
        links = f"http://u:{C['find-links-password']}@127.0.0.1:9/l?t={C['find-links-token']}"
        (folder / "pip.conf").write_text(
            f"[global]\nextra-index-url = {extra}\nfind-links = {links}\n"
            "keyring-provider = subprocess\n"
        )
        import certifi

        bundle = folder / "ca.pem"
        text = Path(certifi.where()).read_text("utf-8")
        bundle.write_text(f"# {C['ca-bundle-text']}\n{text}")
        proxy = f"http://{C['proxy-user']}:{C['proxy-password']}@127.0.0.1:9"
        login = f"{C['address-user']}:{C['address-password']}"
        room.variables |= {
            "ENVSPEC_INDEX_PYPI": f"http://{login}@{host}",
            "ENVSPEC_INDEX_ENVSPEC_USERNAME": C["envspec-user"],
            "ENVSPEC_INDEX_ENVSPEC_PASSWORD": C["envspec-password"],
            "UV_INDEX_UV_USERNAME": C["uv-user"],
            "UV_INDEX_UV_PASSWORD": C["uv-password"],
            "NETRC": str(folder / "netrc"),
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PIP_CONFIG_FILE": str(folder / "pip.conf"),
            "HTTP_PROXY": proxy,
            "http_proxy": proxy,
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "SSL_CERT_FILE": str(bundle),
            "HF_TOKEN": C["spec-secret"],
        }

    def port(self, name: str) -> str:
        return self.indexes[name].url.removesuffix("/simple").rpartition(":")[2]

    def spec(self) -> None:
        lines = [f"  of-{name} from {name}" for name in self.indexes]
        more = ['secret HF_TOKEN because "the model is gated"']
        for name, index in self.indexes.items():
            url = index.url.replace("127.0.0.1", "localhost") if name == "netrc" else index.url
            more.append(f'index {name} "{url}"')
        self.room.write("tiny >=1\n" + "\n".join(lines), more="\n".join(more))


@pytest.fixture
def company(room: Room, tmp_path: Path) -> Iterator[Company]:
    with ExitStack() as stack:
        found = Company(room, stack, tmp_path / "of the user")
        found.spec()
        yield found


def forms(secret: str) -> set[bytes]:
    """A secret as it is, in an address, and within the header of each login it belongs to."""
    pairs = [
        ("address-user", "address-password"),
        ("envspec-user", "envspec-password"),
        ("uv-user", "uv-password"),
        ("netrc-login", "netrc-password"),
        ("keyring-user", "keyring-password"),
        ("proxy-user", "proxy-password"),
        ("extra-index-user", "extra-index-password"),
    ]
    found = {secret.encode(), quote(secret, safe="").encode(), base64.b64encode(secret.encode())}
    found |= {secret.lower().encode()}
    for pair in pairs:
        if secret in (C[pair[0]], C[pair[1]]):
            found.add(base64.b64encode(f"{C[pair[0]]}:{C[pair[1]]}".encode()))
    return found


def hits(where: str, data: bytes, but: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
    return [
        f"{place} in {where}"
        for place, secret in C.items()
        if place not in but and any(form in data for form in forms(secret))
    ]


def in_files(room: Room) -> list[str]:
    found = []
    uv = room.cache / "uv"
    for top in (room.home, room.cache, room.temporary):
        for path in sorted(top.rglob("*")):
            but = UV_MAY_KEEP if path.is_relative_to(uv) else set()
            found += hits(str(path.relative_to(top)), str(path.relative_to(top)).encode(), but)
            if path.is_file() and not path.is_symlink():
                found += hits(str(path.relative_to(top)), path.read_bytes(), but)
    return found


@contextmanager
def watched() -> Iterator[list[str]]:
    """Argument lists of all processes, looked at all the time."""
    found: list[str] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.01):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    words = path.read_bytes()
                except OSError:
                    continue
                if b"CaNaRy" in words:
                    found.append(words.replace(b"\0", b" ")[:200].decode("utf-8", "replace"))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


GOOD = (
    ("lock", "--resolver", "pip-tools"),
    ("lock", "--upgrade", "--resolver", "uv"),
    ("check",),
    ("compile", "--target", "all"),
    ("fetch", "-o", "wheels"),
    ("export", "--format", "pylock", "-o", "pylock.toml"),
    ("export", "--format", "requirements", "-o", "requirements.lock"),
    ("export", "--format", "cyclonedx", "-o", "sbom.json"),
    ("tree",),
    ("why", "tiny"),
    ("diff", "spec.lock", "spec.lock"),
    ("doctor",),
    ("doctor", "--format", "json"),
    ("verify", "--engine", "local", "--report", "report.json"),
)
BAD = (
    ("lock", "--upgrade"),
    ("lock", "--upgrade", "--resolver", "pip-tools"),
    ("fetch", "-o", "more"),
    ("verify", "--engine", "local"),
    ("doctor",),
)


@pytest.mark.xdist_group("canaries")  # each looks at all processes of the machine
def test_20_canaries_0_found(company: Company) -> None:
    """Every command that succeeds and every one that fails, in both formats: text and data."""
    assert len(set(C.values())) == 20
    room, found = company.room, []
    with watched() as arguments:
        for argv in GOOD:
            done = room.run(*argv)
            found += hits(f"output of {argv}", (done.stdout + done.stderr).encode())
            if argv[0] not in {"doctor", "verify"}:  # these judge this machine besides
                assert done.returncode == 0, (argv, done.stderr)
        assert (room.home / "report.json").is_file()
        found += in_files(room)
        assert set(company.sent) == {login[0] for login in company.logins().values()}
        # From now on: nothing is here, and every index refuses and repeats what it was sent.
        company.angry = True
        import shutil

        shutil.rmtree(room.cache)
        shutil.rmtree(room.home / "wheels")
        for argv in BAD:
            for more in ((), ("--format", "json")):
                done = room.run(*argv, *more)
                assert done.returncode != 0, argv
                found += hits(f"output of {argv} {more}", (done.stdout + done.stderr).encode())
        (room.home / "spec.lock").unlink()
        for argv in (("lock",), ("compile",), ("lock", "--resolver", "pip-tools")):
            done = room.run(*argv)
            assert "error[E0416]" in done.stderr, done.stderr
            found += hits(f"output of {argv}", (done.stdout + done.stderr).encode())
        found += in_files(room)
    assert found == []
    assert arguments == []


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
def test_a_file_named_by_a_password_gets_into_no_lock(company: Company, resolver: str) -> None:
    """pip-tools is handed our choice among the others; uv reads the page itself: E0417."""
    room, index = company.room, company.indexes["uv"]
    echo = make_wheel("of-uv", f"1.0+{C['uv-password'].lower()}")
    index.add(echo)
    done = room.run("lock", "--resolver", resolver)
    assert hits("output", (done.stdout + done.stderr).encode()) == []
    assert ("error[E0417]" in done.stderr) == (resolver == "uv"), done.stderr
    assert [h for h in in_files(room) if " in uv/" not in h] == []


@pytest.mark.xdist_group("canaries")  # each looks at all processes of the machine
def test_a_leak_would_be_found(company: Company) -> None:
    """The search sees each canary in a file, in each form, and one in an argument list."""
    import subprocess

    room = company.room
    for place, secret in C.items():
        for form in forms(secret):
            (room.home / "leak").write_bytes(b"x" + form + b"y")
            assert f"{place} in leak" in in_files(room), (place, form)
    (room.home / "leak").unlink()
    with watched() as arguments:
        subprocess.run(["sh", "-c", "sleep 0.5; true", C["proxy-user"]], check=True)
    assert arguments


@pytest.mark.xdist_group("canaries")
@pytest.mark.engine
def test_no_canary_in_an_image(docker_room: Room, tmp_path: Path) -> None:
    """Neither in its configuration nor in its history, nor in any byte of its layers."""
    import subprocess

    with ExitStack() as stack:
        company = Company(docker_room, stack, tmp_path / "of the user")
        company.spec()
        with watched() as arguments:
            done = docker_room.run("verify", "--engine", "docker", "--base-from", SUBSTITUTE)
        found = hits("output", (done.stdout + done.stderr).encode())
        assert (docker_room.home / "report.json").is_file(), done.stderr
        found += in_files(docker_room)
        name = f"envspec/{docker_room.project}"
        listed = _docker("image", "ls", "--quiet", "--no-trunc", name).split()
        assert listed
        for image in listed:
            found += hits("config", _docker("image", "inspect", image.decode()))
            found += hits("history", _docker("history", "--no-trunc", image.decode()))
            # Layers may be stored compressed, so the files are looked at as a container has them.
            made = _docker("create", image.decode(), "true").decode().strip()
            try:
                for words in (["image", "save", image.decode()], ["export", made]):
                    with subprocess.Popen(["docker", *words], stdout=subprocess.PIPE) as run:
                        assert run.stdout is not None
                        before = b""
                        while chunk := run.stdout.read(1 << 22):
                            found += hits(words[0], before + chunk)
                            before = chunk[-200:]
                    assert run.returncode == 0
            finally:
                _docker("rm", "--force", made)
        assert found == []
        assert arguments == []


def _docker(*words: str) -> bytes:
    import subprocess

    return subprocess.run(["docker", *words], capture_output=True, check=True).stdout
