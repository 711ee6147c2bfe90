"""The commands that build an environment, as argument lists: the same for every image format.

Nothing here asks the network: wheels come from a folder, and every file is known by its sha256.
"""

from __future__ import annotations

from envspec.emit.encode import shell_word
from envspec.plan import model as plan

INSTALLER = "/opt/uv"
_UNPACKED = "/opt/uv-wheel"


def layer_lock(layer: str) -> str:
    """The name of the requirement list that one layer installs from."""
    return f"requirements.{layer}.lock"


def unpack_installer(value: plan.Plan, folder: str) -> list[str]:
    """Unpack the installer's wheel, which lies in ``folder``."""
    wheel = f"{folder}/{value.installer.file.file}"
    return [f"python{value.python}", "-m", "zipfile", "-e", wheel, _UNPACKED]


def place_installer(value: plan.Plan) -> list[str]:
    """Make its one program executable; unpacking a wheel leaves no mode bits."""
    scripts = f"{value.installer.file.file.split('-', 1)[0]}-{value.installer.version}.data/scripts"
    return ["install", "-D", "-m", "0755", f"{_UNPACKED}/{scripts}/uv", f"{INSTALLER}/uv"]


def create_environment(step: plan.CreateEnvironment) -> list[str]:
    """An empty virtual environment."""
    argv = [f"{INSTALLER}/uv", "venv", "--quiet", "--offline", "--no-cache", "--no-project"]
    return [*argv, "--no-config", "--python", f"python{step.python}", step.prefix]


def install_wheels(folder: str, lock: str) -> list[str]:
    """Install the list ``lock`` from the wheels in ``folder``, each by its hash."""
    argv = [f"{INSTALLER}/uv", "pip", "install", "--quiet", "--offline", "--no-index", "--no-deps"]
    argv += ["--no-cache", "--no-config", "--require-hashes", "--find-links", folder]
    return [*argv, "--python", plan.INTERPRETER, "--requirements", lock]


def unpack_source(step: plan.UnpackSource, folder: str) -> list[str]:
    """Unpack the source archive, which lies in ``folder``."""
    tar = ["tar", "--extract", "--file", f"{folder}/{step.archive.file}"]
    tar += ["--directory", step.destination]
    return [*tar, "--strip-components=1", "--no-same-owner"]


def install_system(step: plan.InstallSystem) -> str:
    """A shell script; the distribution's lists do not stay. This one needs the network."""
    names = " ".join(shell_word(p) for p in step.packages)
    return (
        "apt-get update -qq"
        f" && apt-get install -y -qq --no-install-recommends -- {names}"
        " && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb"
    )


def clean_up() -> list[str]:
    """Remove the installer, where no build stage keeps it out of the image."""
    return ["rm", "-rf", INSTALLER, _UNPACKED]
