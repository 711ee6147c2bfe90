"""What a virtual environment holds, as JSON on stdout. Runs in the environment, on its own.

For each distribution its version and, for every file of its RECORD, the sha256 of what is really
there. Then every other file of the prefix. Two environments of one plan differ in three ways that
follow from where they stand, and these are taken out here, and nothing else is:

- programs in `bin` name the prefix (in their first line, or where a shell reads them): the prefix
  is written as PREFIX before they are digested;
- RECORD holds digests of those programs: their lines lose digest and size, and the program itself
  is compared as above;
- `pyvenv.cfg` and the links `bin/python*` lead to the interpreter, which is another one: left out.
"""

import csv
import hashlib
import importlib.metadata
import json
import sys
from pathlib import Path

prefix = Path(sys.prefix)
site = prefix / "lib/python{}.{}/site-packages".format(*sys.version_info)


def digest(path):
    content = path.read_bytes()
    if path.parent == prefix / "bin":
        content = content.replace(str(prefix).encode(), b"PREFIX")
    elif path.name == "RECORD" and path.parent.suffix == ".dist-info":
        rows = csv.reader(content.decode().splitlines())
        kept = [[row[0]] if row[0].startswith("../../../bin/") else row for row in rows]
        content = json.dumps(sorted(kept)).encode()
    return hashlib.sha256(content).hexdigest()


distributions, recorded = {}, set()
for distribution in importlib.metadata.distributions(path=[str(site)]):
    paths = {Path(file.locate()).resolve() for file in distribution.files}
    files = {str(p.relative_to(prefix)): digest(p) for p in sorted(paths)}
    recorded |= files.keys()
    name = distribution.metadata["Name"]
    distributions[name] = {"version": distribution.version, "files": files}
others = {}
for path in sorted(prefix.rglob("*")):
    inside = str(path.relative_to(prefix))
    if path.is_dir() or path.is_symlink() or inside in recorded or "__pycache__" in inside:
        continue
    if inside != "pyvenv.cfg":
        others[inside] = digest(path)
json.dump({"distributions": distributions, "others": others}, sys.stdout)
