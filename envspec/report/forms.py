"""The forms that a report can be drawn in, by name."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from envspec.report.document import dumps
from envspec.report.evidence import Log

Logs = Mapping[str, Log]


def drawn(form: str, report: Mapping[str, Any], logs: Logs) -> str:
    """The report in one of `FORMS`. What needs no logs does not look at them."""
    return FORMS[form](report, logs)


def _text(report: Mapping[str, Any], _: Logs) -> str:
    from envspec.report.terminal import print_report  # noqa: PLC0415 - rich is for people

    stream = io.StringIO()
    print_report(report, stream, colour=False)
    return stream.getvalue()


def _html(report: Mapping[str, Any], logs: Logs) -> str:
    from envspec.report.html import html  # noqa: PLC0415 - one form a call

    return html(report, logs)


def _junit(report: Mapping[str, Any], logs: Logs) -> str:
    from envspec.report.junit import junit  # noqa: PLC0415 - one form a call

    return junit(report, logs)


def _sarif(report: Mapping[str, Any], _: Logs) -> str:
    from envspec.report.sarif import sarif  # noqa: PLC0415 - one form a call

    return json.dumps(sarif(report), indent=2, ensure_ascii=False) + "\n"


def _markdown(report: Mapping[str, Any], _: Logs) -> str:
    from envspec.report.markdown import markdown  # noqa: PLC0415 - one form a call

    return markdown(report)


FORMS: dict[str, Callable[[Mapping[str, Any], Logs], str]] = {
    "text": _text,
    "json": lambda report, _: dumps(report),
    "html": _html,
    "junit": _junit,
    "sarif": _sarif,
    "markdown": _markdown,
}
