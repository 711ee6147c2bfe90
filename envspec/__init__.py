"""EnvSpec: one auditable spec.env in, a reproducible and verified environment out."""

__version__ = "0.1.0"
