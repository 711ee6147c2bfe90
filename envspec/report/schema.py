"""What a report holds, field by field: the one table that the reader checks with and that
docs/report.schema.json is written from (`python -m envspec.report.schema`)."""

from __future__ import annotations

import json
import sys
from typing import Any

from envspec.report.document import SCHEMA
from envspec.report.shapes import Anything, Fields, Items, Number, Text, Truth, Word, drawn
from envspec.verify import verdicts
from envspec.verify.claims import model as claims

DIGEST = "^(sha256:)?[0-9a-f]{64}$"
_HEX = "^[0-9a-f]{64}$"
_FILE_NAME = "^[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,250}$"


_VERDICTS = (
    verdicts.PASS,
    verdicts.FAIL,
    verdicts.BLOCKED,
    verdicts.NOT_APPLICABLE,
    verdicts.ERROR,
)
_JUDGED = (
    claims.CONFIRMED,
    claims.OVERCLAIM,
    claims.MISMATCH,
    claims.UNDERCLAIM,
    claims.INCONCLUSIVE,
    claims.UNSTATED,
)

_LINE = Number("line of the spec, from 1; 0 for none")
_PLACE = Fields(
    "a place",
    {
        "line": Number("from 1"),
        "column": Number("from 1"),
        "end_line": Number("from 1"),
        "end_column": Number("from 1"),
        "text": Text("what the place has to do with the finding"),
    },
)

_SPEC = Fields(
    "what was verified",
    {
        "spec": Text("name of the spec"),
        "spec_sha256": Text("digest of the spec", _HEX),
        "lock_sha256": Text("digest of the lock", _HEX),
        "plan_sha256": Text("digest of plan.json", _HEX),
        "build_digest": Text("name of the environment: what decides its content", _HEX),
    },
)
_VERIFIER = Fields(
    "who looked, and where",
    {
        "facts_sha256": Text("digest of the tables of facts", _HEX),
        "probes_sha256": Text("digest of the probes", _HEX),
        "system": Text("the host's system"),
        "machine": Text("the host's machine, such as `x86_64`"),
        "kernel": Text("the host's kernel"),
        "glibc": Text("the host's C library; empty where it is another or not known"),
        "gpus": Number("GPUs that the host has"),
    },
)
_ENGINE = Fields(
    "what built and ran it",
    {
        "name": Text("`docker` or `local`", "^[a-z][a-z0-9-]{0,40}$"),
        "version": Text("its version"),
        "chosen": Text("why this engine"),
        "isolation": Text("what keeps the code under test in"),
        "weaknesses": Items("in what it is weaker than it should be", Text("a sentence")),
        "base": Text("the base image that the spec names"),
        "base_substituted": Text("the image that stood in for it; empty for none"),
        "reference": Text("how the engine names what it built"),
        "digest": Text("digest of the image or of the prefix", DIGEST),
        "reused": Truth("whether it was there before"),
        "build_seconds": Number("seconds that the build took", whole=False),
    },
)
_RUNG = Fields(
    "a rung of the pyramid",
    {
        "verdict": Word("the verdict", _VERDICTS),
        "cause": Word("whose fault it is; null for none", verdicts.CAUSES, null=True),
        "reason": Text("what was seen, in a sentence"),
        "evidence": Items("ids of the probe runs behind it", Text("an id")),
        "details": Anything("numbers and names behind the verdict"),
    },
)
_CLAIM = Fields(
    "a claim and its verdict",
    {
        "name": Text(
            "the claim, and what it is about",
            r"^[a-z][a-z0-9_]{0,60}( [A-Za-z0-9_][A-Za-z0-9._-]*)?$",
        ),
        "claimed": Text("the value that the spec states; empty for unstated"),
        "observed": Text("the value that was seen; empty for none"),
        "verdict": Word("the verdict", _JUDGED),
        "note": Text("a sentence, perhaps empty"),
        "line": _LINE,
    },
)
_SCORES = Fields(
    "counts over the claims",
    {
        **{
            name: Number(f"claims: {name.replace('_', ' ')}")
            for name in (
                "claimable",
                "stated",
                "confirmed",
                "overclaims",
                "mismatches",
                "underclaims",
                "inconclusive",
                "unstated",
            )
        },
        "coverage": Number("stated over claimable", whole=False),
        "overclaim_rate": Number("overclaims over stated", whole=False),
        "calibration": Fields(
            "of the rungs that were claimed and judged, how many were as claimed",
            {
                "judged": Number("rungs that were claimed and judged"),
                "as_claimed": Number("of those, as claimed"),
                "rate": Number("the second over the first", whole=False, null=True),
            },
        ),
        "researchenvbench": Fields(
            "contradictions as ResearchEnvBench counts them",
            {name: Number(f"class {name}") for name in ("path", "version", "capability")},
        ),
    },
)
_SEEN = Fields(
    "what claims were held against, beside rungs and identity",
    {
        "interpreter": Truth(
            "whether the claimed interpreter is this one; null: not tried", null=True
        ),
        "gpu_present": Truth("whether the host has a GPU"),
        "accelerator": Word("what the spec says", ("none", "cuda")),
        "processes": Number("processes of the largest distributed entry"),
        "modules": Items(
            "compiled modules that claims name",
            Fields("a module", {"name": Text("its name"), "loaded": Truth("whether it loads")}),
        ),
        "provenance": Fields(
            "where the environment comes from; empty where it has none",
            {
                "platform": Text("system and processor"),
                "repo_url": Text("repository of the source"),
                "repo_commit": Text("commit of the source"),
                "lock_digest": Text("digest of the lock"),
                "image_digest": Text("digest of the image"),
                "flake_lock_digest": Text("digest of flake.lock"),
            },
        ),
    },
)
_EXTENSION = Fields(
    "a wheel that was compiled",
    {
        "name": Text("its package"),
        "version": Text("its version"),
        "file": Text("file name of the wheel", null=True),
        "sha256": Text("digest of the wheel", _HEX, null=True),
        "recorded": Text("digest of the wheel in the lock", _HEX, null=True),
    },
)
_REBUILD = Fields(
    "two clean builds compared; null where nobody asked",
    {
        "verdict": Word("`pass` for the same bytes", (verdicts.PASS, verdicts.FAIL)),
        "digests": Items("digests of the two builds", Text("a digest", DIGEST), least=2, most=2),
        "seconds": Number("seconds that both took", whole=False),
        "differences": Items(
            "files that differ",
            Fields(
                "a file that differs",
                {"file": Text("its path"), "what": Text("what differs"), "line": _LINE},
            ),
        ),
        "not_shown": Number("further files that differ"),
    },
    null=True,
)
_EVIDENCE = Fields(
    "the record of a probe run",
    {
        "id": Text("its name in this report", "^[A-Za-z0-9_.+-]{1,200}$"),
        "probe": Text("the probe"),
        "argv": Items("the command", Text("a word")),
        "cwd": Text("where it ran"),
        "environment": Items("variables of the program under test", Text("NAME=value")),
        "network": Truth("whether it had the network"),
        "gpus": Truth("whether it was shown GPUs"),
        "started": Text(
            "when, in UTC", "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,15}(Z|[+-][0-9:]+)$"
        ),
        "seconds": Number("how long it ran", whole=False),
        "exit_code": Number("exit status", least=None, null=True),
        "signal": Number("the signal that ended it", null=True),
        "timed_out": Truth("whether it ran past its time"),
        "out_of_memory": Truth("whether it ran out of memory"),
        "error": Text("why its answer could not be used; empty where it could"),
        "log": Text("file beside the report that holds its observation", _FILE_NAME),
        "log_sha256": Text("digest of that file", _HEX),
    },
)
_FIX = Fields(
    "a change that a program may make; null for none",
    {
        "description": Text("what it does"),
        "edits": Items(
            "what is put where",
            Fields("an edit", {**_PLACE.fields, "replacement": Text("the new text")}),
        ),
    },
    null=True,
)
_FINDING = Fields(
    "a finding of `envspec check`",
    {
        "code": Text("its page in docs/rules", "^[EW][0-9]{4}$"),
        "severity": Word("how grave it is", ("error", "warning", "note")),
        "title": Text("what is wrong"),
        "file": Text("the file", null=True),
        "labels": Items("where", _PLACE),
        "cause": Text("why"),
        "hint": Text("what mends it"),
        "excerpt": Items("lines of evidence", Text("a line")),
        "fix": _FIX,
    },
)

REPORT = Fields(
    "a report of `envspec verify`",
    {
        "schema": Number("version of this schema", least=SCHEMA),
        "envspec": Text("version of envspec", "^[0-9A-Za-z.+!_-]{1,60}$"),
        "spec": _SPEC,
        "project": Text("name of the project"),
        "verifier": _VERIFIER,
        "engine": _ENGINE,
        "verdict": Word("the whole", (verdicts.PASS, verdicts.FAIL, verdicts.BLOCKED)),
        "rungs": Fields("the rungs", dict.fromkeys(verdicts.RUNGS, _RUNG)),
        "claims": Items("every claimable name", _CLAIM),
        "scores": _SCORES,
        "extensions": Items("wheels that were compiled", _EXTENSION),
        "rebuild": _REBUILD,
        "source_changed": Items("what a run changed", Text("a file, or a sentence")),
        "seen": _SEEN,
        "identity": Anything("what the interpreter says of itself"),
        "network": Items("entries that had the network", Text("an entry")),
        "evidence": Items("every probe run", _EVIDENCE),
        "findings": Items("warnings about the spec", _FINDING),
    },
)


def json_schema() -> dict[str, Any]:
    """The table as JSON Schema 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "EnvSpec report",
        **drawn(REPORT),
    }


def text() -> str:
    """docs/report.schema.json."""
    schema = json_schema()
    schema["properties"]["schema"] = {"description": "version of this schema", "const": SCHEMA}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
