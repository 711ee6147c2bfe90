"""Compose, Kubernetes and devcontainer.json, read again and compared with the plan."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from emit_sample import CONTROL, HOSTILE, entry, sample
from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.diagnostics import DiagnosticError
from envspec.emit import contract, layout
from envspec.emit.compose import compose
from envspec.emit.devcontainer import devcontainer
from envspec.emit.encode import Encoded, json_string, yaml_literal, yaml_string
from envspec.emit.kubernetes import kubernetes
from envspec.plan import model as plan

# Words that one version of YAML or another takes for something that is no string.
TRAPS = (
    "no", "Yes", "on", "null", "~", "1e3", "0o7", "0x1f", "12:30:45", "1_000", ".inf", "=", "<<",
    "*x", "&x", "!x", "- x", "a: b", "a #b", "? x", "@x", "%x", "---", "...", "2001-01-01", "[a]",
    "\ufeff", "$$", "$(HOME)", "${x:-y}",
)  # fmt: skip
CUDA = plan.Accelerator("cuda", "12.8", "525", ("sm_90",))
LEVELS = (
    entry(),
    entry(name="kernel", level="c3", script=None),
    entry(name="ddp", level="c4", processes=4, network=True, script=None),
)


def expanded(text: str) -> str:
    """What a reader makes of a text that has no variable in it: `$$` is a dollar sign."""
    assert not re.search(r"(?<!\$)(?:\$\$)*\$(?!\$)", text), f"{text} holds a variable"
    return text.replace("$$", "$")


def services(value: plan.Plan) -> dict[str, Any]:
    found = yaml.safe_load(compose(value))
    assert found.keys() == {"name", "services"}
    return dict(found["services"])


def jobs(value: plan.Plan) -> dict[str, Any]:
    documents = yaml.safe_load_all(kubernetes(value))
    return {d["metadata"]["name"]: d for d in documents if d["kind"] == "Job"}


def test_a_service_is_the_sandbox_of_verify() -> None:
    found = services(sample(accelerator=CUDA, entries=LEVELS))
    assert list(found) == ["smoke", "kernel", "ddp"]
    assert [s["profiles"] for s in found.values()] == [["c1"], ["c3"], ["c4"]]
    assert [s["network_mode"] for s in found.values()] == ["none", "none", "bridge"]
    for service in found.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["user"] == "65534:65534"
        assert service["pull_policy"] == "build"
        assert service["shm_size"] == 1 << 30
        assert service["mem_limit"] == service["memswap_limit"] == 8 << 30
    smoke = found["smoke"]
    assert smoke["entrypoint"] == ["python"]
    assert smoke["command"] == [f"{plan.ENTRIES}/smoke.py", "--steps", "1"]
    (volume,) = smoke["volumes"]
    assert volume["source"] == "${ENVSPEC_SPEC:-../..}/smoke.py"
    assert volume["read_only"] is True
    assert smoke["build"]["additional_contexts"]["wheels"].startswith("${ENVSPEC_WHEELS:-")


def test_gpus_by_level() -> None:
    """c1 sees none, though the image asks for all; c3 one; c4 one for each process."""
    value = sample(accelerator=CUDA, entries=LEVELS)
    counts = []
    for service in services(value).values():
        devices = service.get("deploy", {}).get("resources", {}).get("reservations", {})
        counts.append([d["count"] for d in devices.get("devices", [])])
        hidden = service["environment"].get("NVIDIA_VISIBLE_DEVICES") == "void"
        assert hidden == (not counts[-1])
    assert counts == [[], [1], [4]]
    limits = [
        job["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
        for job in jobs(value).values()
    ]
    memory = {"memory": str(8 << 30)}
    assert limits == [
        memory,
        {**memory, "nvidia.com/gpu": "1"},
        {**memory, "nvidia.com/gpu": "4"},
    ]
    for service in services(sample(entries=LEVELS)).values():
        assert "deploy" not in service, "no accelerator in the spec, no GPU asked for"


def test_resources_are_those_of_the_spec() -> None:
    value = sample(accelerator=CUDA, entries=LEVELS, resources=plan.Resources(64 << 30, 8 << 30))
    for service in services(value).values():
        assert (service["mem_limit"], service["memswap_limit"]) == (64 << 30, 64 << 30)
        assert service["shm_size"] == 8 << 30
    for job in jobs(value).values():
        pod = job["spec"]["template"]["spec"]
        assert pod["containers"][0]["resources"]["limits"]["memory"] == str(64 << 30)
        assert pod["volumes"][0]["emptyDir"] == {"medium": "Memory", "sizeLimit": str(8 << 30)}
    assert f"--shm-size={8 << 30}" in read_json(devcontainer(value))["runArgs"]
    assert read_json(devcontainer(value))["hostRequirements"] == {
        "memory": "65536mb", "gpu": "optional",
    }  # fmt: skip


def test_a_job_is_bounded_and_has_no_rights() -> None:
    value = sample(accelerator=CUDA, entries=LEVELS)
    for job, one in zip(jobs(value).values(), LEVELS, strict=True):
        spec, pod = job["spec"], job["spec"]["template"]["spec"]
        assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (0, one.timeout)
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["restartPolicy"] == "Never"
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["image"].startswith("registry.invalid/demo:")


def test_entries_without_network_have_a_policy_that_selects_their_pod() -> None:
    documents = list(yaml.safe_load_all(kubernetes(sample(entries=LEVELS))))
    policies = [d["spec"] for d in documents if d["kind"] == "NetworkPolicy"]
    assert len(policies) == 2, "ddp is allowed the network"
    pods = [
        d["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"]
        for d in documents
        if d["kind"] == "Job"
    ]
    for policy, pod in zip(policies, pods, strict=False):
        assert policy["podSelector"]["matchLabels"] == {"app.kubernetes.io/name": pod}
        assert policy["policyTypes"] == ["Ingress", "Egress"]
        assert not {"ingress", "egress"} & policy.keys(), "nothing is allowed"


def test_a_script_goes_into_a_config_map_byte_for_byte() -> None:
    config, _, job = yaml.safe_load_all(kubernetes(sample(entries=LEVELS[:1])))
    script = LEVELS[0].script
    assert script is not None
    assert base64.b64decode(config["binaryData"]["script"]) == script.content
    pod = job["spec"]["template"]["spec"]
    assert pod["volumes"][-1]["configMap"]["name"] == config["metadata"]["name"]
    assert pod["containers"][0]["volumeMounts"][-1]["mountPath"] == LEVELS[0].argv[1]
    big = entry(script=plan.Script.of("s.py", b"x" * 800_000))
    with pytest.raises(DiagnosticError, match="ConfigMap"):
        kubernetes(sample(entries=(big,)))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from((*HOSTILE, *TRAPS)), min_size=1, max_size=5))
def test_hostile_values_stay_values(texts: list[str]) -> None:
    one = entry(argv=("x", *texts), environment=(("A", texts[-1]),), script=None, name=texts[0])
    value = sample(project=texts[-1], spec=texts[0], environment=(("B", texts[0]),), entries=(one,))
    (service,) = services(value).values()
    (plain,) = services(sample(entries=(entry(script=None),))).values()
    assert service.keys() == plain.keys()
    assert [expanded(w) for w in service["entrypoint"] + service["command"]] == ["x", *texts]
    assert {k: expanded(v) for k, v in service["environment"].items()} == contract.environment(
        value, one
    )
    documents = list(yaml.safe_load_all(kubernetes(value)))
    assert [d["kind"] for d in documents] == ["NetworkPolicy", "Job"]
    (container,) = documents[1]["spec"]["template"]["spec"]["containers"]
    assert [expanded(w) for w in container["command"] + container["args"]] == ["x", *texts]
    found = {v["name"]: expanded(v["value"]) for v in container["env"]}
    assert found == contract.environment(value, one)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.sampled_from((*HOSTILE, *TRAPS)),
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30),
    )
)
def test_a_string_is_the_same_string_to_yaml_and_json(text: str) -> None:
    for value in (yaml_string(text), yaml_literal(text)):
        found = yaml.safe_load(f"- {value}\n- end\n")
        assert found == [text if value == yaml_string(text) else text.replace("$", "$$"), "end"]
        assert yaml.safe_load(f"{value}: 1\n") == {found[0]: 1}
    if "${" not in text:
        assert json.loads(json_string(text)) == text


@pytest.mark.parametrize("encoder", [yaml_string, yaml_literal, json_string])
def test_control_characters_are_refused(encoder: Callable[[str], Encoded]) -> None:
    for char in CONTROL:
        with pytest.raises(DiagnosticError, match="E0603"):
            encoder(f"a{char}b")


def read_json(text: str) -> dict[str, Any]:
    """JSON with comments, which stand on lines of their own at the top."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    assert first >= 2
    return dict(json.loads("\n".join(lines[first:])))


def test_devcontainer_builds_from_the_dockerfile_beside_it() -> None:
    found = read_json(devcontainer(sample(accelerator=CUDA)))
    assert found["build"]["dockerfile"] == "Dockerfile"
    assert found["build"]["options"][:2] == [
        "--build-context",
        "wheels=${localWorkspaceFolder}/wheels",
    ]
    assert found["remoteUser"] == str(contract.USER)
    assert found["hostRequirements"] == {"gpu": "optional"}
    assert "hostRequirements" not in read_json(devcontainer(sample()))


@pytest.mark.parametrize("text", [t for t in (*HOSTILE, *TRAPS) if "${" not in t])
def test_devcontainer_keeps_a_name(text: str) -> None:
    found = read_json(devcontainer(sample(project=text, spec=text)))
    assert found["name"] == text
    assert found.keys() == read_json(devcontainer(sample())).keys()


def test_devcontainer_refuses_what_its_readers_would_expand() -> None:
    with pytest.raises(DiagnosticError, match="cannot hold"):
        devcontainer(sample(project="${localEnv:HOME}"))


def test_labels_never_collide() -> None:
    texts = {*HOSTILE, *TRAPS, "a.b", "a-b", "a_b", "A-b", "x" * 40, "x" * 41, "x" * 42}
    labels = {contract.label(t) for t in texts}
    assert len(labels) == len(texts)
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name) for name in labels)


def test_layout_refuses_bare_text() -> None:
    for node in ("x", ["x"], {Encoded("a"): "x"}, {"a": 1}, None):
        for draw in (layout.yaml, layout.json):
            with pytest.raises(TypeError, match="bare"):
                draw(node)  # type: ignore[arg-type]


def test_each_file_begins_with_its_origin() -> None:
    value = sample(entries=LEVELS)
    for text in (compose(value), kubernetes(value), devcontainer(value)):
        assert text.splitlines()[0].lstrip("#/ ").startswith("Made by envspec.")
        assert "From spec.env." in text
