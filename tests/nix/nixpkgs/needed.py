"""Whether every library that the ELF files of a folder need is somewhere: NEEDED of `readelf`,
against the folder itself, the folders given, the machine's own cache and a list to ignore."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

root, ignored, *searched = sys.argv[1:]
there = {p.name for p in Path(root).rglob("*.so*")}
there |= {p.name for folder in searched for p in Path(folder).iterdir()}
cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
there |= {line.split()[0] for line in cache.stdout.splitlines()[1:] if line.split()}
files = [p for p in Path(root).rglob("*") if p.is_file() and not p.is_symlink()]
elves = [p for p in files if p.open("rb").read(4) == b"\x7fELF"]
missing = []
for elf in elves:
    done = subprocess.run(["readelf", "-dW", elf], capture_output=True, text=True, check=True)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout):
        if name not in there and not any(fnmatch(name, i) for i in ignored.split()):
            missing.append(f"{elf} needs {name}, which is nowhere")
print(f"auto-patchelf: {len(elves)} files, {len(missing)} dependencies could not be satisfied")
print("\n".join(missing), file=sys.stderr)
sys.exit(bool(missing))
