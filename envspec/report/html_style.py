"""The style sheet of the HTML report, and the policy that forbids it every request."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;
--panel:#f6f8fa;--pass:#1a7f37;--fail:#b3261e;--blocked:#8a5a00;--none:#57606a;--focus:#0550ae}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--soft:#9da7b1;
--line:#30363d;--panel:#161b22;--pass:#4ac26b;--fail:#ff7b72;--blocked:#e3b341;--none:#9da7b1;
--focus:#79c0ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1.5rem 1.25rem 4rem;background:var(--page);
color:var(--text);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0 .4rem}
h2{font-size:1.2rem;margin:2.2rem 0 .6rem}
h3{font-size:1rem;margin:1.2rem 0 .4rem}
h1,td,dd,li,p,pre,code{overflow-wrap:anywhere}
a{color:var(--focus)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.soft{color:var(--soft)}
.verdict{font-weight:600;white-space:nowrap}
.pass,.confirmed{color:var(--pass)}
.fail,.error,.overclaim,.mismatch,.changed{color:var(--fail)}
.blocked,.inconclusive,.underclaim{color:var(--blocked)}
.na,.unstated{color:var(--none)}
.notice{border-left:4px solid var(--blocked);background:var(--panel);padding:.6rem .9rem;
margin:1rem 0}
.notice.bad{border-color:var(--fail)}
.notice p{margin:0 0 .3rem;font-weight:600}
.notice ul{margin:0;padding-left:1.2rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.95rem}
caption{text-align:left;color:var(--soft);padding-bottom:.4rem}
th,td{text-align:left;vertical-align:top;padding:.45rem .6rem;border-bottom:1px solid var(--line)}
thead th{color:var(--soft);font-weight:600}
tbody th{font-weight:600;white-space:nowrap}
td{min-width:11ch}
figure{margin:1rem 0}
svg{display:block;width:100%;height:auto;max-width:46rem;margin:0 auto}
svg text{font:600 15px system-ui,sans-serif;fill:var(--text)}
svg .asks{font-weight:400;font-size:13px;fill:var(--soft)}
svg .mark{font-size:14px}
svg rect{fill:var(--panel);stroke-width:2.5}
svg .pass rect{stroke:var(--pass)} svg .pass .mark{fill:var(--pass)}
svg .fail rect,svg .error rect{stroke:var(--fail)}
svg .fail .mark,svg .error .mark{fill:var(--fail)}
svg .blocked rect{stroke:var(--blocked);stroke-dasharray:9 5}
svg .blocked .mark{fill:var(--blocked)}
svg .na rect,svg .unstated rect{stroke:var(--none);stroke-dasharray:2 5}
svg .na .mark,svg .unstated .mark{fill:var(--none)}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:0 .8rem}
summary{cursor:pointer;padding:.5rem 0;font-weight:600}
summary .soft,summary .verdict{font-weight:400}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.4rem 0 .8rem;
font-size:.93rem}
dt{color:var(--soft)} dd{margin:0}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;
white-space:pre-wrap;font:13px/1.45 ui-monospace,monospace}
code{font:.9em ui-monospace,monospace}
@media (max-width:40rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}
thead{display:none}table,caption,tbody,tr,th,td{display:block}
th,td{border:0;padding:.1rem 0}tr{border-bottom:1px solid var(--line);padding:.5rem 0}
td[data-label]:not(:empty)::before{content:attr(data-label) ": ";color:var(--soft)}
svg text,svg .mark{font-size:24px;transform:translateY(13px)}svg .asks{display:none}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}.scroll{overflow:visible}
details,tr,figure{break-inside:avoid}h2{break-after:avoid}}
"""

_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"
"""Nothing is fetched, nothing runs, and no other style sheet counts."""
