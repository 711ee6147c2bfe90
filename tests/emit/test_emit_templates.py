"""Templates print encoded values and nothing else, and a hole in that rule would be seen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jinja2
import pytest
from emit_sample import entry, instructions, sample
from jinja2 import meta

from envspec.emit import apptainer as apptainer_module
from envspec.emit import dockerfile as dockerfile_module
from envspec.emit import nix as nix_module
from envspec.emit import templates
from envspec.emit.encode import Encoded

NAMES = sorted(p.name for p in Path(templates.__file__).parent.glob("*.j2"))
BARE = 'x"\nRUN id\n'


def source(name: str) -> str:
    return (Path(templates.__file__).parent / name).read_text(encoding="utf-8")


def variables(name: str) -> list[str]:
    """What a template takes in."""
    tree = jinja2.Environment(autoescape=True).parse(source(name))
    return sorted(meta.find_undeclared_variables(tree))


def values_of(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the emitters hand to a template for the sample plan."""
    seen: dict[str, Any] = {}

    def keep(template: str, **values: Any) -> str:
        seen.update(values)
        return template

    for module in (dockerfile_module, nix_module, apptainer_module):
        monkeypatch.setattr(module, "render", keep)
    makers = {
        "Dockerfile.j2": dockerfile_module.dockerfile,
        "flake.nix.j2": nix_module.flake,
        "apptainer.def.j2": apptainer_module.apptainer,
    }
    assert makers[name](sample(entries=(entry(),))) == name
    return seen


def bared(value: Any) -> list[Any]:
    """The value, each time with one encoded part of it replaced by a bare string."""
    if isinstance(value, Encoded):
        return [BARE]
    if isinstance(value, dict):
        return [{**value, k: bad} for k, v in value.items() for bad in bared(v)]
    if hasattr(value, "_fields"):
        return [
            value._replace(**{k: bad}) for k in value._fields for bad in bared(getattr(value, k))
        ]
    return [
        [*value[:i], bad, *value[i + 1 :]] for i, part in enumerate(value) for bad in bared(part)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_bare_string_anywhere_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    good = values_of(name, monkeypatch)
    assert sorted(good) == variables(name)
    templates.render(name, **good)
    for key, value in good.items():
        changed = bared(value)
        assert changed, f"{key} is never printed"
        for bad in changed:
            with pytest.raises(TypeError, match="a template printed a bare str"):
                templates.render(name, **{**good, key: bad})


def test_without_finalize_a_bare_string_would_be_an_instruction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above is worth something: the same values do harm where the guard is missing."""
    good = values_of("Dockerfile.j2", monkeypatch)
    unguarded = jinja2.Environment(loader=jinja2.BaseLoader(), autoescape=False)
    text = unguarded.from_string(source("Dockerfile.j2")).render(**{**good, "base": BARE})
    assert ("id",) in [c.value for c in instructions(text)]


@pytest.mark.parametrize(
    "expression",
    [
        "{{ a }}", "{{ a ~ b }}", "{{ a + b }}", "{{ [a, b] | join(' ') }}", "{{ b | upper }}",
        "{{ b | replace('x', 'y') }}", "{{ '%s' % b }}", "{{ b[1:] }}", "{{ 1 }}", "{{ none }}",
        "{% set c = a %}{{ c }}", "{% for x in [a] %}{{ x }}{% endfor %}", "{{ a | safe }}",
        "{% filter upper %}{{ a }}{% endfilter %}", "{% macro m() %}{{ a }}{% endmacro %}{{ m() }}",
    ],
)  # fmt: skip
def test_no_expression_gets_around_it(expression: str) -> None:
    template = templates._environment().from_string(expression)
    with pytest.raises(TypeError, match="bare"):
        template.render(a="bare", b=Encoded("x"))


def test_a_name_that_nobody_gave_is_an_error() -> None:
    with pytest.raises((TypeError, jinja2.UndefinedError), match=r"(?i)undefined"):
        templates._environment().from_string("{{ nothing }}").render()


@pytest.mark.parametrize("name", NAMES)
def test_templates_decide_nothing(name: str) -> None:
    """Layout only: no filters, no calls, no arithmetic, no strings of their own."""
    for expression in re.findall(r"{{(.*?)}}", source(name)):
        assert re.fullmatch(r" [a-z_]+(\.[a-z_]+)? ", expression), expression
