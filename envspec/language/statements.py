"""The table of words: which statement may stand where, how often, and what it means.

The grammar knows shapes only. `envspec.language.resolve` checks this table, and docs/language.md
is tested against it, so the two cannot disagree.
"""

from __future__ import annotations

from typing import NamedTuple

from envspec.language import values
from envspec.language.values import Shape

ONCE = "once"
REQUIRED = "required"
MANY = "many"


class Word(NamedTuple):
    """One statement.

    ``inside`` is the word of the block it stands in, ``""`` for the top level. ``form`` shows
    how it is written. ``names`` says that the first value names it, so that each name may stand
    once. ``block`` says whether it may have one.
    """

    inside: str
    word: str
    form: str
    often: str
    meaning: str
    names: bool = False
    block: bool = False


WORDS = (
    Word("", "envspec", "envspec 1", REQUIRED, "The language version; the first statement"),
    Word("", "project", "project NAME { … }", REQUIRED, "What is under test", block=True),
    Word(
        "project",
        "source",
        'source archive "FILE" sha256 "HEX" [from INDEX]',
        REQUIRED,
        "The code under test; without `from`, a file beside the spec",
    ),
    Word(
        "project",
        "pythonpath",
        'pythonpath "FOLDER" …',
        ONCE,
        "Folders of the source that imports start from; default: its top folder",
    ),
    Word("", "platform", "platform OS/ARCH { … }", REQUIRED, "Where it runs", block=True),
    Word(
        "platform",
        "base",
        'base "IMAGE[@sha256:DIGEST]"',
        REQUIRED,
        "The image everything stands on; without a digest, the lock asks the registry for it",
    ),
    Word("platform", "python", "python X.Y", REQUIRED, "The Python release"),
    Word(
        "platform", "glibc", "glibc >=X.Y", ONCE, "The C library wheels may rely on; default 2.28"
    ),
    Word(
        "",
        "accelerator",
        "accelerator none | cuda X.Y { … }",
        ONCE,
        "The GPU platform; default none",
        block=True,
    ),
    Word("accelerator", "driver", "driver >=X.Y", ONCE, "The driver floor; computed when left out"),
    Word("accelerator", "gpus", "gpus sm_XY …", ONCE, "Architectures that must be covered"),
    Word("accelerator", "cudnn", "cudnn X.Y", ONCE, "The cuDNN release"),
    Word("accelerator", "nccl", "nccl X.Y", ONCE, "The NCCL release"),
    Word(
        "", "index", 'index NAME ["URL"]', MANY, "A package index, known by its alias", names=True
    ),
    Word("", "packages", "packages { … }", ONCE, "Python packages", block=True),
    Word(
        "packages",
        "NAME",
        'NAME[EXTRA,…] [SPECIFIER] [from INDEX] [because "REASON"]',
        MANY,
        "A package, resolved together with all others",
        names=True,
    ),
    Word("", "system", "system { … }", ONCE, "Packages of the distribution", block=True),
    Word("system", "runtime", "runtime NAME …", ONCE, "Needed when the code runs"),
    Word("system", "build", "build NAME …", ONCE, "Needed by steps only"),
    Word(
        "",
        "step",
        "step NAME { … }",
        MANY,
        "A command that has to run before the code works, without network",
        names=True,
        block=True,
    ),
    Word("step", "run", 'run "PROGRAM" "ARGUMENT" …', REQUIRED, "Its argument list; no shell"),
    Word("", "env", "env { … }", ONCE, "Environment variables", block=True),
    Word("env", "NAME", 'NAME="VALUE"', MANY, "A variable", names=True),
    Word("", "imports", "imports { … }", ONCE, "What is known of the imports", block=True),
    Word(
        "imports",
        "optional",
        'optional MODULE because "REASON"',
        MANY,
        "An import the source may do without; listed apart in C0, never hidden",
        names=True,
    ),
    Word(
        "",
        "entry",
        "entry NAME { … }",
        MANY,
        "A command that shows a rung",
        names=True,
        block=True,
    ),
    Word("entry", "level", "level c1 | c3 | c4", REQUIRED, "The rung it shows"),
    Word("entry", "run", 'run "PROGRAM" "ARGUMENT" …', ONCE, "Its argument list; no shell"),
    Word("entry", "script", 'script "FILE" ["ARGUMENT" …]', ONCE, "A Python file beside the spec"),
    Word("entry", "timeout", "timeout 10m", ONCE, "Time limit; default 10m"),
    Word("entry", "processes", "processes N", ONCE, "How many processes it starts; default 1"),
    Word("entry", "env", 'env NAME="VALUE" …', ONCE, "Variables of this entry only"),
    Word("entry", "network", "network allowed", ONCE, "Leave the network on; shown in the report"),
    Word("", "claims", "claims { … }", ONCE, "What the spec says of its environment", block=True),
)

# Claims are statements too; each has one value, or `unstated`.
CLAIMS: dict[str, tuple[Shape, str]] = {
    "python_path": (values.ABSOLUTE, "Path of the interpreter inside the environment"),
    "python_version": (values.VERSION, "Its version, or the first numbers of it"),
    "torch_version": (values.VERSION, "The installed torch"),
    "cuda_available": (values.BOOLEAN, "Whether a framework sees a GPU"),
    "gpu_count": (values.COUNT, "How many GPUs a framework sees"),
    "c0_missing": (values.COUNT, "Distinct required imports that are missing"),
    "c0": (values.VERDICT, "Every import is there and loads"),
    "c1": (values.VERDICT, "The entry runs on CPU"),
    "c2": (values.VERDICT, "The binaries fit the driver and the GPUs"),
    "c3": (values.VERDICT, "A kernel and the entry run on one GPU"),
    "c4": (values.VERDICT, "It runs distributed"),
}


def words_in(block: str) -> dict[str, Word]:
    """The statements that may stand in a block, by word, in the order of the table."""
    return _BY_BLOCK.get(block, {})


_BY_BLOCK: dict[str, dict[str, Word]] = {}
for _word in WORDS:
    _BY_BLOCK.setdefault(_word.inside, {})[_word.word] = _word
_BY_BLOCK["claims"] = {
    name: Word("claims", name, f'{name} VALUE [because "REASON"]', ONCE, meaning)
    for name, (_, meaning) in CLAIMS.items()
}
