"""The plan → `compose.yaml`: one service for each entry, in a profile for its level."""

from __future__ import annotations

from envspec.emit import contract
from envspec.emit.encode import Encoded, comment, token, yaml_literal, yaml_string
from envspec.emit.layout import Node, yaml
from envspec.plan import model as plan

_HEAD = (
    "Made by envspec. Change the spec and run `envspec compile`, not this file.",
    "",
    "One service for each entry. In the folder of this file, after `envspec fetch SPEC -o WHEELS`:",
    "  export ENVSPEC_WHEELS=WHEELS ENVSPEC_SPEC=FOLDER-OF-THE-SPEC",
    "  docker compose --profile c1 up --build --abort-on-container-exit",
    "Needs Docker Compose 2.17 or newer. How an entry ended is its exit status; Compose sets",
    "no time limit.",
)


def compose(value: plan.Plan) -> str:
    """The text of `compose.yaml`."""
    lines = [comment(line) if line else Encoded("#") for line in _HEAD]
    lines += [Encoded(""), comment(f"From {value.spec}."), Encoded("")]
    services: dict[Encoded, Node] = {
        yaml_string(contract.label(e.name)): _service(value, e) for e in value.entries
    }
    document: dict[Encoded, Node] = {
        Encoded("name"): yaml_string(contract.label(value.project)),
        Encoded("services"): services,
    }
    return "\n".join(lines) + yaml(document)


def _service(value: plan.Plan, entry: plan.Entry) -> Node:
    service: dict[str, Node] = {
        "profiles": [yaml_string(entry.level)],
        "image": yaml_string(f"localhost/{contract.image(value)}"),
        # Built here or not at all: nobody else's image of that name is ever pulled.
        "pull_policy": yaml_string("build"),
        "platform": yaml_literal(value.platform),
        "build": _keys(
            context=yaml_string("."),
            dockerfile=yaml_string("Dockerfile"),
            additional_contexts=_keys(wheels=yaml_string("${ENVSPEC_WHEELS:-../../wheels}")),
        ),
        "entrypoint": [yaml_literal(entry.argv[0])],
        "command": [yaml_literal(a) for a in entry.argv[1:]],
        "working_dir": yaml_string(plan.SOURCE),
        "environment": {
            yaml_string(token(k)): yaml_literal(v)
            for k, v in contract.environment(value, entry).items()
        },
        "user": yaml_string(f"{contract.USER}:{contract.USER}"),
        "network_mode": yaml_string("bridge" if entry.network else "none"),
        "read_only": True,
        "tmpfs": [
            yaml_string(f"/tmp:rw,exec,nosuid,nodev,mode=1777,size={contract.SCRATCH}")  # noqa: S108
        ],
        "shm_size": contract.shm(value),
        "mem_limit": contract.memory(value),
        "memswap_limit": contract.memory(value),
        "cap_drop": [yaml_string("ALL")],
        "security_opt": [yaml_string("no-new-privileges:true")],
        "pids_limit": contract.PROCESSES,
        "restart": yaml_string("no"),
    }
    if entry.script:
        service["volumes"] = [_script(entry.script)]
    count = contract.gpus(value, entry)
    if count:
        device = _keys(
            driver=yaml_string("nvidia"),
            count=count,
            capabilities=[yaml_string("gpu")],
        )
        service["deploy"] = _keys(
            resources=_keys(reservations=_keys(devices=[device])),
        )
    return _keys(**service)


def _script(script: plan.Script) -> Node:
    # Contents given in this file would be copied in, which a read-only root refuses.
    source = "${ENVSPEC_SPEC:-../..}/"
    return _keys(
        type=yaml_string("bind"),
        source=Encoded(yaml_string(source)[:-1] + yaml_literal(script.name)[1:]),
        target=yaml_literal(f"{plan.ENTRIES}/{script.name}"),
        read_only=True,
        bind=_keys(create_host_path=False),
    )


def _keys(**values: Node) -> Node:
    return {Encoded(key): value for key, value in values.items()}
