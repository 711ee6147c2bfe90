"""The checks of a flake, where there is something to check: `c1`, `wheel-NAME`, and the program
that `c0` runs."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

from envspec.emit import contract, templates
from envspec.emit.encode import Encoded, nix_list, nix_string, token
from envspec.plan import model as plan


def entry_checks(value: plan.Plan) -> Encoded:
    """The check that runs the c1 entries; none where there are none."""
    lines: list[str] = []
    for entry in value.entries:
        if entry.level == "c1":
            key, status = nix_string(entry.name), token(str(entry.expect.status))
            lines += [
                "status=0",
                f"${{entries.{key}}} || status=$?",
                f"echo ${{escapeShellArg {key}}}: status $status, {status} expected | tee -a $out",
                f"[ $status -eq {status} ]",
            ]
    if not lines:
        return Encoded("")
    body = "".join(f"\n          {line}" for line in lines)
    return Encoded(f"\n        c1 = pkgs.runCommand \"c1\" {{ }} ''{body}\n        '';")


def recorded(value: plan.Plan) -> Encoded:
    """The checks of wheels that were recorded when an image was built."""
    blocks: list[str] = []
    for step in value.extensions:
        if step.sha256:
            label, pair = token(contract.label(step.name)), nix_list([step.sha256, step.wheel])
            blocks.append(
                "\n        # The wheel that was recorded when an image was built; another compiler"
                " makes another."
                f"\n        wheel-{label} = pkgs.runCommand \"wheel\" {{ }} ''"
                f"\n          cd ${{extension-{label}}}"
                f"\n          printf '%s  %s\\n' ${{escapeShellArgs {pair}}} \\"
                "\n            | sha256sum --check | tee $out"
                "\n        '';"
            )
    return Encoded("".join(blocks))


def program_of_checks() -> Encoded:
    """The program of `checks.c0`. It holds nothing that a Nix string would expand."""
    text = Path(templates.__file__).with_name("c0.txt").read_text(encoding="utf-8")
    return Encoded(indent(text.rstrip("\n"), " " * 8))
