"""Running uv: its own environment, and nothing of the user's that would change an answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from envspec.lock.pipconfig import PipConfig

# How uv talks to the network is the user's; what it takes into account is the spec's.
_KEPT = ("UV_CACHE_DIR", "UV_NO_CACHE", "UV_OFFLINE", "UV_INSECURE_HOST")
_KEPT_PREFIXES = ("UV_HTTP_", "UV_CONCURRENT_", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_REQUEST_")


@cache
def uv_binary() -> str | None:
    """The uv that was installed with this tool."""
    try:
        from uv import find_uv_bin  # noqa: PLC0415
    except ImportError:
        return None
    try:
        return str(find_uv_bin())
    except FileNotFoundError:
        return None


def uv_version() -> str:
    """Version of the installed ``uv`` package; empty where it is not installed."""
    try:
        return version("uv")
    except PackageNotFoundError:
        return ""


def proxy_variables(pip: PipConfig) -> dict[str, str]:
    """The proxy that pip is told, as variables that every client reads: NO_PROXY holds then too."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    return dict.fromkeys(names, pip.proxy) if pip.proxy else {}


def run_uv(
    arguments: list[str], folder: Path, pip: PipConfig, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``uv pip compile`` in a folder and capture what it says.

    Raises:
        FileNotFoundError: there is no uv.
    """
    binary = uv_binary()
    if binary is None:
        raise FileNotFoundError("uv")
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("UV_") or key in _KEPT or key.startswith(_KEPT_PREFIXES)
    }
    from envspec.lock.web import certificate  # noqa: PLC0415  (it is slow to import)

    if cert := certificate(pip.cert):
        environment["SSL_CERT_FILE"] = cert
    environment |= proxy_variables(pip)
    environment |= {"NO_COLOR": "1", "UV_NO_PROGRESS": "1", **(more or {})}
    return subprocess.run(
        [
            *(binary, "pip", "compile", "--no-config", "--no-header", "--no-python-downloads"),
            *("--python", sys.executable, *arguments),
        ],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
