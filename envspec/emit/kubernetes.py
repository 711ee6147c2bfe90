"""The plan → `kubernetes.yaml`: a Job for each entry, cut off from the network where it asks for
none, with its script in a ConfigMap."""

from __future__ import annotations

import base64

from envspec.diagnostics import DiagnosticError
from envspec.emit import contract
from envspec.emit.encode import Encoded, comment, token, yaml_literal, yaml_string
from envspec.emit.layout import Node, yaml
from envspec.plan import model as plan

_HEAD = (
    "Made by envspec. Change the spec and run `envspec compile`, not this file.",
    "",
    "A Job for each entry. The image stands for the one you build from the Dockerfile and push;",
    "`registry.invalid` is no machine, so that nothing is pulled by mistake. Put yours in:",
    "  sed 's|registry.invalid/[^\"]*|REGISTRY/NAME@sha256:DIGEST|' kubernetes.yaml | "
    "kubectl apply -f -",
    "Where an entry asks for no network, a NetworkPolicy says so; a cluster without a network",
    "plugin that enforces policies ignores it. A pod's memory counts what is in /dev/shm.",
)
_MAX_CONFIG = 1_000_000  # a ConfigMap holds 1 MiB
_KEY = "script"


def kubernetes(value: plan.Plan) -> str:
    """The text of `kubernetes.yaml`."""
    lines = [comment(line) if line else Encoded("#") for line in _HEAD]
    lines += [Encoded(""), comment(f"From {value.spec}.")]
    documents = [d for e in value.entries for d in _entry(value, e)]
    return "\n".join(lines) + "\n" + "".join(f"---\n{yaml(d)}" for d in documents)


def _entry(value: plan.Plan, entry: plan.Entry) -> list[Node]:
    documents: list[Node] = []
    if entry.script:
        documents.append(_config(value, entry, entry.script))
    if not entry.network:
        documents.append(_policy(value, entry))
    return [*documents, _job(value, entry)]


def _name(value: plan.Plan, entry: plan.Entry) -> Encoded:
    return yaml_string(contract.label(f"{contract.label(value.project)}-{entry.name}"))


def _head(value: plan.Plan, entry: plan.Entry, api: str, kind: str) -> dict[str, Node]:
    return {
        "apiVersion": yaml_string(api),
        "kind": yaml_string(kind),
        "metadata": _keys(name=_name(value, entry), labels=_labels(value, entry)),
    }


def _labels(value: plan.Plan, entry: plan.Entry) -> Node:
    return {
        yaml_string("app.kubernetes.io/managed-by"): yaml_string("envspec"),
        yaml_string("app.kubernetes.io/part-of"): yaml_string(contract.label(value.project)),
        yaml_string("app.kubernetes.io/name"): _name(value, entry),
    }


def _config(value: plan.Plan, entry: plan.Entry, script: plan.Script) -> Node:
    content = base64.b64encode(script.content).decode("ascii")
    if len(content) > _MAX_CONFIG:
        raise DiagnosticError.of(
            "E0603",
            "the script of an entry is too big for a Kubernetes ConfigMap",
            cause=f"it has {len(script.content):,} bytes, and a ConfigMap holds 1 MiB",
            hint="put it into the source archive, and let the entry `run` it",
        )
    # Base64 holds nothing that has to be quoted, and its length is bounded above.
    data = {Encoded(_KEY): Encoded(f'"{content}"')}
    head = _head(value, entry, "v1", "ConfigMap")
    return _keys(**head, immutable=True, binaryData=data)


def _policy(value: plan.Plan, entry: plan.Entry) -> Node:
    name = {yaml_string("app.kubernetes.io/name"): _name(value, entry)}
    return _keys(
        **_head(value, entry, "networking.k8s.io/v1", "NetworkPolicy"),
        spec=_keys(
            podSelector=_keys(matchLabels=name),
            policyTypes=[yaml_string("Ingress"), yaml_string("Egress")],
        ),
    )


def _job(value: plan.Plan, entry: plan.Entry) -> Node:
    pod: dict[str, Node] = {
        "restartPolicy": yaml_string("Never"),
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,  # variables of the cluster's services are no part of the plan
        "nodeSelector": {
            yaml_string("kubernetes.io/os"): yaml_string(value.platform.split("/")[0]),
            yaml_string("kubernetes.io/arch"): yaml_string(value.platform.split("/")[-1]),
        },
        "securityContext": _keys(
            runAsNonRoot=True,
            runAsUser=contract.USER,
            runAsGroup=contract.USER,
            seccompProfile=_keys(type=yaml_string("RuntimeDefault")),
        ),
        "containers": [_container(value, entry)],
        "volumes": _volumes(value, entry),
    }
    annotations = {yaml_string("envspec/expect-status"): yaml_string(str(entry.expect.status))}
    return _keys(
        **_head(value, entry, "batch/v1", "Job"),
        spec=_keys(
            backoffLimit=0,
            activeDeadlineSeconds=entry.timeout,
            template=_keys(
                metadata=_keys(labels=_labels(value, entry), annotations=annotations),
                spec=_keys(**pod),
            ),
        ),
    )


def _container(value: plan.Plan, entry: plan.Entry) -> Node:
    limits: dict[Encoded, Node] = {Encoded("memory"): yaml_string(str(contract.memory(value)))}
    count = contract.gpus(value, entry)
    if count:
        limits[yaml_string("nvidia.com/gpu")] = yaml_string(str(count))
    variables = contract.environment(value, entry)
    mounts: list[Node] = [
        _keys(name=yaml_string("shm"), mountPath=yaml_string("/dev/shm")),  # noqa: S108
        _keys(name=yaml_string("tmp"), mountPath=yaml_string("/tmp")),  # noqa: S108
    ]
    if entry.script:
        path = yaml_string(f"{plan.ENTRIES}/{entry.script.name}")
        mounts.append(
            _keys(name=yaml_string(_KEY), mountPath=path, subPath=yaml_string(_KEY), readOnly=True)
        )
    return _keys(
        name=yaml_string("entry"),
        image=yaml_string(f"registry.invalid/{contract.image(value)}"),
        command=[yaml_literal(entry.argv[0])],
        args=[yaml_literal(a) for a in entry.argv[1:]],
        workingDir=yaml_string(plan.SOURCE),
        env=[
            _keys(name=yaml_string(token(k)), value=yaml_literal(v)) for k, v in variables.items()
        ],
        resources=_keys(requests=limits, limits=limits),
        securityContext=_keys(
            allowPrivilegeEscalation=False,
            readOnlyRootFilesystem=True,
            capabilities=_keys(drop=[yaml_string("ALL")]),
        ),
        volumeMounts=mounts,
    )


def _volumes(value: plan.Plan, entry: plan.Entry) -> list[Node]:
    shm = _keys(
        medium=yaml_string("Memory"),
        sizeLimit=yaml_string(str(contract.shm(value))),
    )
    volumes: list[Node] = [
        _keys(name=yaml_string("shm"), emptyDir=shm),
        _keys(
            name=yaml_string("tmp"),
            emptyDir=_keys(sizeLimit=yaml_string(str(contract.SCRATCH))),
        ),
    ]
    if entry.script:
        volumes.append(_keys(name=yaml_string(_KEY), configMap=_keys(name=_name(value, entry))))
    return volumes


def _keys(**values: Node) -> Node:
    return {Encoded(key): value for key, value in values.items()}
