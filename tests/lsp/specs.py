"""Specs that the tests of the language server open."""

from __future__ import annotations

_SHA = "17f2c50ccb0e2b93f83a84c1374ff7158ed3852310910d6fed26c925776ae403"

CLEAN = """\
envspec 1

# Everything that names something else.
project demo {
  source archive "demo-1.0.tar.gz" sha256 "SHA" from lab
}

platform linux/amd64 {
  base   "python:3.11-slim-bookworm@sha256:SHA"
  python 3.11
  glibc  >=2.28
}

accelerator cuda 12.8 {
  driver >=570.26
  gpus   sm_80 sm_90
}

index lab "https://wheels.example.org/simple"

packages {
  torch       ==2.9.1  from pytorch-cu128
  torchvision ==0.24.1 from pytorch-cu128
  helper      ==1.0    from lab
}

entry smoke {
  level c1
  run   "python" "-c" "import demo"
}

entry train {
  level   c3
  run     "python" "-m" "demo"
  timeout 5m
}

claims {
  python_version 3.11
  c1             pass
  c3             unstated
}
""".replace("SHA", _SHA)
