"""A workspace goes with its process, however impatiently that is stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from envspec.lock.workspace import sweep, workspace

TWICE = """
import os, shutil, signal, sys, threading, time
from pathlib import Path
from envspec.lock.workspace import workspace

really = shutil.rmtree
def slowly(*args, **more):
    cleaning.set()
    time.sleep(0.5)
    really(*args, **more)

def press():
    working.wait()
    os.kill(os.getpid(), signal.SIGINT)
    cleaning.wait()
    os.kill(os.getpid(), signal.SIGINT)

shutil.rmtree = slowly
working, cleaning = threading.Event(), threading.Event()
threading.Thread(target=press).start()
try:
    with workspace(Path(sys.argv[1])) as folder:
        (folder / "half").write_text("done")
        working.set()
        time.sleep(60)
except KeyboardInterrupt:
    print("stopped")
"""


def test_it_is_removed_at_the_end(tmp_path: Path) -> None:
    with workspace(tmp_path) as folder:
        (folder / "x").mkdir()
        assert sweep(tmp_path) == 0, "a living process keeps its own"
    assert list(tmp_path.iterdir()) == []


def test_a_second_press_while_it_is_removed_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TWICE, tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "stopped\n"
    assert list(tmp_path.iterdir()) == []
