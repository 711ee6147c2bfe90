"""What credentials look like, so that no output repeats one."""

from __future__ import annotations

import re

_TOKENS = {
    "a token of a model hub": r"hf_[A-Za-z0-9]{20,}",
    "a token of a code host": r"gh[opusr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}",
    "a key of a language model": r"sk-(?=[\w-]*\d)[\w-]{20,}",
    "a key of a cloud": r"(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}",
    "a token of a chat": r"xox[abprs]-[A-Za-z0-9-]{10,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
}
_TOKEN = re.compile("|".join(f"(?<![A-Za-z0-9_-])({form})" for form in _TOKENS.values()), re.ASCII)
_USER_INFO = re.compile(r"(?<=://)[^/\s\"]+(?=@)")


def token_in(text: str) -> str:
    """What kind of token a text holds, by the prefixes that issuers give them; ``""`` for none."""
    match = _TOKEN.search(text)
    return "" if match is None else list(_TOKENS)[(match.lastindex or 1) - 1]


def masked(text: str) -> str:
    """The same length of text, with stars for tokens and for what stands before the `@` of an
    address."""
    if "://" in text:
        text = _USER_INFO.sub(_stars, text)
    return _TOKEN.sub(_stars, text)


def _stars(match: re.Match[str]) -> str:
    return "*" * len(match.group())
