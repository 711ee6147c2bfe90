"""C0: the imports of the source, asked statically and then for real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envspec.plan import model as plan
from envspec.verify import judge_imports, verdicts
from envspec.verify.results import Observation
from envspec.verify.session import Session
from envspec.verify.verdicts import Rung

STATIC_SECONDS = 600.0
LIVE_SECONDS = 600.0
LIVE_SECONDS_EACH = 120.0


def run_static(session: Session) -> Observation:
    """What pyright and the source tell of the imports, by the environment's interpreter."""
    config = {
        "python": session.locate(plan.INTERPRETER),
        "source": session.locate(plan.SOURCE),
        "import_roots": [session.locate(r) for r in session.plan.import_roots],
        "pyright": {
            "node": session.locate(f"{plan.NODE}/bin/node"),
            "script": session.locate(f"{plan.PYRIGHT}/index.js"),
        },
        "optional": [o.name for o in session.plan.optional_imports],
    }
    return session.run("c0_static", "c0_static", config, seconds=STATIC_SECONDS)


def climb_live(session: Session, static: Observation) -> Rung:
    """C0 live: every name that ``static`` says must load is imported, each by itself."""
    if not static.usable or not isinstance(static.observed.get("must_load"), dict):
        reason = "the imports are not known: C0 static gave no result"
        return verdicts.broken("c0_live", reason, ("c0_static",))
    excused = [o.name for o in session.plan.optional_imports]
    others, own = live_names(static.observed, excused)
    evidence = ["c0_live"]
    with session.warm(last=True) as pycache:
        runs = [_load(session, "c0_live", others, compile_modules=bool(pycache))]
    # What the repository brings itself is loaded apart: its code may not touch the cache.
    if own:
        evidence.append("c0_live-own")
        runs.append(_load(session, evidence[-1], own))
    modules = sorted({m for e in session.plan.extensions for m in e.modules} - {*others, *own})
    if modules:
        evidence.append("c0_live-extensions")
        runs.append(_load(session, evidence[-1], modules, before=_before(session)))
    results = [r for run in runs for r in run.observed.get("results") or []]
    error = next((run.error for run in runs if run.error), "")
    whole = Observation("c0_live", {"results": results}, error)
    return judge_imports.c0_live(whole, tuple(evidence), [*others, *own, *modules])


def load_claimed(session: Session) -> dict[str, bool]:
    """The compiled modules that the spec makes a claim of, each imported by itself; a module of
    which there is no record is left out."""
    names = sorted({c.subject for c in session.plan.claims if c.name == "extension"})
    if not names:
        return {}
    run = _load(session, "c5-extensions", names, before=_before(session))
    results = run.observed.get("results") or [] if run.usable else []
    return {str(r.get("name")): r.get("outcome") == "ok" for r in results}


def _before(session: Session) -> list[str]:
    """A compiled module finds torch's libraries only where torch was loaded before."""
    return [n for n in ("torch",) if any(w.name == n for w in session.plan.wheels)]


def _load(
    session: Session,
    name: str,
    names: list[str],
    *,
    compile_modules: bool = False,
    before: Sequence[str] = (),
) -> Observation:
    environment = session.environment()
    if compile_modules:
        del environment["PYTHONDONTWRITEBYTECODE"]
    config = {
        "python": session.locate(plan.INTERPRETER),
        "environment": environment,
        "cwd": session.locate(plan.SOURCE),
        "names": names,
        "before": list(before),
        "seconds_each": LIVE_SECONDS_EACH,
        "workers": 2,
    }
    return session.run(name, "c0_live", config, seconds=LIVE_SECONDS)


def live_names(observed: dict[str, Any], optional: list[str]) -> tuple[list[str], list[str]]:
    """Top-level names that must load: what the source requires of others, and those of its own
    packages that it imports by name. Declared optional and guarded imports are not among them."""
    excused = {name.split(".", 1)[0] for name in optional}
    must = observed.get("must_load") or {}
    others = {str(top) for top in must.get("third_party") or []} - excused
    own = {str(top) for top in must.get("first_party") or []} - excused
    return sorted(others), sorted(own - others)


def own_packages(observed: dict[str, Any]) -> frozenset[str]:
    """Top-level names that the source has itself, as far as it imports them."""
    imports = observed.get("imports") or []
    return frozenset(str(i.get("top")) for i in imports if i.get("origin") == "first_party")
