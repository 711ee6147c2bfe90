"""The table of words: which statement may stand where, what values it takes, and what it means.

The grammar knows shapes only. Everything that has to know words reads this table: resolving,
docs/language.md, the JSON form and its schema, completion and hover. So they cannot disagree.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from envspec.language import values
from envspec.language.syntax import ASSIGNMENT, STRING, WORD
from envspec.language.values import Shape

ONCE = "once"
REQUIRED = "required"
MANY = "many"
EITHER = "word or string"


class Param(NamedTuple):
    """One value of a statement, or, with ``many``, one or more of them.

    ``key`` is its name in the JSON form, ``label`` how a form shows it. ``kind`` says whether it
    is a word, a string, an assignment or either of the first two. ``lead`` is the word that stands
    before it (``from``, ``because``). There may be ``most`` of those that may be ``many``.
    """

    key: str
    label: str
    shape: Shape
    kind: str = WORD
    lead: str = ""
    optional: bool = False
    many: bool = False
    most: int = 1000

    @property
    def shown(self) -> str:
        """The value as a form shows it."""
        text = f'"{self.label}"' if self.kind == STRING else self.label
        if self.kind == ASSIGNMENT:
            text = f'{self.label}="VALUE"'
        text = f"{self.lead} {text}" if self.lead else text
        if self.many:
            text = f"[{text} …]" if self.optional else f"{text} …"
        elif self.optional:
            text = f"[{text}]"
        return text


class Form(NamedTuple):
    """One way to write a statement. ``choose`` is the word that tells it from the others."""

    params: tuple[Param, ...]
    choose: str = ""


class _Row(NamedTuple):
    inside: str
    word: str
    forms: tuple[Form, ...]
    often: str
    meaning: str
    default: str
    example: str
    names: bool = False
    block: bool = False
    codes: tuple[str, ...] = ()


class Word(_Row):
    """One statement.

    ``inside`` is the word of the block it stands in, ``""`` for the top level. ``meaning`` is one
    line; ``default`` says what holds where it is left out. ``names`` says that its first value
    names it, so that each name may stand once. ``block`` says whether it may have one. ``codes``
    are the findings it can raise besides those of every statement (E0201, E0202, E0206).
    """

    # No __slots__: `form` is worked out once, when somebody asks.

    @cached_property
    def form(self) -> str:
        """How it is written, all ways of it."""
        if self.word == "NAME":
            return self.forms[0].params[0].label
        ways = [
            " ".join(filter(None, (form.choose, *(p.shown for p in form.params))))
            for form in self.forms
        ]
        text = f"{self.word} {' | '.join(ways)}".rstrip()
        return f"{text} {{ … }}" if self.block else text

    @property
    def params(self) -> tuple[Param, ...]:
        """The values of all its forms."""
        return tuple(p for form in self.forms for p in form.params)


def _one(
    label: str, shape: Shape, kind: str = WORD, key: str = "value", *, many: bool = False
) -> Param:
    return Param(key, label, shape, kind, many=many)


def _named(shape: Shape = values.NAME) -> Param:
    return Param("name", "NAME", shape)


_FROM = Param("from", "INDEX", values.NAME, lead="from", optional=True)
_BECAUSE = Param("because", "REASON", values.REASON, STRING, lead="because", optional=True)
_WHY = _BECAUSE._replace(optional=False)
_COMMAND = Param("value", "PROGRAM", values.TEXT, STRING, many=True)
_VARIABLES = Param("value", "NAME", values.TEXT, ASSIGNMENT, many=True)
_COMMIT = "2f1d8a3f0b7f4c5e9d6a1b2c3d4e5f60718293a4"
_SHA = "17f2c50ccb0e2b93f83a84c1374ff7158ed3852310910d6fed26c925776ae403"
_COMMIT = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


def _way(*params: Param, choose: str = "") -> tuple[Form, ...]:
    return (Form(params, choose),)


WORDS: tuple[Word, ...] = (
    Word(
        "", "envspec", _way(_one("1", values.COUNT)), REQUIRED,
        "The language version; the first statement", "none", "envspec 1",
        codes=("E0106",),
    ),
    # --- what is under test, and where ---
    Word(
        "", "project", _way(_named()), REQUIRED, "What is under test", "none",
        f'project demo {{\n  source archive "demo-1.0.tar.gz" sha256 "{_SHA}" from pypi\n}}',
        block=True, codes=("E0204",),
    ),
    Word(
        "project", "source",
        (
            Form(
                (
                    Param("archive", "FILE", values.FILE_NAME, STRING),
                    Param("sha256", "HEX", values.SHA256, STRING, lead="sha256"),
                    _FROM,
                ),
                "archive",
            ),
            Form((Param("path", "FOLDER", values.RELATIVE, STRING),), "path"),
            Form(
                (
                    Param("git", "URL", values.GIT_URL, STRING),
                    Param("at", "COMMIT", values.COMMIT, STRING, lead="at"),
                ),
                "git",
            ),
        ),
        REQUIRED, "The code under test: an archive, a folder beside the spec, or a commit", "none",
        f'source archive "demo-1.0.tar.gz" sha256 "{_SHA}" from pypi',
        codes=("E0204", "E0205", "E0420", "E0421", "E0422", "E0423", "E0424", "E0425", "E0426"),
    ),
    Word(
        "project", "pythonpath", _way(_one("FOLDER", values.RELATIVE, STRING, many=True)), ONCE,
        "Folders of the source that imports start from", "the top folder of the source",
        'pythonpath "src" "."',
    ),
    Word(
        "", "platform", _way(_one("OS/ARCH", values.PLATFORM, key="os_arch")), REQUIRED,
        "Where it runs", "none",
        'platform linux/amd64 {\n  base   "python:3.11-slim-bookworm"\n  python 3.11\n'
        "  glibc  >=2.28\n}",
        block=True, codes=("E0204",),
    ),
    Word(
        "platform", "base", _way(_one("IMAGE[@sha256:DIGEST]", values.IMAGE, STRING), _BECAUSE),
        REQUIRED,
        "The image everything stands on; without a digest, the lock asks the registry for it",
        "none", 'base "python:3.11-slim-bookworm"', codes=("E0204", "E0406"),
    ),
    Word(
        "platform", "devel", _way(_one("IMAGE[@sha256:DIGEST]", values.IMAGE, STRING)), ONCE,
        "The image of the stage that compiles extensions", "the base",
        'devel "nvidia/cuda:12.8.1-devel-ubuntu22.04"',
    ),
    Word(
        "platform", "python", _way(_one("X.Y", values.PYTHON), _BECAUSE), REQUIRED,
        "The Python release", "none", "python 3.11", codes=("E0204",),
    ),
    Word(
        "platform", "glibc", _way(_one(">=X.Y", values.FLOOR), _BECAUSE), ONCE,
        "The C library wheels may rely on", "`>=2.28`", "glibc >=2.31", codes=("E0404",),
    ),
    # --- the accelerator and the machine ---
    Word(
        "", "accelerator",
        _way(
            Param("kind", "none | cuda", values.ACCELERATOR),
            Param("toolkit", "X.Y", values.NUMBER_DOTTED, optional=True),
        ),
        ONCE, "The GPU platform", "`accelerator none`",
        "accelerator cuda 12.8 {\n  driver >=525.60.13\n  gpus   sm_80 sm_90\n}", block=True,
        codes=("E0353", "W0350"),
    ),
    Word(
        "accelerator", "driver", _way(_one(">=X.Y", values.FLOOR), _BECAUSE), ONCE,
        "The oldest driver of the host", "computed from the toolkit", "driver >=525.60.13",
    ),
    Word(
        "accelerator", "gpus",
        _way(_one("sm_XY", values.GPU, many=True)._replace(most=50), _BECAUSE), ONCE,
        "Architectures that every native library must cover", "no architecture is asked for",
        "gpus sm_80 sm_90",
    ),
    Word(
        "accelerator", "cudnn", _way(_one("X.Y", values.NUMBER_DOTTED), _BECAUSE), ONCE,
        "The cuDNN release", "whatever the packages bring", "cudnn 9.10",
    ),
    Word(
        "accelerator", "nccl", _way(_one("X.Y", values.NUMBER_DOTTED), _BECAUSE), ONCE,
        "The NCCL release", "whatever the packages bring", "nccl 2.27",
    ),
    Word(
        "", "resources", (Form(()),), ONCE, "What the machine must give", "nothing is asked for",
        "resources {\n  memory 32GiB\n  shm    8GiB\n}", block=True,
    ),
    Word(
        "resources", "memory", _way(_one("SIZE", values.SIZE)), ONCE,
        "Memory of each entry; the number of compile jobs follows from it", "`8GiB`",
        "memory 32GiB",
    ),
    Word(
        "resources", "shm", _way(_one("SIZE", values.SIZE)), ONCE,
        "Shared memory (`/dev/shm`) of each entry", "`1GiB`", "shm 8GiB",
    ),
    Word(
        "resources", "disk", _way(_one("SIZE", values.SIZE)), ONCE,
        "Free disk space that `verify` asks for before it builds", "not asked for", "disk 50GiB",
    ),
    Word(
        "resources", "jobs", _way(_one("N", values.PROCESSES)), ONCE,
        "Compile jobs at once (`MAX_JOBS`)", "as many as the memory is enough for", "jobs 4",
    ),
    # --- where things come from ---
    Word(
        "", "index",
        _way(_named(), Param("url", "URL", values.URL, STRING, optional=True)), MANY,
        "A package index, known by its alias", "`pypi` and `pytorch-…` are known",
        'index lab "https://wheels.example.org/simple"', names=True, codes=("E0205",),
    ),
    Word(
        "", "mirror", _way(_named(), Param("for", "INDEX", values.NAME, lead="for")), MANY,
        "Another place for the files of an index; each machine knows its address", "no mirrors",
        "mirror campus for pypi", names=True, codes=("E0205",),
    ),
    Word(
        "", "secret", _way(_named(values.VARIABLE), _WHY), MANY,
        "The name of a value that the machine keeps; never the value", "no secrets",
        'secret HF_TOKEN because "the model is gated"', names=True,
    ),
    # --- what is installed ---
    Word(
        "", "packages", (Form(()),), ONCE, "Python packages", "no packages",
        "packages {\n  torch       ==2.13.0+cpu from pytorch-cpu\n  jax[cuda12] >=0.5,<0.6\n"
        "  loguru\n}",
        block=True, codes=("E0403", "E0404"),
    ),
    Word(
        "packages", "NAME",
        _way(
            Param(
                "name", 'NAME[EXTRA,…] [SPECIFIER] [from INDEX] [because "REASON"]', values.PACKAGE
            ),
            Param("specifier", "SPECIFIER", values.SPECIFIER, optional=True),
            _FROM,
            _BECAUSE,
        ),
        MANY, "A package, resolved together with all others", "any release, from `pypi`",
        'datasets >=2.19 because "imported at run time, declared nowhere"', names=True,
        codes=("E0205", "E0353", "E0403", "E0404", "W0350"),
    ),
    Word(
        "", "system", (Form(()),), ONCE, "Packages of the distribution", "no packages",
        "system {\n  runtime libgl1 libglib2.0-0\n  build   g++-12\n}", block=True,
        codes=("E0411", "E0412", "E0413", "E0414"),
    ),
    Word(
        "system", "runtime", _way(_one("NAME", values.SYSTEM_PACKAGE, many=True)), ONCE,
        "Needed when the code runs", "none", "runtime libgl1 libglib2.0-0",
    ),
    Word(
        "system", "build", _way(_one("NAME", values.SYSTEM_PACKAGE, many=True)), ONCE,
        "Needed by steps and extensions only", "none", "build g++-12 ninja-build",
    ),
    Word(
        "", "extension",
        _way(
            _named(values.NAME),
            Param("specifier", "SPECIFIER", values.SPECIFIER, optional=True),
            _FROM,
            _BECAUSE,
        ),
        MANY, "A native package, compiled against the locked torch", "no extensions",
        "extension flash-attn ==2.8.3 {\n  needs  torch ninja packaging setuptools wheel\n"
        '  env    FLASH_ATTENTION_FORCE_BUILD="TRUE"\n  module flash_attn_2_cuda\n}',
        names=True, block=True,
        codes=("E0205", "E0430", "E0431", "E0432", "E0433", "E0434", "E0435", "E0436"),
    ),
    Word(
        "extension", "source",
        _way(
            Param("git", "URL", values.GIT_URL, STRING),
            Param("at", "COMMIT", values.COMMIT, STRING, lead="at"),
            choose="git",
        ),
        ONCE, "The repository it comes from, at one commit", "the index",
        f'source git "https://example.org/ext.git" at "{_COMMIT}"',
        codes=("E0420", "E0421", "E0422", "E0423", "E0424", "E0425"),
    ),
    Word(
        "extension", "needs", _way(_one("NAME", values.NAME, many=True)), ONCE,
        "Packages that its build imports", "`torch setuptools wheel`",
        "needs torch ninja packaging setuptools wheel",
    ),
    Word(
        "extension", "env", _way(_VARIABLES), ONCE, "Variables of its build", "no variables",
        'env MAX_JOBS="4"', codes=("E0303",),
    ),
    Word(
        "extension", "module", _way(_one("MODULE", values.MODULE, many=True)), ONCE,
        "Modules that must load afterwards", "none", "module flash_attn_2_cuda",
    ),
    Word(
        "", "step", _way(_named()), MANY,
        "A command that has to run before the code works, without network", "no steps",
        'step rope {\n  run "python" "setup.py" "build_ext" "--inplace"\n}',
        names=True, block=True, codes=("E0204",),
    ),
    Word(
        "step", "run", _way(_COMMAND), REQUIRED, "Its argument list; no shell", "none",
        'run "python" "setup.py" "build_ext" "--inplace"', codes=("E0204",),
    ),
    Word(
        "step", "env", _way(_VARIABLES), ONCE, "Variables of this step only", "no variables",
        'env FORCE_CUDA="1"', codes=("E0303",),
    ),
    Word(
        "", "env", (Form(()),), ONCE, "Environment variables", "no variables",
        'env {\n  HF_HUB_OFFLINE="1"\n  OMP_NUM_THREADS="4"\n}', block=True, codes=("E0303",),
    ),
    Word(
        "env", "NAME", _way(Param("value", 'NAME="VALUE"', values.TEXT, ASSIGNMENT)), MANY,
        "A variable", "none", 'HF_HUB_OFFLINE="1"', names=True, codes=("E0303",),
    ),
    # --- what entries need ---
    Word(
        "", "asset", _way(_named()), MANY, "A file or a model that entries need", "no assets",
        'asset bert-tiny {\n  hub      "prajjwal1/bert-tiny"\n'
        '  revision "6f75de8b60a9f8a2fdf7b69cbd86d9e64bcb3837"\n'
        f'  sha256   "{_SHA}"\n}}',
        names=True, block=True, codes=("E0204", "E0208"),
    ),
    Word(
        "asset", "hub", _way(_one("OWNER/NAME", values.HUB, STRING)), ONCE,
        "A repository of a model hub", "none; `hub` or `url` is required",
        'hub "prajjwal1/bert-tiny"',
    ),
    Word(
        "asset", "url", _way(_one("URL", values.URL, STRING)), ONCE,
        "The address of a file", "none; `hub` or `url` is required",
        'url "https://example.org/weights.pt"',
    ),
    Word(
        "asset", "revision", _way(_one("REVISION", values.REVISION, STRING)), ONCE,
        "The revision of the hub's repository; required with `hub`", "none",
        'revision "6f75de8b60a9f8a2fdf7b69cbd86d9e64bcb3837"',
    ),
    Word(
        "asset", "sha256", _way(_one("HEX", values.SHA256, STRING)), REQUIRED,
        "What its bytes hash to", "none", f'sha256 "{_SHA}"', codes=("E0204",),
    ),
    Word(
        "asset", "folder", _way(_one("FOLDER", values.RELATIVE, STRING)), ONCE,
        "Where it lies in the source", "`assets/NAME`", 'folder "checkpoints"',
    ),
    Word(
        "asset", "secret", _way(_one("NAME", values.VARIABLE)), ONCE,
        "The secret that fetching it takes", "none", "secret HF_TOKEN", codes=("E0205",),
    ),
    Word(
        "", "service", _way(_named()), MANY, "A server that entries need", "no services",
        'service db {\n  image "postgres:16"\n  port  5432\n  env   POSTGRES_PASSWORD="test"\n'
        '  ready "pg_isready"\n}',
        names=True, block=True, codes=("E0204", "E0208"),
    ),
    Word(
        "service", "image", _way(_one("IMAGE[@sha256:DIGEST]", values.IMAGE, STRING)), REQUIRED,
        "The image it runs", "none", 'image "postgres:16"', codes=("E0204",),
    ),
    Word(
        "service", "port", _way(_one("N", values.PORT)), REQUIRED, "The port it listens on",
        "none", "port 5432", codes=("E0204",),
    ),
    Word(
        "service", "run", _way(_COMMAND), ONCE, "Its argument list", "that of the image",
        'run "postgres" "-c" "fsync=off"',
    ),
    Word(
        "service", "env", _way(_VARIABLES), ONCE, "Variables of this service only", "no variables",
        'env POSTGRES_PASSWORD="test"', codes=("E0303",),
    ),
    Word(
        "service", "ready", _way(_COMMAND), ONCE, "A command inside it that succeeds once it is up",
        "the port answers", 'ready "pg_isready"',
    ),
    Word(
        "service", "timeout", _way(_one("10m", values.DURATION)), ONCE,
        "How long it may take to be up", "`1m`", "timeout 30s",
    ),
    # --- what is checked ---
    Word(
        "", "imports", (Form(()),), ONCE, "What is known of the imports",
        "every import is required",
        'imports {\n  optional flash_attn because "taken on a GPU only, in a branch that CPU '
        'never reaches"\n}',
        block=True,
    ),
    Word(
        "imports", "optional", _way(Param("name", "MODULE", values.MODULE), _WHY), MANY,
        "An import the source may do without; listed apart in C0, never hidden", "none",
        'optional flash_attn because "taken on a GPU only"', names=True,
    ),
    Word(
        "", "entry", _way(_named()), MANY, "A command that shows a rung", "no entries",
        'entry smoke {\n  level   c1\n  script  "smoke.py" "--steps" "1"\n  timeout 5m\n}',
        names=True, block=True, codes=("E0204", "E0207"),
    ),
    Word(
        "entry", "level", _way(_one("c1 | c3 | c4", values.LEVEL)), REQUIRED, "The rung it shows",
        "none", "level c1", codes=("E0204",),
    ),
    Word(
        "entry", "run", _way(_COMMAND), ONCE, "Its argument list; no shell",
        "none; `run` or `script` is required", 'run "python" "-m" "demo" "--steps" "1"',
    ),
    Word(
        "entry", "script",
        _way(
            Param("file", "FILE", values.RELATIVE, STRING),
            Param("arguments", "ARGUMENT", values.TEXT, STRING, optional=True, many=True),
        ),
        ONCE, "A Python file beside the spec", "none; `run` or `script` is required",
        'script "smoke.py" "--steps" "1"', codes=("E0207",),
    ),
    Word(
        "entry", "timeout", _way(_one("10m", values.DURATION)), ONCE, "How long it may take",
        "`10m`", "timeout 90s",
    ),
    Word(
        "entry", "processes", _way(_one("N", values.PROCESSES)), ONCE,
        "How many processes it starts", "`1`", "processes 2",
    ),
    Word(
        "entry", "env", _way(_VARIABLES), ONCE, "Variables of this entry only", "no variables",
        'env MASTER_PORT="29500" OMP_NUM_THREADS="1"', codes=("E0303",),
    ),
    Word(
        "entry", "network", _way(_one("allowed", values.ALLOWED)), ONCE,
        "Leave the network on; shown in the report", "no network", "network allowed",
    ),
    Word(
        "entry", "expect",
        (
            *_way(Param("exit", "STATUS", values.STATUS), choose="exit"),
            *_way(Param("file", "PATH", values.RELATIVE, STRING), choose="file"),
            *_way(Param("output", "REGEX", values.TEXT, STRING), choose="output"),
        ),
        MANY, "What it must show: its exit status, a file it leaves, a pattern in its output",
        "`expect exit 0`", 'expect output "loss [0-9.]+"',
    ),
    Word(
        "entry", "service", _way(_one("NAME", values.NAME, many=True)), ONCE,
        "Services that must be up", "none", "service db", codes=("E0205",),
    ),
    Word(
        "entry", "asset", _way(_one("NAME", values.NAME, many=True)), ONCE,
        "Assets that must be there", "none", "asset bert-tiny", codes=("E0205",),
    ),
    Word(
        "entry", "secret", _way(_one("NAME", values.VARIABLE, many=True)), ONCE,
        "Secrets it is given as variables", "none", "secret HF_TOKEN",
        codes=("E0205",),
    ),
    Word(
        "", "claims", (Form(()),), ONCE, "What the spec says of its environment",
        "nothing is claimed",
        "claims {\n  torch_version 2.13.0+cpu\n  c0            pass\n"
        '  c3            unstated because "no GPU on the author\'s machine"\n}',
        block=True, codes=("W0301",),
    ),
)  # fmt: skip

# Claims are statements too; each has one value, or `unstated`.
CLAIMS: dict[str, tuple[Shape, str, str]] = {
    "repo_url": (
        values.GIT_URL, "The repository the source comes from", "https://example.org/lab/model.git",
    ),
    "repo_commit": (values.COMMIT, "The commit of the source", _COMMIT),
    "lock_digest": (values.DIGEST, "The sha256 of spec.lock", f"sha256:{_SHA}"),
    "image_digest": (values.DIGEST, "The digest of the built image", f"sha256:{_SHA}"),
    "flake_lock_digest": (values.DIGEST, "The sha256 of flake.lock", f"sha256:{_SHA}"),
    "target_platform": (values.PLATFORM, "What it was built for", "linux/amd64"),
    "python_path": (
        values.ABSOLUTE, "Path of the interpreter inside the environment", "/opt/env/bin/python",
    ),
    "python_version": (values.VERSION, "Its version, or the first numbers of it", "3.11"),
    "python_abi": (values.PYTHON_ABI, "Its kind and release as wheels name them", "cp311"),
    "glibc": (values.NUMBER_DOTTED, "The C library, or the first numbers of it", "2.36"),
    "torch_version": (values.VERSION, "The installed torch", "2.13.0+cpu"),
    "jax_version": (values.VERSION, "The installed JAX", "0.8.1"),
    "tf_version": (values.VERSION, "The installed TensorFlow", "2.20.0"),
    "torch_cuda": (values.CUDA_OR_NONE, "The CUDA that torch was built for", "12.8"),
    "torch_arch_list": (
        values.ARCHITECTURES, "What torch has device code for", '"sm_80 sm_90 compute_90"',
    ),
    "cxx11_abi": (values.BOOLEAN, "Whether torch has the new C++ ABI", "true"),
    "cudnn_version": (values.CUDA_OR_NONE, "The cuDNN that torch loads", "9.10.2"),
    "nccl_version": (values.CUDA_OR_NONE, "The NCCL that torch was built with", "2.27.3"),
    "jax_backend": (values.JAX_BACKEND, "Where JAX runs", "cpu"),
    "tf_cuda": (values.BOOLEAN, "Whether TensorFlow was built for CUDA", "false"),
    "driver_min": (values.NUMBER_DOTTED, "The oldest driver that will do", "525.60.13"),
    "cuda_available": (values.BOOLEAN, "Whether a framework sees a GPU", "false"),
    "gpu_count": (values.COUNT, "How many GPUs a framework sees", "0"),
    "gpu_arch_min": (values.GPU, "The oldest GPU that torch has code for", "sm_75"),
    "vram_min": (values.SIZE, "The memory of a GPU that is enough", "16GiB"),
    "c0_missing": (values.COUNT, "Distinct required imports that are missing", "0"),
    "c0": (values.VERDICT, "Every import is there and loads", "pass"),
    "c1": (values.VERDICT, "The entry runs on CPU", "pass"),
    "c2": (values.VERDICT, "The binaries fit the driver and the GPUs", "pass"),
    "c3": (values.VERDICT, "A kernel and the entry run on one GPU", "pass"),
    "c4": (values.VERDICT, "It runs distributed", "pass"),
    "c4_processes": (values.PROCESSES, "Over how many processes it runs distributed", "2"),
    "c4_backend": (values.COLLECTIVES, "What its collectives run over", "nccl"),
}  # fmt: skip

# Claims that name what they are about, each name once.
NAMED_CLAIMS: dict[str, tuple[Shape, str, str, tuple[str, ...]]] = {
    "entry": (
        values.NAME, "The entry of this name ends as expected", "entry smoke pass", ("E0205",),
    ),
    "extension": (
        values.MODULE, "The compiled module of this name loads", "extension fused_ops pass", (),
    ),
}  # fmt: skip


def words_in(block: str) -> dict[str, Word]:
    """The statements that may stand in a block, by word, in the order of the table."""
    return _BY_BLOCK.get(block, {})


def every_word() -> tuple[Word, ...]:
    """All statements of the language, those of claims at the end."""
    return (*WORDS, *words_in("claims").values())


_BY_BLOCK: dict[str, dict[str, Word]] = {}
for _word in WORDS:
    _BY_BLOCK.setdefault(_word.inside, {})[_word.word] = _word
_BY_BLOCK["claims"] = {
    name: Word(
        "claims",
        name,
        _way(_one("VALUE", shape, EITHER), _BECAUSE),
        ONCE,
        meaning,
        "not claimed",
        f"{name} {example}",
        codes=("W0301",),
    )
    for name, (shape, meaning, example) in CLAIMS.items()
}
for _name, (_shape, _meaning, _example, _codes) in NAMED_CLAIMS.items():
    _BY_BLOCK["claims"][_name] = Word(
        "claims",
        _name,
        _way(_named(_shape), _one("VALUE", values.VERDICT, EITHER), _BECAUSE),
        MANY,
        _meaning,
        "not claimed",
        _example,
        names=True,
        codes=("W0301", *_codes),
    )
