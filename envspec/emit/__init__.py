"""The plan as files: a Dockerfile, a Nix flake, requirement lists."""
