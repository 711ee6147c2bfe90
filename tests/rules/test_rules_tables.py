"""What the tables publish passes the framework rules, and nothing in a spec makes a rule crash."""

from __future__ import annotations

import itertools

import pytest

from envspec import render, rules
from envspec.diagnostics import Diagnostic
from envspec.facts import lookup, tables
from envspec.facts.rows import Arch, TorchBuild, TorchPairing
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.rules.view import View
from envspec.source import SourceFile

FRAMEWORK = tuple(code for code in rules.RULES if "0310" <= code[1:] <= "0321")
HEAD = (
    'envspec 1\nproject demo {\n  source archive "demo-1.0.tar.gz" sha256 "' + "a" * 64 + '"\n}\n'
)


def found(text: str, locked: dict[str, str] | None = None) -> list[Diagnostic]:
    source = SourceFile("spec.env", HEAD + text)
    spec = resolve(parse(source), source)
    return [d for d in rules.check(spec, source, locked) if d.code in FRAMEWORK]


def platform(python: str = "3.11", machine: str = "amd64") -> str:
    return f'platform linux/{machine} {{\n  base "debian:12-slim"\n  python {python}\n}}\n'


def packages(*lines: str) -> str:
    return "packages {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def release(row: TorchBuild) -> str:
    return row.release if row.release.count(".") == 2 else f"{row.release}.0"


TORCH = [r for r in tables.rows(TorchBuild) if r.python_max >= "3.8" or len(r.python_max) > 3]


@pytest.mark.parametrize("row", TORCH, ids=lambda r: f"{r.release}-{r.build}-{r.machine}")
def test_every_published_build_passes(row: TorchBuild) -> None:
    """With its own CUDA, each Python of its wheels, its GPUs, cuDNN, NCCL and the floor."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[row.machine]
    exact = lookup.torch_build(release(row), row.build, row.machine)
    assert exact is not None
    pythons = {exact.python_min, exact.python_max, exact.python_experimental or exact.python_max}
    for python in sorted(p for p in pythons if p not in {"3.6", "3.7"}):
        text = platform(python, machine)
        if row.cuda:
            gpus = "".join(f" sm_{a.replace('.', '')}" for a in row.architectures or ("8.0",))
            lines = [f"gpus{gpus}"]
            lines += [f"cudnn {row.cudnn}"] if row.cudnn else []
            lines += [f"nccl {row.nccl}"] if row.nccl else []
            text += f"accelerator cuda {row.cuda} {{\n  " + "\n  ".join(lines) + "\n}\n"
        pin = f"torch =={release(row)}+{row.build} from pytorch-{row.build}"
        assert render.text(found(text + packages(pin))) == ""
        if row.default:
            assert render.text(found(text + packages(f"torch =={release(row)}"))) == ""


PAIRS = [r for r in tables.rows(TorchPairing) if r.torch >= "2" and r.relation != "at_least"]


@pytest.mark.parametrize("row", PAIRS, ids=lambda r: f"{r.package}-{r.version}-{r.torch}")
def test_every_known_pair_passes(row: TorchPairing) -> None:
    torch = row.torch if row.torch.count(".") == 2 else f"{row.torch}.0"
    lines = packages(f"torch =={torch}", f"{row.package} =={row.version}")
    assert [d for d in found(platform() + lines) if d.code == "E0318"] == []


def test_a_pair_of_neighbours_is_found() -> None:
    """torchvision beside the release before and behind the one that it was built for."""
    rows = [r for r in PAIRS if r.package == "torchvision" and r.relation == "exact"]
    assert len(rows) > 20
    for row, other in itertools.permutations(rows, 2):
        lines = packages(f"torch =={other.torch}", f"torchvision =={row.version}")
        (finding,) = [d for d in found(platform() + lines) if d.code == "E0318"]
        assert other.torch in finding.title


HOSTILE = [
    "==1!2.0", "==2.*", "!=2.9.1", "==2.9.1,!=2.9.0", "===2.9.1", "~=2.9", ">2", "<=2.9.1",
    "==" + "9" * 5000, "==2." + "9" * 5000, "==" + ".".join(["1"] * 500), "==0", "==2",
    "==2.9.1+cu128.abi1", "==2.9.1+CU128", "==2.9.1+cu1", "==2.9.1+cu999", "==2.9.1+cu99999999",
    "==2.9.1+cpu.cxx11.abi", "==2.9.1+rocm6.4", "==2.9.1rc1", "==2.9.1.post1", "==2.9.1.dev2025",
    "==v2.9.1", "==2.09.01", "==2.9.1-1",
]  # fmt: skip
TOOLKITS = ["", " 12.8", " 0", " 99", " 99.99.99.99", " 12.7", " 1." + "9" * 5000, " " + "9" * 5000]


@pytest.mark.parametrize("toolkit", TOOLKITS, ids=lambda t: t[:12] or "none")
@pytest.mark.parametrize("specifier", HOSTILE, ids=lambda s: s[:24])
def test_odd_versions_never_crash(specifier: str, toolkit: str) -> None:
    text = (
        f"{platform()}accelerator cuda{toolkit} {{\n  driver >={'9' * 30}\n  cudnn {'1' * 5000}\n"
        "  nccl 0\n  gpus sm_00 sm_999f sm_10a sm_91 sm_120f sm_87\n}\n"
    )
    names = (
        "torch", "torchvision", "torchaudio", "xformers", "vllm", "jax[cuda12,cuda13-local]",
        "tensorflow[and-cuda]", "nvidia-cublas", "cupy-cuda12x", "nvidia-nccl-cu13",
    )  # fmt: skip
    lines = packages(*(f"{name} {specifier}" for name in names))
    locked = {n.partition("[")[0]: specifier.lstrip("=!~<>v") for n in names}
    for lock in ({}, locked, dict.fromkeys(locked, ""), dict.fromkeys(locked, "\u0661.2\n")):
        for finding in found(text + lines, lock):
            assert finding.title


def test_odd_lock_alone_never_crashes() -> None:
    for version in ("", "x", "1!2", "9" * 5000, "+", "+cu128", "2.9.1+", "==2"):
        found(platform(), dict.fromkeys(("torch", "torchvision", "nvidia-cudnn-cu12"), version))


@pytest.mark.parametrize(
    ("driver", "codes"), [("570.26", []), ("570", []), ("560.35.03", ["E0312"]), ("525", ["E0312"])]
)
def test_torch_through_ptx_alone_needs_the_driver_of_its_toolkit(
    driver: str, codes: list[str]
) -> None:
    """No published build covers a known GPU by PTX alone, so one is made up: 8.0 and its PTX."""
    text = (
        f"{HEAD}{platform()}accelerator cuda 12.8 {{\n  driver >={driver}\n  gpus sm_86 sm_90\n}}\n"
        + packages("torch ==2.9.1+cu128 from pytorch-cu128")
    )
    source = SourceFile("spec.env", text)
    view = View(resolve(parse(source), source), source)
    row = view.torch_build
    assert row is not None
    view.__dict__["torch_build"] = row._replace(architectures=("8.0",), ptx=("8.0",))
    findings = list(rules.rule("E0312")(view))
    assert [d.code for d in findings] == codes
    for finding in findings:
        assert "`sm_90`" in finding.title
        assert "525.60.13" in finding.cause
        assert "570.26" in finding.cause


def test_a_spec_without_gpu_and_torch_reads_no_gpu_table(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = tables._table

    def spy(kind: object) -> object:
        asked.append(getattr(kind, "__name__", ""))
        return real(kind)  # type: ignore[arg-type]

    monkeypatch.setattr(tables, "_table", spy)
    found(platform() + packages("einops ==0.8.1", "numpy >=2"))
    assert not {"TorchBuild", "TorchPairing", "Arch", "DriverFloor", "ToolkitDriver"} & set(asked)
    found(platform() + "accelerator cuda {\n  gpus sm_91\n}\n")
    assert Arch.__name__ in asked


def test_a_rule_gives_no_more_findings_than_anyone_reads() -> None:
    names = "".join(f"  package-{i}\n" for i in range(300))
    platform = 'platform linux/amd64 {\n  base "python:3.11"\n  python 3.11\n}\n'
    archive = f'source archive "a.tar.gz" sha256 "{"a" * 64}"'
    text = f"envspec 1\nproject a {{\n  {archive}\n}}\n{platform}packages {{\n{names}}}\n"
    source = SourceFile("spec.env", text)
    found = rules.check(resolve(parse(source), source), source)
    assert [d.code for d in found] == ["W0322"] * rules.MOST
