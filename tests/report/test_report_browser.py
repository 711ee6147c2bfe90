"""The HTML report in a real Chromium: it fits, it can be read in light and dark, and nothing that a
report holds is anything but words."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from chromium import measured, picture, run
from report_room import ENTRY, GOOD, Made, make

from envspec.report.evidence import logs
from envspec.report.html import html

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
PHONE, DESK = 390, 1000

FITS = """page => {
  for (const fold of page.querySelectorAll("details")) fold.open = true;
  const root = page.documentElement, out = [];
  for (const text of page.querySelectorAll("svg text")) {
    const box = text.getBBox(), stone = text.parentNode.querySelector("rect").getBBox();
    if (!box.width) continue;  // hidden where there is no room
    if (box.x < stone.x || box.x + box.width > stone.x + stone.width) out.push(text.textContent);
  }
  for (const stone of page.querySelectorAll("svg g")) {
    const [title, mark] = [...stone.querySelectorAll("text")].map(t => t.getBBox());
    if (title.x + title.width > mark.x) out.push(stone.textContent);
  }
  const stones = page.querySelectorAll("rect").length;
  return {wide: root.scrollWidth - root.clientWidth, out, stones};
}"""

# WCAG 2: the contrast of every text with what is behind it.
CONTRAST = """page => {
  for (const fold of page.querySelectorAll("details")) fold.open = true;
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(n => {
      const part = n / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const view = page.defaultView, found = [];
  const behind = element => {
    if (element.localName === "text")
      return view.getComputedStyle(element.parentNode.querySelector("rect")).fill;
    for (let e = element; e; e = e.parentElement) {
      const colour = view.getComputedStyle(e).backgroundColor;
      if (!colour.startsWith("rgba") || !colour.endsWith(" 0)")) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const element of page.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!own || ["title", "desc"].includes(element.localName)) continue;
    const style = view.getComputedStyle(element);
    const colour = element.localName === "text" ? style.fill : style.color;
    const [a, b] = [colour, behind(element)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, element.outerHTML.slice(0, 80)]);
  }
  const page_ = view.getComputedStyle(page.body).backgroundColor;
  return {texts: found.length, low: found.filter(([ratio]) => ratio < 4.5), page: page_};
}"""

CONTENT = """page => ({
  elements: [...new Set([...page.querySelectorAll("*")].map(e => e.localName))].sort(),
  handlers: [...page.querySelectorAll("*")].flatMap(
    e => [...e.attributes].map(a => a.name).filter(n => n.startsWith("on") || n === "style")),
  links: page.querySelectorAll("[href], [src], [srcset], [action], [data], [poster]").length,
  title: page.title,
  text: page.body.textContent,
  open: page.querySelectorAll("details[open]").length,
  folds: page.querySelectorAll("details").length,
})"""


def page(made: Made) -> str:
    return html(made.report, logs(made.report, made.logs))


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("which", ["good", "bad"])
def test_it_fits(reports: dict[str, Made], tmp_path: Path, which: str, width: int) -> None:
    """Nothing runs out of the page or out of its stone, with everything folded out."""
    found = measured(tmp_path, page(reports[which]), FITS, width=width)
    assert found == {"wide": 0, "out": [], "stones": 8}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_light_and_dark(bad: Made, tmp_path: Path, scheme: str) -> None:
    found = measured(tmp_path, page(bad), CONTRAST, scheme=scheme)
    assert found["low"] == []
    assert found["texts"] > 100
    assert found["page"] == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]


def test_a_picture_of_it_is_no_empty_page(bad: Made, tmp_path: Path) -> None:
    for scheme in ("light", "dark"):
        shot = picture(tmp_path, page(bad), scheme, width=PHONE, scheme=scheme)
        assert shot.stat().st_size > 30_000


def test_everything_is_there_and_folded(good: Made, tmp_path: Path) -> None:
    found = measured(tmp_path, page(good), CONTENT)
    assert found["title"] == "c-step: pass"
    assert found["open"] == 0
    assert found["folds"] >= len(good.report["evidence"])
    for words in (
        *(claim["name"] for claim in good.report["claims"]),
        *(run_["log_sha256"] for run_ in good.report["evidence"]),
        good.report["spec"]["spec_sha256"],
        "squared distance 1884.1",
    ):
        assert words in found["text"]


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address, and the paths that anybody has asked there for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def hostile(address: str) -> list[str]:
    """What would do something wherever it were taken for more than words."""
    script = f"fetch('{address}/script');parent.document.title='owned';document.title='owned'"
    return [
        f"<script>{script}</script>",
        f"</script></style></title><script>{script}</script>",
        f'"><img src="{address}/image" onerror="{script}">',
        f"'\"--><svg onload={script!r}>",
        f"<link rel=stylesheet href='{address}/style'><style>@import '{address}/import'</style>",
        f"]]><iframe src='{address}/frame'></iframe><base href='{address}/'>",
        f"<meta http-equiv=refresh content='0;url={address}/refresh'>",
        f"<form action='{address}/form'><input autofocus onfocus=\"{script}\">",
        f"<a href='javascript:{script}'>click</a>",
        "\u202etxt.exe\u2066 \0 \x1b]0;title\x07 \x9b31m \u2028\u0000",
    ]


def everywhere(report: Any, words: str) -> Any:
    """A report whose texts are all ``words``: what the reader lets through, and more."""
    fixed = {"verdict", "cause", "id", "severity", "code"}
    if isinstance(report, dict):
        return {k: v if k in fixed else everywhere(v, words) for k, v in report.items()}
    if isinstance(report, list):
        return [everywhere(item, words) for item in report]
    return words if isinstance(report, str) else report


ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer"),
    *("h1", "h2", "h3", "p", "div", "span", "ul", "li", "dl", "dt", "dd", "pre", "code", "figure"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("svg", "desc", "g", "rect", "text"),
}


def test_hostile_words_are_words(
    bad: Made, tmp_path: Path, listener: tuple[str, list[str]]
) -> None:
    address, asked = listener
    *markup, control = hostile(address)
    for words in ("".join(markup), control):
        report = everywhere(bad.report, words)
        for rung in report["rungs"].values():
            rung["evidence"] = []
        report["findings"] = [
            {"code": "W0301", "title": words, "cause": words, "hint": words, "labels": []}
        ]
        shown = html(report, logs(report, bad.logs))
        found = measured(tmp_path, shown, CONTENT)
        assert set(found["elements"]) <= ELEMENTS
        assert (found["handlers"], found["links"]) == ([], 0)
        assert found["title"] != "owned"
        if words != control:
            assert words in found["text"]
        # And as a file of its own, as people open it.
        alone = tmp_path / "report.html"
        alone.write_text(shown)
        printed = run(tmp_path, "--dump-dom", "--virtual-time-budget=3000", alone.as_uri())
        assert "<title>owned" not in printed
        for char in "\u202e\u2066\0\x1b\x9b\u2028":
            assert char not in shown
    assert asked == []


def test_the_listener_would_hear_of_it(tmp_path: Path, listener: tuple[str, list[str]]) -> None:
    """The test above can fail: the same words, not escaped, ask for something."""
    address, asked = listener
    alone = tmp_path / "bare.html"
    alone.write_text("<!DOCTYPE html>" + "".join(hostile(address)[1:3]))
    run(tmp_path, "--dump-dom", "--virtual-time-budget=5000", alone.as_uri())
    assert "/image" in asked


def test_the_policy_stops_what_gets_past_the_escaping(
    good: Made, tmp_path: Path, listener: tuple[str, list[str]]
) -> None:
    """Two walls: were the escaping wrong, the page's own policy would still forbid it."""
    address, asked = listener
    bare = "".join(hostile(address)[:6])
    shown = page(good).replace("<main>", "<main>" + bare, 1)
    assert bare in shown
    measured(tmp_path, shown, "page => 0")
    assert asked == []


def test_a_large_log_is_cut_and_the_page_stays_light(tmp_path: Path) -> None:
    log = ("x" * 5000 + "\n") * 200 + "the very end\n"
    assert len(log) > 1_000_000
    made = make(tmp_path, {**GOOD, "c1_entry": {**ENTRY, "stdout": log}})
    shown = page(made)
    assert len(shown) < 200_000
    found = measured(tmp_path, shown, CONTENT)
    assert "the very end" in found["text"]
