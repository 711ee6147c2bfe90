"""What a container prints is read strictly: each field has one shape, or nothing is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envspec.lock.debian.answer import OddAnswerError, read_debs, read_install, read_suites

_GOOD = {
    "Package": "zlib1g",
    "Version": "1:1.2.13.dfsg-1",
    "Architecture": "amd64",
    "Filename": "pool/main/z/zlib/zlib1g_1.2.13.dfsg-1_amd64.deb",
    "Size": "86772",
    "SHA256": "a" * 64,
}
_KEY = ("zlib1g", "1:1.2.13.dfsg-1", "amd64")


def _lines(fields: dict[str, str]) -> list[str]:
    return [f"{key}: {value}" for key, value in fields.items()]


def test_an_epoch_is_escaped_in_the_file_name() -> None:
    (deb,) = read_debs(_lines(_GOOD), [_KEY])
    assert deb.file == "zlib1g_1%3a1.2.13.dfsg-1_amd64.deb"
    assert (deb.size, deb.sha256) == (86772, "a" * 64)


@pytest.mark.parametrize("pool", ["../../etc/x.deb", "/etc/x.deb", "a/../b.deb", "a b", "a//b"])
def test_a_pool_path_stays_below_the_mirror(pool: str) -> None:
    with pytest.raises(OddAnswerError):
        read_debs(_lines({**_GOOD, "Filename": pool}), [_KEY])


@given(st.sampled_from(sorted(_GOOD)), st.text(max_size=80))
def test_any_text_in_a_field_is_refused_or_plain(field: str, text: str) -> None:
    try:
        (deb,) = read_debs(_lines({**_GOOD, field: text}), [_KEY])
    except OddAnswerError:
        return
    assert "/" not in deb.file
    assert all(c.isascii() and c.isprintable() and c != " " for part in deb for c in str(part))


def test_an_upgrade_names_its_new_version() -> None:
    line = "Inst libc6 [2.36-9] (2.36-10 Debian:12.15/oldstable [amd64])"
    assert read_install(line) == ("libc6", "2.36-10", "amd64")


def test_a_suite_has_a_moment_or_nothing_is_taken() -> None:
    lines = ["Suite: oldstable", "Codename: bookworm", "Date: Sat, 11 Jul 2026 10:16:37 UTC"]
    assert read_suites(lines) == (("bookworm", "2026-07-11T10:16:37Z"),)
    for odd in ([], ["Suite: x"], [*lines[:2], "Date: today"]):
        with pytest.raises(OddAnswerError):
            read_suites(odd)
