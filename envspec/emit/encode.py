r"""The only place that quotes.

Emitters hand typed values in and get `Encoded` text out; templates print `Encoded` and nothing
else. Control characters are refused, never cleaned: a newline ends a Dockerfile instruction
whatever stands around it. Rules are BuildKit's own (`parser/parser.go`, `shell/lex.go`) and
Nix's (only ``\`` ``"`` ``$`` and three escapes are special in a string).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from envspec.diagnostics import DiagnosticError

MAX_LINE = 60_000  # BuildKit refuses lines of 65,535 bytes

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TOKEN = re.compile(r"[A-Za-z0-9_./:@=+,!-]+")
_TOKENS = re.compile(r"(?:(?!-)[A-Za-z0-9_./:@=+,!-]+\n)*")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@=+,!\n-]*")


class Encoded(str):
    """Text that is safe to print into the file it was encoded for."""

    __slots__ = ()


def _clean(text: str, what: str) -> str:
    match = _CONTROL.search(text)
    if match or len(text.encode("utf-8", "replace")) > MAX_LINE:
        problem = f"holds U+{ord(match.group()):04X}" if match else "is too long for one line"
        raise DiagnosticError.of(
            "E0603",
            f"a value for {what} {problem}",
            cause="such a value could end the line it stands in and begin another instruction",
            hint="remove the character; long lists belong into a file",
        )
    return text


def token(text: str) -> Encoded:
    """A word that needs no quotes anywhere: an image name, a mount option, a number."""
    if not _TOKEN.fullmatch(text) or text.startswith("-"):
        raise DiagnosticError.of(
            "E0603",
            f"`{_clean(text, 'a word')[:80]}` cannot stand without quotes",
            hint="only letters, digits and `_./:@=+,!-` can",
        )
    return Encoded(text)


def option(text: str) -> Encoded:
    """A name or a value of `--mount=name=value,…` or `ENV name=value`, which goes to its end."""
    if "," in text or "=" in text:
        raise DiagnosticError.of(
            "E0603",
            f"`{_clean(text, 'an option')[:80]}` cannot stand as a name or in an option",
            cause="a comma or an equals sign would end it there",
        )
    return token(text)


def tokens(texts: Sequence[str]) -> Sequence[str]:
    """The texts, each fit to be a `token`; a long list of good ones costs a single match."""
    joined = "\n".join(texts) + "\n"
    if joined.count("\n") != len(texts) or not _TOKENS.fullmatch(joined):
        return [token(text) for text in texts]
    return texts


def shell_word(text: str) -> Encoded:
    """One word of a POSIX shell command, as a reader would paste it."""
    return Encoded(shlex.quote(_clean(text, "a command")))


def file_name(text: str) -> Encoded:
    """A plain file name at the end of a line of a checksum list."""
    if not text or "/" in text or "\\" in text or text.startswith("-"):
        raise DiagnosticError.of(
            "E0603",
            f"`{_clean(text, 'a file name')[:80]}` is no plain file name",
            cause="a list of checksums names files of one folder",
        )
    return Encoded(_clean(text, "a file name"))


def comment(text: str) -> Encoded:
    """A comment line. Templates never begin a file with one: there it could be a directive."""
    return Encoded("# " + _clean(text, "a comment"))


def docker_json(argv: Iterable[str]) -> Encoded:
    """The exec form of RUN, CMD and ENTRYPOINT; nothing in it is expanded."""
    words = [_clean(a, "a command") for a in argv]
    return Encoded(_clean(json.dumps(words, ensure_ascii=False), "a command"))


def docker_quoted(text: str) -> Encoded:
    """A value of ENV or LABEL in double quotes; ``$`` is escaped, so nothing is expanded."""
    escaped = _clean(text, "a variable").replace("\\", "\\\\").replace('"', '\\"')
    return Encoded('"' + escaped.replace("$", "\\$") + '"')


def docker_pairs(values: Mapping[str, str]) -> Encoded:
    """``NAME="value"`` words, names shape-checked."""
    words = " ".join(f"{option(name)}={docker_quoted(v)}" for name, v in values.items())
    return Encoded(_clean(words, "variables"))


def nix_string(text: str) -> Encoded:
    """A Nix string literal."""
    escaped = _clean(text, "a Nix string").replace("\\", "\\\\").replace('"', '\\"')
    return Encoded('"' + escaped.replace("$", "\\$") + '"')


def nix_strings(texts: Sequence[str]) -> Sequence[str]:
    """`nix_string` of each; a list of which no text needs an escape costs a single match."""
    joined = "\n".join(texts)
    plain = joined.count("\n") == len(texts) - 1 and _PLAIN.fullmatch(joined)
    if not plain or max(map(len, texts)) > MAX_LINE:
        return [nix_string(text) for text in texts]
    return ('"' + joined.replace("\n", '"\n"') + '"').split("\n")


def nix_list(values: Iterable[str]) -> Encoded:
    """A Nix list of strings."""
    return Encoded("[ " + "".join(f"{nix_string(v)} " for v in values) + "]")


def slash_comment(text: str) -> Encoded:
    """A comment line of JSON with comments."""
    return Encoded("// " + _clean(text, "a comment"))


def yaml_string(text: str) -> Encoded:
    r"""A YAML scalar that is a string to YAML 1.1 and 1.2 alike, whatever it looks like.

    It is a JSON string, which YAML reads as it stands; U+FEFF, which YAML would not print, is
    escaped.
    """
    quoted = json.dumps(_clean(text, "a YAML string"), ensure_ascii=False)
    return Encoded(
        quoted.replace("\ufeff", "\\ufeff")
        .replace("\ufffe", "\\ufffe")
        .replace("\uffff", "\\uffff")
    )


def yaml_literal(text: str) -> Encoded:
    """`yaml_string` where a reader of the file expands `$NAME`, `${NAME}` or `$(NAME)` and takes
    `$$` for a dollar sign: Compose anywhere, Kubernetes in commands and variables."""
    return yaml_string(text.replace("$", "$$"))


def json_string(text: str) -> Encoded:
    """A string of devcontainer.json, whose readers expand `${…}` and know no escape for it."""
    if "${" in text:
        raise DiagnosticError.of(
            "E0603",
            f"`{_clean(text, 'a string')[:80]}` holds `${{`, which devcontainer.json cannot hold",
            cause="its readers put variables of the host in there, and nothing escapes it",
            hint="write it without `${`, or compile without `--target devcontainer`",
        )
    return Encoded(json.dumps(_clean(text, "a string"), ensure_ascii=False))


_BRACE = re.compile(r"\{(?=\{)")


def definition_word(text: str) -> Encoded:
    """`shell_word` in an Apptainer definition, where `{{ NAME }}` is put in before a shell sees
    it: the quotes are closed and opened again between two braces."""
    return Encoded(_BRACE.sub("{''", shell_word(text)))


def definition_comment(text: str) -> Encoded:
    """A comment line of an Apptainer definition, with a blank between two braces."""
    return comment(_BRACE.sub("{ ", text))


def definition_text(text: str) -> Encoded:
    """The rest of a line that no shell reads: a label."""
    if "{{" in text or text != text.strip():
        raise DiagnosticError.of(
            "E0603",
            f"`{_clean(text, 'a label')[:80]}` cannot stand in an Apptainer definition",
            cause="`{{` begins a build argument there, and blanks around a value are lost",
            hint="write it without them, or compile without `--target apptainer`",
        )
    return Encoded(_clean(text, "a label"))


def finalize(value: object) -> str:
    """Jinja's last step before printing: refuses everything that was not encoded here."""
    if isinstance(value, Encoded):
        return value
    raise TypeError(f"a template printed a bare {type(value).__name__}: {value!r:.60}")
