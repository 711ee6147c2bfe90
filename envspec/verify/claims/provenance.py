"""Claims about where the environment comes from: repository, lock, image, platform."""

from __future__ import annotations

from functools import partial

from envspec.verify.claims.model import Judge, Provenance, Seen, Verdict, same, unknown

_ABSENT = {
    "repo_url": "the source is no repository",
    "repo_commit": "the source is no repository",
    "image_digest": "this engine made no image of the locked base",
    "flake_lock_digest": "no flake was compiled",
}


def _same(name: str, claimed: str, seen: Seen) -> Verdict:
    observed = str(getattr(seen.provenance, name))
    if not observed:
        return unknown(_ABSENT.get(name, "it is not known"))
    return same(claimed.removeprefix("sha256:"), observed.removeprefix("sha256:"))


def _repo_url(claimed: str, seen: Seen) -> Verdict:
    """Two spellings of one address are one address."""
    observed = seen.provenance.repo_url
    if not observed:
        return unknown(_ABSENT["repo_url"])
    found = same(_plain(claimed), _plain(observed))
    return found._replace(observed=observed)


def _plain(url: str) -> str:
    return url.rstrip("/").removesuffix(".git")


def _platform(claimed: str, seen: Seen) -> Verdict:
    observed = seen.provenance.platform
    return same(claimed, observed) if observed else unknown("it is not known")


JUDGES: dict[str, Judge] = {
    "repo_url": _repo_url,
    **{n: partial(_same, n) for n in Provenance._fields if n not in {"platform", "repo_url"}},
    "target_platform": _platform,
}
