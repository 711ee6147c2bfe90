"""Values of the plan as Nix expressions. Paths of the image become paths of the store.

An image has its environment at `/opt/env`; a flake has it wherever Nix puts it. A word that is
such a path, or begins with one, is written with a Nix variable in place of the folder.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence

from envspec.emit.encode import Encoded, nix_string, nix_strings
from envspec.plan import model as plan

# A logical folder → the Nix variable that holds where it is.
PLACES = (
    (plan.ENTRIES, "${scripts}"),
    (plan.PREFIX, "${environment}"),
    (plan.SOURCE, "${source}"),
)
_NAME = re.compile(r"[A-Za-z0-9+_?=-][A-Za-z0-9+._?=-]{0,200}")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9+._?=-]")
_CHUNK = 50_000


def word(text: str) -> Encoded:
    """A string; a path of the image at its beginning is where that is in the store."""
    for folder, variable in PLACES:
        if text == folder or text.startswith(folder + "/"):
            rest = nix_string(text[len(folder) :])
            return Encoded(f'"{variable}{rest[1:]}')
    return nix_string(text)


def path_list(text: str) -> Encoded:
    """The value of a variable: like `word`, for each part between colons."""
    inside = ":".join(word(part)[1:-1] for part in text.split(":"))
    return Encoded(f'"{inside}"')


def words(argv: Iterable[str]) -> Encoded:
    """A list of words."""
    return Encoded("[ " + "".join(f"{word(text)} " for text in argv) + "]")


def attributes(values: Mapping[str, str]) -> list[Encoded]:
    """The lines of an attribute set of variables."""
    return [Encoded(f"{nix_string(k)} = {path_list(v)};") for k, v in values.items()]


def attribute_set(values: Mapping[str, str]) -> Encoded:
    """An attribute set of variables, in one line."""
    return Encoded("{ " + "".join(f"{line} " for line in attributes(values)) + "}")


def folders(layers: Sequence[tuple[str, tuple[plan.File, ...]]]) -> list[Encoded]:
    """Folders of the wheelhouse as attributes, a file a line.

    What they hold is quoted all at once: a flake has hundreds of files.
    """
    texts = [text for _, files in layers for f in files for text in (f.index, f.file, f.sha256)]
    quoted = iter(nix_strings(texts) if texts else ())
    result: list[Encoded] = []
    for folder, files in layers:
        lines = [f"{nix_string(folder)} = ["]
        for file in files:
            index, name, sha256 = next(quoted), next(quoted), next(quoted)
            stored = "" if _NAME.fullmatch(file.file) else f"name = {_stored(file.sha256)}; "
            lines.append(f"  {{ file = {name}; {stored}sha256 = {sha256}; index = {index}; }}")
        result.append(Encoded("\n        ".join([*lines, "];"])))
    return result


def base64_string(content: bytes) -> Encoded:
    """Bytes as a Nix string in base64, however long."""
    text = base64.b64encode(content).decode("ascii")
    parts = [text[i : i + _CHUNK] for i in range(0, len(text), _CHUNK)] or [""]
    joined = "\n            + ".join(nix_string(part) for part in parts)
    return Encoded(f"({joined})" if len(parts) > 1 else joined)


def stored_name(text: str) -> Encoded:
    """A part of a name in the store, which knows no `!` of an epoch."""
    return nix_string(_NOT_IN_NAME.sub("_", text))


def _stored(sha256: str) -> Encoded:
    """The name of a file whose own name the store would refuse."""
    return nix_string(f"file-{sha256[:16]}")
