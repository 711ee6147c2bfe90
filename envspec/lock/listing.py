"""What an index says of a project: the simple API as JSON (PEP 691) and as HTML (PEP 503)."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from envspec.names import normalise

ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.1"
)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", re.ASCII)  # PEP 700


class IndexFile(NamedTuple):
    """A file an index offers. ``sha256`` is empty and ``size`` 0 where the index did not say, and
    so is ``uploaded``, a moment of the form 2026-01-31T12:00:00.000000Z."""

    filename: str
    url: str
    sha256: str
    size: int
    requires_python: str
    yanked: bool
    uploaded: str = ""


def safe_name(filename: str) -> bool:
    """True for a plain file name: no folder, no option, nothing that is not printable."""
    return (
        0 < len(filename) <= 255
        and filename.isprintable()
        and not filename.startswith(("-", ".."))
        and filename != "."
        and not set(filename) & {"/", "\\"}
    )


def local_path(address: str) -> Path | None:
    """The path of a ``file:`` URL or of a plain path; None for anything on a network."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    if "://" in address:
        return None
    return Path(address).expanduser()


def parse(body: bytes, content_type: str, address: str) -> tuple[IndexFile, ...]:
    """Files of a project page, in the page's order. Entries with unsafe names are left out.

    Raises:
        ValueError: the page is neither form of the simple API.
    """
    if "json" in content_type:
        return _parse_json(body, address)
    return _parse_html(body.decode("utf-8", "replace"), address)


def read_folder(folder: Path) -> tuple[IndexFile, ...]:
    """Files of a local folder, or of the ``index.html`` in it, sorted by name."""
    page = folder if folder.suffix in {".html", ".htm"} else folder / "index.html"
    if page.is_file():
        base = page.absolute().as_uri()
        return _parse_html(page.read_text("utf-8", "replace"), base)
    return tuple(
        IndexFile(path.name, path.absolute().as_uri(), "", path.stat().st_size, "", False)
        for path in sorted(folder.iterdir())
        if path.is_file() and safe_name(path.name)
    )


def _parse_json(body: bytes, address: str) -> tuple[IndexFile, ...]:
    try:
        entries = json.loads(body)["files"]
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError("no list of files") from error
    if not isinstance(entries, list):
        raise ValueError("no list of files")  # noqa: TRY004  (content, not a caller's mistake)
    files = (_json_file(entry, address) for entry in entries if isinstance(entry, dict))
    return tuple(file for file in files if file is not None)


def _json_file(entry: dict[str, Any], address: str) -> IndexFile | None:
    name, url, hashes = entry.get("filename"), entry.get("url"), entry.get("hashes")
    if not isinstance(name, str) or not isinstance(url, str) or not safe_name(name):
        return None
    try:
        url = urljoin(address, url)
    except ValueError:
        return None
    size, python = entry.get("size"), entry.get("requires-python")
    sha256 = hashes.get("sha256") if isinstance(hashes, dict) else None
    moment = entry.get("upload-time")
    return IndexFile(
        filename=name,
        url=url,
        sha256=_sha256(sha256),
        size=size if type(size) is int and size > 0 else 0,
        requires_python=python if isinstance(python, str) else "",
        yanked=bool(entry.get("yanked")),
        uploaded=moment if isinstance(moment, str) and _MOMENT.fullmatch(moment) else "",
    )


def _sha256(value: object) -> str:
    text = value.lower() if isinstance(value, str) else ""
    return text if _SHA256.fullmatch(text) else ""


class _Anchors(HTMLParser):
    """Collects the links of a page, and the page's base."""

    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base = address
        self.links: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append(dict(attrs))
        elif tag == "base":
            self.base = urljoin(self.base, dict(attrs).get("href") or "")


def _parse_html(text: str, address: str) -> tuple[IndexFile, ...]:
    reader = _Anchors(address)
    reader.feed(text)
    reader.close()
    files = []
    for link in reader.links:
        try:
            url, fragment = urldefrag(urljoin(reader.base, link.get("href") or ""))
            name = unquote(urlsplit(url).path.rpartition("/")[2])
        except ValueError:  # not an address
            continue
        if safe_name(name):
            algorithm, _, digest = fragment.partition("=")
            files.append(
                IndexFile(
                    filename=name,
                    url=url,
                    sha256=_sha256(digest) if algorithm == "sha256" else "",
                    size=0,
                    requires_python=link.get("data-requires-python") or "",
                    yanked="data-yanked" in link,
                )
            )
    return tuple(files)


def projects_of(filename: str) -> tuple[str, ...]:
    """Names of the projects a file may belong to, normalised, most likely first.

    A wheel names its project up to the first dash. An archive from before PEP 625 may hold
    dashes in the name and in the version, so every dash is a candidate, from the right.
    """
    if filename.endswith(".whl"):
        return (normalise(filename.partition("-")[0]),)
    stem = re.sub(r"\.(tar\.\w+|tgz|zip)\Z", "", filename)
    dashes = [match.start() for match in re.finditer("-", stem) if match.start() > 0]
    names = [normalise(stem[:at]) for at in reversed(dashes)] or [normalise(stem)]
    return tuple(dict.fromkeys(name for name in names if name.strip("-")))
