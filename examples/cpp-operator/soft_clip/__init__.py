"""A clip that is smooth, written in C++."""

import torch  # noqa: F401  # loads the libraries that the compiled module needs

from soft_clip._cpp import soft_clip

__all__ = ["soft_clip"]
