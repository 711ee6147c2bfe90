"""The libraries of an installed prefix or of a wheel, package by package.

Nothing is installed or run. A wheel's members are unpacked one at a time, into a nameless file.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import posixpath
import re
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from envspec.inspect import elf, index
from envspec.inspect.errors import UnreadableError
from envspec.inspect.library import Library, Package, library
from envspec.names import normalise

_LIBRARY = re.compile(r"\.so(?:\.[0-9A-Za-z_.+-]+)?")
_NOT_LIBRARY = (".py", ".pyi", ".pyc", ".json", ".txt", ".h", ".hpp", ".md")
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-([^-]+)(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl")
_DATA = re.compile(r"[^/]+\.data/(purelib|platlib|data|scripts|headers)/(.+)")
_DIST = re.compile(r"(.+?)-([^-]+)\.dist-info")

MOST_LIBRARIES = 20_000
_MOST_RECORD = 64 << 20
_MOST_MEMBER = 8 << 30
_MOST_UNPACKED = 32 << 30
_CHUNK = 1 << 20


class Prefix(NamedTuple):
    """A prefix as found: where its packages are, and libraries beside them that no package owns."""

    site: Path
    root: Path
    beside: frozenset[str]


def find_prefix(folder: Path) -> Prefix | None:
    """The site-packages of a prefix, or of the folder itself; None where there is none."""
    places = [folder, *sorted(folder.glob("lib/python3*/site-packages"))]
    places += sorted(folder.glob("env/lib/python3*/site-packages"))
    for site in places:
        if any(site.glob("*.dist-info")):
            inside = site.parent.name.startswith("python3") and site.parent.parent.name == "lib"
            root = site.parents[2] if inside else site
            beside = _names(root / "lib") if inside else frozenset()
            return Prefix(site, root, beside)
    return None


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(e.name for e in os.scandir(folder) if _LIBRARY.search(e.name))
    except OSError:
        return frozenset()


def of_prefix(prefix: Prefix, cache: Path | None) -> Iterator[Package]:
    """Every package that has a RECORD, with its libraries; one without is not read, and says so."""
    for info in sorted(prefix.site.glob("*.dist-info")):
        match = _DIST.fullmatch(info.name)
        if match is None:
            continue
        name, version = normalise(match[1]), match[2]
        try:
            record = _read_small(info / "RECORD")
        except (OSError, UnreadableError):
            yield Package(name, version, (), ((info.name, "it has no RECORD that can be read"),))
            continue
        yield _installed(prefix, name, version, record, cache)


def _read_small(path: Path) -> bytes:
    with _regular(path) as file:
        text = file.read(_MOST_RECORD + 1)
    if len(text) > _MOST_RECORD:
        raise UnreadableError("it is too large")
    return text


def _installed(
    prefix: Prefix, name: str, version: str, record: bytes, cache: Path | None
) -> Package:
    paths: dict[str, Path] = {}
    unread: list[tuple[str, str]] = []
    key = hashlib.sha256(f"{index.FORMAT}\0prefix\0{name}\0{version}\0".encode() + record)
    root = os.path.realpath(prefix.root)
    for line in record.decode("utf-8", "replace").splitlines():
        if ".so" not in line:
            continue
        path = posixpath.normpath(line.rsplit(",", 2)[0].strip('"'))
        if not _is_library(path):
            continue
        real = Path(os.path.normpath(prefix.site / path))
        if "\0" in path or not Path(os.path.normpath(os.path.realpath(prefix.site) + "/" + path)) \
                .is_relative_to(root):  # fmt: skip
            unread.append((path, "it lies outside the prefix"))
            continue
        try:
            state = real.stat()
        except OSError as error:
            unread.append((path, os.strerror(error.errno or 0).lower()))
            continue
        paths[path] = real
        key.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0{state.st_ino}\0".encode(
            "utf-8", "replace"))  # fmt: skip
        if len(paths) > MOST_LIBRARIES:
            unread.append((path, f"there are more than {MOST_LIBRARIES} libraries"))
            break
    if not paths:
        return Package(name, version, (), tuple(unread))
    digest = key.hexdigest()
    kept = index.load(cache, digest)
    if kept is not None and not unread:
        return kept
    made = []
    for path, real in paths.items():
        read = _read(path, real)
        if isinstance(read, str):
            unread.append((path, read))
        else:
            made.append(read)
    package = Package(name, version, tuple(made), tuple(unread))
    index.save(cache, digest, package)
    return package


def _read(path: str, real: Path) -> Library | str:
    """A library, or why it was not read."""
    try:
        with _regular(real) as file:
            return _mapped(path, file)
    except UnreadableError as error:
        return str(error)
    except (OSError, ValueError) as error:
        return _why(error)


def is_wheel(path: Path) -> bool:
    """Whether a file is named as a wheel."""
    return _WHEEL.fullmatch(path.name) is not None


def of_wheel(path: Path, cache: Path | None) -> Package:
    """The package of a wheel, with its libraries, each at the place it would be installed to.

    Raises:
        UnreadableError: it is no wheel.
        OSError: it cannot be opened, or there is no room to unpack a member.
    """
    match = _WHEEL.fullmatch(path.name)
    if match is None:
        raise UnreadableError("it is not named as a wheel")
    name, version = normalise(match[1]), match[2]
    with _regular(path) as file:
        key = hashlib.sha256(f"{index.FORMAT}\0wheel\0{name}\0{version}\0".encode())
        while chunk := file.read(_CHUNK):
            key.update(chunk)
        digest = key.hexdigest()
        kept = index.load(cache, digest)
        if kept is not None:
            return kept
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                package = _unpacked(name, version, archive)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
            raise UnreadableError("it is no wheel that can be read") from error
    index.save(cache, digest, package)
    return package


def _unpacked(name: str, version: str, archive: zipfile.ZipFile) -> Package:
    made: list[Library] = []
    unread: list[tuple[str, str]] = []
    left = _MOST_UNPACKED
    members = [m for m in archive.infolist() if _is_library(m.filename) and not m.is_dir()]
    for member in members[:MOST_LIBRARIES]:
        path = _installs_to(member.filename)
        left -= member.file_size
        if member.file_size > _MOST_MEMBER or left < 0:
            unread.append((path, "it is too large"))
            continue
        try:
            with archive.open(member) as packed, tempfile.TemporaryFile() as file:
                size = 0
                while chunk := packed.read(_CHUNK):
                    size += len(chunk)
                    if size > member.file_size:
                        raise UnreadableError("it is larger than the wheel says")  # noqa: TRY301
                    file.write(chunk)
                file.flush()
                made.append(_mapped(path, file))
        except UnreadableError as error:
            unread.append((path, str(error)))
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError):
            unread.append((path, "it cannot be unpacked"))
    if len(members) > MOST_LIBRARIES:
        unread.append(("…", f"there are more than {MOST_LIBRARIES} libraries"))
    return Package(name, version, tuple(made), tuple(unread))


def _installs_to(member: str) -> str:
    match = _DATA.fullmatch(member)
    if match is None:
        return posixpath.normpath(member)
    place = "" if match[1] in {"purelib", "platlib"} else "../../../"
    return posixpath.normpath(place + match[2])


def _is_library(path: str) -> bool:
    name = path.rpartition("/")[2]
    return _LIBRARY.search(name) is not None and not name.endswith(_NOT_LIBRARY)


def _mapped(path: str, file: BinaryIO) -> Library:
    size = os.fstat(file.fileno()).st_size
    start = os.pread(file.fileno(), 4, 0)
    if not size or not elf.is_elf(start):
        raise UnreadableError("it is no ELF file")
    with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data:
        return library(path, elf.read(data))


def _regular(path: Path) -> BinaryIO:
    """Open a regular file; a pipe or a device would block."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnreadableError("it is no regular file")
    return os.fdopen(handle, "rb")


def _why(error: BaseException) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number).lower() if number else "it cannot be read"
