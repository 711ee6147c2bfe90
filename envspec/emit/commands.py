"""The commands that build an environment, as argument lists: the same for every image format.

Nothing here asks the network: every file comes from a folder and is known by its sha256. Wheels
are checked by the installer, everything else by `sha256sum` just before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envspec.emit.encode import shell_word
from envspec.plan import model as plan

INSTALLER = "/opt/uv"
_UNPACKED = "/opt/uv-wheel"
# What installing packages of the distribution leaves that differs from one build to the next, or
# is of no use later.
_LEFT_BY_APT = (
    "/var/cache/apt/*.bin",
    "/var/cache/apt/archives/*.deb",
    "/var/cache/debconf/*-old",
    "/var/cache/ldconfig/aux-cache",
    "/var/lib/apt/lists/*",
    "/var/log/alternatives.log",
    "/var/log/apt/*",
    "/var/log/dpkg.log",
)


def layer_lock(layer: str) -> str:
    """The name of the requirement list that one layer installs from."""
    return f"requirements.{layer}.lock"


def checksum_list(folder: str) -> str:
    """The name of the list that the files of one folder of the wheelhouse are checked by."""
    return f"checksums.{folder}.lock"


def unpack_installer(value: plan.Plan, folder: str, checksums: str) -> list[str]:
    """Check and unpack the installer's wheel, which lies in ``folder``."""
    wheel = f"{folder}/{value.installer.file.file}"
    unpack = [f"python{value.python}", "-m", "zipfile", "-e", wheel, _UNPACKED]
    return _script(_words(_check(folder, checksums)), _words(unpack))


def place_installer(value: plan.Plan) -> list[str]:
    """Make its one program executable; unpacking a wheel leaves no mode bits."""
    scripts = f"{value.installer.file.file.split('-', 1)[0]}-{value.installer.version}.data/scripts"
    return ["install", "-D", "-m", "0755", f"{_UNPACKED}/{scripts}/uv", f"{INSTALLER}/uv"]


def create_environment(python: str, prefix: str) -> list[str]:
    """An empty virtual environment."""
    argv = [f"{INSTALLER}/uv", "venv", "--quiet", "--offline", "--no-cache", "--no-project"]
    return [*argv, "--no-config", "--python", f"python{python}", prefix]


def install_wheels(
    folders: Sequence[str], lock: str, interpreter: str = plan.INTERPRETER
) -> list[str]:
    """Install the list ``lock`` from the wheels in ``folders``, each by its hash."""
    argv = [*_install(interpreter), "--no-index", "--no-deps", "--require-hashes"]
    for folder in folders:
        argv += ["--find-links", folder]
    return _script(_words([*argv, "--requirements", lock]), _forget(interpreter))


def install_built(step: plan.BuildExtension, folder: str) -> list[str]:
    """Install the wheel that the build of an extension left in ``folder``.

    By its name, so that a build which made another package fails.
    """
    argv = [*_install(plan.INTERPRETER), "--no-index", "--no-deps", "--prerelease", "allow"]
    argv += ["--find-links", folder, step.name]
    return _script(_words(argv), _forget(plan.INTERPRETER))


def _install(interpreter: str) -> list[str]:
    argv = [f"{INSTALLER}/uv", "pip", "install", "--quiet", "--offline", "--no-cache"]
    return [*argv, "--no-config", "--python", interpreter]


def build_extension(step: plan.BuildExtension) -> list[str]:
    """Compile the source in `plan.BUILD_SOURCE` into a wheel in `plan.BUILD_DIST`.

    Isolation is off: an isolated build would fetch what it imports, by no lock.
    """
    variables = [f"{name}={text}" for name, text in step.environment]
    # Not quiet: this takes minutes, and what the compiler says is what people look for.
    argv = [f"{INSTALLER}/uv", "build", "--wheel", "--no-build-isolation", "--offline"]
    argv += ["--no-cache", "--no-config", "--python", f"{plan.BUILD_PREFIX}/bin/python"]
    return ["env", *variables, *argv, "--out-dir", plan.BUILD_DIST, plan.BUILD_SOURCE]


def check_built(checksums: str) -> list[str]:
    """Compare the wheel with the one that was recorded."""
    return _check(plan.BUILD_DIST, checksums)


def unpack(archive: plan.File, destination: str, folder: str, checksums: str) -> list[str]:
    """Check and unpack an archive, which lies in ``folder``, without the one folder at its top."""
    tar = ["tar", "--extract", "--file", f"{folder}/{archive.file}", "--directory", destination]
    tar += ["--strip-components=1", "--no-same-owner"]
    return _script(_words(_check(folder, checksums)), _words(tar))


def install_system(folder: str, checksums: str) -> list[str]:
    """Install every package of the distribution in ``folder``, all at once, asking nobody."""
    apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-qq", "-y"]
    apt += ["--no-install-recommends"]
    # Lists that the image may hold name other releases of the same packages.
    for kind in ("SourceList", "SourceParts"):
        apt += ["-o", f"Dir::Etc::{kind}=/dev/null"]
    return _script(
        _words(_check(folder, checksums)),
        f"{_words(apt)} {shell_word(folder)}/*.deb",
        "rm -rf " + " ".join(_LEFT_BY_APT),
    )


def clean_up() -> list[str]:
    """Remove the installer, where no build stage keeps it out of the image."""
    return ["rm", "-rf", INSTALLER, _UNPACKED]


def _forget(interpreter: str) -> str:
    """Remove uv's note on when the file of a wheel was last changed, and the line about it in the
    list of installed files: it is another on every machine."""
    prefix = interpreter.removesuffix("/bin/python")
    find = ["find", f"{prefix}/lib", "-path", "*.dist-info/uv_cache.json"]
    sed = ["sed", "-i", "/[.]dist-info.uv_cache[.]json,/d", "RECORD", ";"]
    return _words([*find, "-execdir", *sed, "-delete"])


def _check(folder: str, checksums: str) -> list[str]:
    """Compare the files of a folder with a list."""
    return ["env", f"--chdir={folder}", "sha256sum", "--check", "--strict", "--quiet", checksums]


def _script(*commands: str) -> list[str]:
    """Commands of a shell, each only after the one before went well."""
    return ["sh", "-ec", " && ".join(commands)]


def _words(argv: Iterable[str]) -> str:
    return " ".join(map(shell_word, argv))
