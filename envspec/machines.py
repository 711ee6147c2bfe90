"""The machines that environments are for."""

from __future__ import annotations

MACHINES = {"linux/amd64": "x86_64", "linux/arm64": "aarch64"}
"""Platform, as images name it → processor, as wheel tags and the tables name it."""
