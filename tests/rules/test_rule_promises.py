"""Promises of single rules that a drawn finding does not show."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from envspec import fixing, rules
from envspec.facts import images, lookup, tables
from envspec.facts.rows import CudaImageRule
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.plan import model as plan
from envspec.rules import contradiction, cuda_image_tag
from envspec.source import SourceFile

HERE = Path(__file__).parent


def test_the_environment_is_where_the_plan_puts_it() -> None:
    assert f"{plan.PREFIX}/" == contradiction.ENVIRONMENT
    assert plan.INTERPRETER.startswith(contradiction.ENVIRONMENT)


def test_e0349_never_says_the_value() -> None:
    checked = 0
    for path in sorted((HERE / "E0349").glob("bad*.env")):
        source = SourceFile("spec.env", path.read_text(encoding="utf-8"))
        spec = resolve(parse(source), source)
        values = [v.value for v in spec.environment]
        values += [
            text for e in spec.entries for text in (*e.argv, *(v.value for v in e.environment))
        ]
        values += ["hf_EXAMPLE", "ghp_EXAMPLE", "sk-EXAMPLE", "AKIAEXAMPLE"]
        for finding in rules.check(spec, source):
            if finding.code == "E0349":
                said = " ".join((finding.title, finding.cause, finding.hint, *finding.excerpt))
                said += " ".join(label.text for label in finding.labels)
                assert [v for v in values if len(v) > 6 and v in said] == []
                checked += 1
    assert checked >= 10


def fixed(name: str) -> str:
    code, _, stem = name.partition("/")
    text = (HERE / code / f"{stem}.env").read_text(encoding="utf-8")
    source = SourceFile("spec.env", text)
    found = rules.check(resolve(parse(source), source), source)
    mended, applied = fixing.apply(text, [d.fix for d in found if d.code == code and d.fix])
    assert applied
    return mended


def test_a_fix_writes_what_a_person_would() -> None:
    """The lines that fixes add stand in their block, with its indent."""
    assert "  jobs   1\n" in fixed("W0341/bad-jobs")
    assert "  # jobs 99\n" in fixed("W0341/bad-jobs")
    assert 'MAX_JOBS="6" NVCC_THREADS="2"' in fixed("W0341/bad-max-jobs")
    assert "}\n\nresources {\n  shm 2GiB\n}\n" in fixed("W0344/bad-no-resources")
    assert "  # shm 8GiB\n  shm 8GiB\n}\n" in fixed("W0344/bad-no-shm")
    assert "resources { memory 2GiB \n  shm 1GiB\n}\n" in fixed("W0344/bad-one-line")
    assert "    level c4\n    processes 2 # distributed\n" in fixed("E0345/bad-default")
    assert "  level c4\n  processes 4\n}\n" in fixed("E0345/bad-launcher")
    assert "  processes 3\n" in fixed("E0345/bad-one")
    assert '"nvidia/cuda:12.8.1-base-ubuntu22.04"' in fixed("W0342/bad-cudnn")
    assert '"nvcr.io/nvidia/cuda:12.3.2-cudnn9-devel-ubuntu22.04"' in fixed("E0343/bad-devel")
    assert 'env   TORCH_CUDA_ARCH_LIST="7.5;8.6;8.0;9.0"' in fixed("E0303/bad-architectures")


def test_w0342_leaves_a_digest_alone() -> None:
    """A digest says which bytes are meant: to write another tag before it would be a lie."""
    text = (HERE / "W0342" / "bad-digest.env").read_text(encoding="utf-8")
    source = SourceFile("spec.env", text)
    (finding,) = [
        d for d in rules.check(resolve(parse(source), source), source) if d.code == "W0342"
    ]
    assert finding.fix is None


def test_e0343_takes_every_published_tag_and_refuses_it_with_one_part_moved() -> None:
    table = tables.rows(CudaImageRule)
    numbers = [r.value for r in table if r.kind == "version"]
    distros = [r.value for r in table if r.kind == "distro"]
    flavours = [r.value for r in table if r.kind == "flavour"]
    taken = 0
    for number, distro, flavour in product(numbers, distros, flavours):
        label = lookup.cudnn_label(number)
        if not images.distro_fits(number, distro) or label is None:
            continue
        taken += 1
        assert cuda_image_tag.judge(f"{number}-{flavour}-{distro}") == ((), "", "")
        assert cuda_image_tag.judge(f"{number}-{label}-{flavour}-{distro}") == ((), "", "")
        minor = number.rpartition(".")[0]
        for moved in (
            f"{minor}-{label}-{flavour}-{distro}",
            f"{number}-cudnn7-{flavour}-{distro}",
            f"{number}-{flavour}-{label}-{distro}",
        ):
            reasons, hint, _ = cuda_image_tag.judge(moved)
            assert reasons, moved
            assert hint.startswith("did you mean `")
    assert taken > 200
