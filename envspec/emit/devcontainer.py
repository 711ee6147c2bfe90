"""The plan → `devcontainer.json`: the same image, opened in an editor."""

from __future__ import annotations

from envspec.emit import contract
from envspec.emit.encode import Encoded, json_string, slash_comment
from envspec.emit.layout import Node, json
from envspec.plan import model as plan

_HOME = "/home/dev"
_HEAD = (
    "Made by envspec. Change the spec and run `envspec compile`, not this file.",
    "In the folder that the editor opens:",
    "  envspec compile SPEC --target docker --target devcontainer -o .devcontainer",
    "  envspec fetch SPEC -o wheels",
)


def devcontainer(value: plan.Plan) -> str:
    """The text of `devcontainer.json`."""
    cuda = value.accelerator.kind == "cuda"
    wheels = Encoded('"wheels=${localWorkspaceFolder}/wheels"')  # of our own, to be expanded
    options = [json_string("--build-context"), wheels]
    options += [json_string("--platform"), json_string(value.platform)]
    arguments = [
        f"--shm-size={contract.shm(value)}",
        f"--tmpfs={_HOME}:rw,exec,nosuid,nodev,mode=0700,uid={contract.USER},gid={contract.USER}",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
    ]
    requirements: dict[Encoded, Node] = {}
    if value.resources.memory:
        arguments.append(f"--memory={value.resources.memory}")
        requirements[json_string("memory")] = json_string(f"{value.resources.memory >> 20}mb")
    if value.resources.disk:
        requirements[json_string("storage")] = json_string(f"{value.resources.disk >> 20}mb")
    if cuda:
        # Who has no GPU can still read, write and run c1; where there is one, all are shown.
        requirements[json_string("gpu")] = json_string("optional")
    document: dict[str, Node] = {
        "name": json_string(value.project),
        "build": _keys(
            dockerfile=json_string("Dockerfile"), context=json_string("."), options=options
        ),
        "runArgs": [json_string(a) for a in arguments],
        # The image's user has no home folder, which editors need for what they install.
        "containerEnv": _keys(
            HOME=json_string(_HOME),
            GLOO_SOCKET_IFNAME=json_string("lo"),
            NCCL_SOCKET_IFNAME=json_string("lo"),
        ),
        "containerUser": json_string(str(contract.USER)),
        "remoteUser": json_string(str(contract.USER)),
        "updateRemoteUserUID": False,
    }
    if requirements:
        document["hostRequirements"] = requirements
    head = [slash_comment(line) for line in (*_HEAD, f"From {value.spec}.")]
    return "\n".join(head) + "\n" + json(_keys(**document)) + "\n"


def _keys(**values: Node) -> Node:
    return {json_string(key): value for key, value in values.items()}
