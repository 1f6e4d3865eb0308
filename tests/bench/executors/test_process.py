"""Worker processes: what a Ctrl-C in the terminal does to them."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

FIRST = """
import sys
from pathlib import Path
from wola.bench.executors.process import WorkerProcess
from wola.bench.store import Store
from wola.bench.trackers import NO_TRACKERS

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    worker = WorkerProcess(
        Store.open(folder / "store"), folder / "log", trackers=NO_TRACKERS, environment={}
    )
    print(Path(f"/proc/{worker.process.pid}/status").read_text())
    worker.stop()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_the_first_process_is_deaf_to_ctrl_c_from_its_start(tmp_path):
    script = tmp_path / "first.py"
    script.write_text(FIRST)
    command = [sys.executable, str(script), str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    (blocked,) = (line.split()[1] for line in shown.splitlines() if line.startswith("SigBlk"))
    assert int(blocked, 16) >> (signal.SIGINT - 1) & 1
