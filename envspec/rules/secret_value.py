"""E0349: the value of a secret in the spec, which is committed and shown in reports.

A value counts as one by its form (the prefixes that hubs and clouds give their tokens) or by the
name of its variable. Throw-away passwords of a `service`, which nobody else can reach, are fine
there and where an entry repeats them. The finding never repeats the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.credentials import token_in
from envspec.diagnostics import Diagnostic, Label
from envspec.model import GitSource, Spec, Variable
from envspec.rules.shared.places import string_of
from envspec.rules.view import View
from envspec.source import Span

CODE = "E0349"
_PASSWORD = re.compile(r".*(?:PASSWORD|PASSWD|PASSPHRASE)|MYSQL_PWD", re.ASCII)
_KEY = re.compile(r"(?:.+_)?(?:TOKEN|APIKEY|SECRET)|.+_KEY", re.ASCII)
# `PAD_TOKEN`, `CACHE_KEY` and the like name words; a credential is one long run of letters and
# digits, or a UUID.
_RUN = re.compile(r"[A-Za-z0-9+/]{20,}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
# What people write where a program insists on a value and takes any.
_PLACEHOLDERS = re.compile(
    r"(?i:none|null|nil|empty|unset|unused|dummy|fake|test(?:ing)?|example|placeholder|change-?me"
    r"|offline|disabled|anonymous|guest|local(?:host)?|true|false|yes|no|on|off|x+|\*+|\.+)"
    r"|[<\[({$%].*|.*[>\])}]|[0-9.]{0,5}",
    re.ASCII,
)
_PATH = re.compile(r"[~./]?/.*|[A-Za-z]+://.*|.*\.(?:json|ya?ml|toml|txt|pem|key|env)", re.ASCII)


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a variable, and one an argument that holds a token."""
    spec = view.spec
    for variable, ours in _variables(spec):
        what = token_in(variable.value)
        if what or (not ours and _named_so(variable.name, variable.value)):
            holder = f"variable `{variable.name}`"
            yield _finding(view, holder, variable.span, what or "a secret", variable.name)
    for owner, argv, span in _commands(spec):
        for argument in argv:
            what = token_in(argument)
            if what:
                at = string_of(view.source, span, argument) or span
                yield _finding(view, f"an argument of {owner}", at, what, "NAME")
                break
    for owner, url, span in _addresses(spec):
        what = token_in(url)
        if what:
            yield _finding(view, f"the address of {owner}", span, what, "NAME")


def _finding(view: View, holder: str, span: Span, what: str, name: str) -> Diagnostic:
    return Diagnostic(
        CODE,
        f"{holder} holds what looks like {what}",
        view.source,
        (Label(span, "the value stands here", hidden=True),),
        cause="a spec is committed, its text reaches images and reports, and what was published "
        "once has to be replaced",
        hint=f'remove it, withdraw it where it was issued, and write `secret {name} because "…"` '
        f"at the top and `secret {name}` in the entry",
    )


def _variables(spec: Spec) -> Iterator[tuple[Variable, bool]]:
    """Every variable, and whether its value is a service's own."""
    own = {v.value for s in spec.services for v in s.environment}
    for service in spec.services:
        yield from ((v, True) for v in service.environment)
    for items in (spec.entries, spec.steps, spec.extensions):
        yield from ((v, v.value in own) for i in items for v in i.environment)
    yield from ((v, v.value in own) for v in spec.environment)


def _commands(spec: Spec) -> Iterator[tuple[str, tuple[str, ...], Span]]:
    for entry in spec.entries:
        yield f"entry `{entry.name}`", entry.argv, entry.span
    for step in spec.steps:
        yield f"step `{step.name}`", step.argv, step.span
    for service in spec.services:
        yield f"service `{service.name}`", (*service.argv, *service.ready), service.span


def _addresses(spec: Spec) -> Iterator[tuple[str, str, Span]]:
    if isinstance(spec.project.source, GitSource):
        yield "the source", spec.project.source.url, spec.project.source.span
    for index in spec.indexes:
        yield f"index `{index.name}`", index.url, index.span
    for asset in spec.assets:
        yield f"asset `{asset.name}`", asset.url, asset.span
    for extension in spec.extensions:
        if extension.git:
            yield f"extension `{extension.name}`", extension.git.url, extension.git.span


def _named_so(name: str, value: str) -> bool:
    value = value.strip()
    if _PLACEHOLDERS.fullmatch(value) or _PATH.fullmatch(value):
        return False
    upper = name.upper()
    if _PASSWORD.fullmatch(upper):
        return True
    if not _KEY.fullmatch(upper):
        return False
    runs = _RUN.findall(value)
    mixed = any(re.search("[0-9]", run) and re.search("[A-Za-z]", run) for run in runs)
    return mixed or _UUID.search(value) is not None
