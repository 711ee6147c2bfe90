"""Runs under the environment's interpreter: import one module, say on a pipe how it went.

argv: descriptor, module, modules to import before it. The message is one JSON object on a line.
"""

import importlib
import json
import os
import sys

report = os.fdopen(int(sys.argv[1]), "w", encoding="ascii")  # not inherited by grandchildren
os.set_inheritable(report.fileno(), False)
module, before = sys.argv[2], sys.argv[3:]
del sys.argv[1:]
if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    sys.path[0] = ""  # as `python -c` would have it: the working folder, not this one

answer = {"outcome": "ok"}
for first in before:
    try:
        importlib.import_module(first)
    except BaseException:  # if it matters, the module itself will not load
        pass
try:
    importlib.import_module(module)
except ModuleNotFoundError as exc:
    absent = exc.name or ""
    if module == absent or module.startswith(absent + "."):
        answer["outcome"] = "missing"
    elif absent.split(".")[0] == module.split(".")[0] or not absent:
        answer["outcome"] = "error"  # there, but without a part of itself
    else:
        answer["outcome"] = "missing_dependency"
    answer.update(type="ModuleNotFoundError", message=str(exc)[:1000], missing=absent[:300])
except SystemExit as exc:
    answer.update(outcome="exit", type="SystemExit", message=str(exc.code)[:1000])
except BaseException as exc:
    answer.update(outcome="error", type=type(exc).__name__[:300], message=str(exc)[:1000])
report.write(json.dumps(answer) + "\n")
report.flush()
os._exit(0)  # what runs at exit is not part of the import
