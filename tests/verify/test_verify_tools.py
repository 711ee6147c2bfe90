"""What is shown to the sandbox: there, readable by its user, and complete."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from envspec.diagnostics import DiagnosticError
from envspec.plan import model as plan
from envspec.verify import tools
from envspec.verify.hardware import gpu_count


def subject(*entries: plan.Entry) -> plan.Plan:
    file = plan.File("pypi", "uv-1-py3-none-any.whl", "0" * 64, 1)
    unpack = plan.UnpackSource(file, plan.SOURCE, 1)
    return plan.Plan(
        "x", "spec.env", "linux/amd64", plan.Base("b", "sha256:0"), 1, "3.11", "2.28",
        plan.Accelerator("none", "", "", ()), plan.Nixpkgs("o", "r", "v", "h", 1),
        plan.Wheel("uv", "1", file), (unpack,), (), (plan.SOURCE,), entries, (), (),
    )  # fmt: skip


def test_scripts_are_there_for_the_sandboxs_user(tmp_path: Path) -> None:
    script = plan.Script.of("deep/smoke.py", b"print(1)\n")
    entry = plan.Entry("smoke", "c1", ("python",), script, 1, 1, (), False, 1)
    shown = {m.inside: m for m in tools.mounts(subject(entry), tmp_path)}
    assert shown.keys() == {plan.PROBES, plan.PYRIGHT, plan.NODE, plan.ENTRIES}
    assert not any(m.writable for m in shown.values())
    path = shown[plan.ENTRIES].host / "deep" / "smoke.py"
    assert path.read_bytes() == b"print(1)\n"
    for place in (path, path.parent, tmp_path):
        assert stat.S_IMODE(place.stat().st_mode) & 0o004
    assert (shown[plan.NODE].host / "bin" / "node").is_file()
    assert (shown[plan.PYRIGHT].host / "index.js").is_file()
    assert (shown[plan.PROBES].host / "c0_static.py").is_file()


def test_without_pyright_nothing_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E0803: a missing tool is said at once; C0 is not quietly left out."""
    monkeypatch.setattr(tools, "_package", lambda _name: tmp_path / "nowhere")
    with pytest.raises(DiagnosticError) as caught:
        tools.mounts(subject(), tmp_path)
    assert caught.value.diagnostics[0].code == "E0803"


def test_gpus_are_counted_by_their_nodes(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert gpu_count(tmp_path) == 2
    assert gpu_count(tmp_path / "absent") == 0
