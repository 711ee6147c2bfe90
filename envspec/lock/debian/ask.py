"""What an image lacks for the packages that a spec names, as the image's own apt works it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.lock.debian.answer import OddAnswerError, read_debs, read_install, read_suites
from envspec.lock.debian.container import run
from envspec.lock.model import Deb, Lock, System
from envspec.model import Spec, SystemPackage
from envspec.reporter import Reporter
from envspec.source import SourceFile

# Arguments: how many names are asked first, then all names. The second question is about all.
_SCRIPT = r"""
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
echo '@begin'
command -v apt-get >/dev/null && command -v apt-cache >/dev/null || { echo '@noapt'; exit 0; }
apt-get update -q -o APT::Update::Error-Mode=any || { echo '@noupdate'; exit 0; }
first=$1; shift
ask() {
  echo "@question"
  apt-get -s -q install --no-install-recommends --no-remove -- "$@" 2>&1 || echo '@refused'
}
i=0; some=
for name; do i=$((i + 1)); [ $i -le $first ] && some="$some $name"; done
if [ -n "$some" ]; then ask $some; else echo '@question'; fi
ask "$@"
echo '@stanzas'
apt-get -s -q install --no-install-recommends --no-remove -- "$@" |
  sed -n 's/^Inst \([^ ]*\) \(\[[^ ]*\] \)\{0,1\}(\([^ ]*\) .*/\1=\3/p' |
  xargs -r apt-cache show | sed -n -e '/^$/p' \
  -e '/^\(Package\|Version\|Architecture\|Filename\|Size\|SHA256\): /p'
echo '@suites'
for list in /var/lib/apt/lists/*Release; do
  sed -n '/^\(Suite\|Codename\|Date\): /p' "$list"; echo
done
echo '@end'
"""
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*[a-z0-9+.]")
_UNKNOWN = re.compile(
    r"E: (?:Unable to locate package |Package '|Couldn't find any package by \w+ ')([a-z0-9+.-]+)"
)


class _Image(NamedTuple):
    reference: str
    platform: str


def system(
    spec: Spec, source: SourceFile, lock: Lock, reporter: Reporter, base_from: str = ""
) -> System:
    """Every package to install in the base, and beyond it in the image that compiles.

    ``base_from`` is a local image that is asked in place of the base.

    Raises:
        DiagnosticError: E0411 for a name that no list has, E0412 where apt refuses the set,
            E0413 where an image gives no usable answer.
    """
    runtime = [package for package in spec.system if package.stage == "runtime"]
    build = [package for package in spec.system if package.stage == "build"]
    base = _Image(base_from or f"{lock.base_name}@{lock.base_digest}", spec.platform.os_arch)
    reporter.stage("packages of the distribution")
    if not lock.devel_digest:
        suites, first, both = _ask(base, runtime, build, source)
        had = {(deb.name, deb.architecture) for deb in first}
        more = tuple(deb for deb in both if (deb.name, deb.architecture) not in had)
        return System(suites, base_from, first, more)
    found: set[tuple[str, str]] = set()
    first = more = ()
    if runtime:
        suites, first, _ = _ask(base, runtime, [], source)
        found.update(suites)
    if build:
        devel = base._replace(reference=f"{lock.devel_name}@{lock.devel_digest}")
        suites, _, more = _ask(devel, [], build, source)
        found.update(suites)
    return System(tuple(sorted(found)), base_from, first, more)


def _ask(
    image: _Image, first: Sequence[SystemPackage], more: Sequence[SystemPackage], source: SourceFile
) -> tuple[tuple[tuple[str, str], ...], tuple[Deb, ...], tuple[Deb, ...]]:
    """The suites, what the image lacks for ``first``, and what it lacks for both."""
    packages = [*first, *more]
    for package in packages:
        if not _NAME.fullmatch(package.name):
            raise _unknown(package, source)
    names = [package.name for package in packages]
    ran = run(image.reference, image.platform, _SCRIPT, [str(len(first)), *names])
    if ran.failure:
        raise _silent(image, packages[0], source, ran.failure)
    lines = ran.text.split("\n")
    lines = lines[lines.index("@begin") :] if "@begin" in lines else []
    if "@noapt" in lines:
        raise _silent(image, packages[0], source, "it has no apt: it is no Debian or Ubuntu")
    if "@noupdate" in lines:
        raise _silent(image, packages[0], source, "its mirror did not give its lists")
    try:
        start, second = [i for i, line in enumerate(lines) if line == "@question"]
        stanzas, suites = lines.index("@stanzas"), lines.index("@suites")
        end = lines.index("@end")
        questions = lines[start + 1 : second], lines[second + 1 : stanzas]
        for question in questions:
            _refuse(question, packages, source)
        sets = [[read_install(x) for x in q if x.startswith("Inst ")] for q in questions]
        shown = lines[stanzas + 1 : suites]
        debs = [read_debs(shown, wanted) for wanted in sets]
        return read_suites(lines[suites + 1 : end]), debs[0], debs[1]
    except OddAnswerError as error:
        raise _silent(image, packages[0], source, f"apt does not say {error}") from None
    except ValueError:
        raise _silent(image, packages[0], source, "its answer is not complete") from None


def _refuse(lines: list[str], packages: list[SystemPackage], source: SourceFile) -> None:
    """Raise what apt says against the set, if anything."""
    by_name = {package.name: package for package in packages}
    for line in lines:
        match = _UNKNOWN.match(line)
        if match and match[1] in by_name:
            raise _unknown(by_name[match[1]], source)
        for name, package in by_name.items():
            if line.startswith("Note, selecting ") and line.endswith(f" for regex '{name}'"):
                raise _unknown(package, source)
    if "@refused" in lines:
        said = [line[:160] for line in lines if line.startswith((" ", "E: "))][:12]
        raise DiagnosticError.of(
            "E0412",
            "apt cannot install the packages of `system` together",
            source=source,
            span=packages[0].span,
            cause="its own words are below",
            hint="leave out one of those that exclude each other",
            excerpt=["".join(c if c.isprintable() else "?" for c in line) for line in said],
        )


def _unknown(package: SystemPackage, source: SourceFile) -> DiagnosticError:
    return DiagnosticError.of(
        "E0411",
        f"the distribution of the base has no package `{package.name}`",
        source=source,
        span=package.span,
        cause="no list that the image's own sources name offers it",
        hint="write the name as this release of the distribution spells it",
    )


def _silent(image: _Image, package: SystemPackage, source: SourceFile, why: str) -> DiagnosticError:
    return DiagnosticError.of(
        "E0413",
        f"the image `{image.reference}` does not tell which packages it lacks",
        source=source,
        span=package.span,
        cause=why,
        hint="see that Docker runs, the image is a Debian or Ubuntu and its mirror answers",
    )
