"""The list of a deposit: what `sha256sum` reads, and what no hostile list gets past."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from envspec.diagnostics import DiagnosticError
from envspec.pipeline import deposit

NAMES = ("a b.py", "deep/er/ü.txt", "back\\slash", "line\nbreak", "-dash", "car\rriage")


def filled(folder: Path) -> dict[str, str]:
    digests = {}
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        digests[name] = hashlib.sha256(name.encode()).hexdigest()
    (folder / deposit.SUMS).write_text(deposit.sums(digests), newline="\n")
    return digests


def test_the_list_is_read_by_sha256sum_and_by_us(tmp_path: Path) -> None:
    digests = filled(tmp_path)
    argv = ["sha256sum", "--check", "--strict", "--quiet", deposit.SUMS]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert deposit.read_sums(tmp_path) == digests
    assert deposit.compare(tmp_path, digests) == deposit.Faults()


def test_missing_changed_and_left_over_are_told_apart(tmp_path: Path) -> None:
    digests = filled(tmp_path)
    (tmp_path / "a b.py").unlink()
    (tmp_path / "-dash").write_text("-dasH")
    (tmp_path / "back\\slash").unlink()
    (tmp_path / "back\\slash").symlink_to("-dash")
    (tmp_path / "deep" / "more").mkdir()
    (tmp_path / "deep" / "more" / "report.json").write_text("{}")
    (tmp_path / "out").symlink_to("/")
    os.mkfifo(tmp_path / "pipe")
    found = deposit.compare(tmp_path, digests)
    assert found.missing == ("a b.py",)
    assert found.changed == ("-dash", "back\\slash")
    assert found.extra == ("deep/more/report.json", "out", "pipe")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no list\n",
        f"{'a' * 64}  ../outside\n",
        f"{'a' * 64}  /etc/passwd\n",
        f"{'a' * 64}  a//b\n",
        f"{'a' * 64}  {deposit.SUMS}\n",
        f"{'a' * 63}  short\n",
        f"{'A' * 64}  capitals\n",
        f"{'a' * 64}  twice\n{'a' * 64}  twice\n",
        f"\\{'a' * 64}  ..\\n/../x\n\n",
        f"{'a' * 64}  nul\0\n",
    ],
)
def test_e0506_a_list_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / deposit.SUMS).write_text(text, newline="\n")
    with pytest.raises(DiagnosticError, match="E0506"):
        deposit.read_sums(tmp_path)


def test_e0506_a_folder_without_a_list(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match="E0506"):
        deposit.read_sums(tmp_path)
