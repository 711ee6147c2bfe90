"""In which layer of an image a package stands, and so in which folder of the wheelhouse. Pure.

Layers are ordered by how big they are and how seldom they change: a new release of one small
package must not rebuild the gigabytes below it.
"""

from __future__ import annotations

FRAMEWORK = "framework"
PACKAGES = "packages"
_FRAMEWORKS = frozenset(
    {
        "torch", "torchvision", "torchaudio", "triton", "pytorch-triton", "xformers", "vllm",
        "jax", "jaxlib", "tensorflow", "tensorflow-cpu",
        "cuda-toolkit", "cuda-bindings", "cuda-pathfinder",
    }
)  # fmt: skip
_PREFIXES = ("nvidia-", "jax-cuda", "triton-", "pytorch-triton-")


def layer(name: str) -> str:
    """`FRAMEWORK` or `PACKAGES`, by the name of a package."""
    return FRAMEWORK if name in _FRAMEWORKS or name.startswith(_PREFIXES) else PACKAGES
