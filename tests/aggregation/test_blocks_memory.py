"""Fifty million coordinates of seventeen workers from a file, in bounded memory."""

import json
import shutil
import subprocess
import sys

import numpy as np

from wola.aggregation import MultiKrum, TrimmedMean
from wola.mixing import NNM

N, F, WIDTH = 17, 6, 1_000_000
COLUMNS, FEWER_COLUMNS = 50_000_000, 5_000_000
LIMIT = 1.5e9

SCRIPT = r"""
import json, re, sys, time
from pathlib import Path
import numpy as np
import torch
from wola.aggregation import MultiKrum, TrimmedMean
from wola.mixing import NNM

path, out, n, f, width, count = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
torch.set_num_threads(1)

class Blocks:
    def __iter__(self):
        for k in range(count):
            offset = 4 * n * width * k
            yield np.memmap(path, np.float32, mode="c", offset=offset, shape=(n, width))

report = {}
for name, rule in (("chain", NNM() | MultiKrum()), ("trimmed", TrimmedMean())):
    started = time.perf_counter()
    result = rule.blocks(Blocks(), f)
    report[name] = time.perf_counter() - started
    np.save(f"{out}/{name}.npy", result)
    del result
# The peak of getrusage starts at that of the process which started this one.
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
report["peak"] = 1024 * int(peak[1])
print(json.dumps(report))
"""


def test_fifty_million_coordinates_stay_below_one_and_a_half_gigabytes(tmp_path):
    columns = COLUMNS if shutil.disk_usage(tmp_path).free > 5e9 else FEWER_COLUMNS
    rng = np.random.default_rng(0)
    tile = rng.standard_normal((N, WIDTH), dtype=np.float32)
    tile[:F] += 0.5
    # A shift common to all workers leaves every distance, and so every choice, as in the tile.
    shifts = rng.uniform(-2, 2, columns // WIDTH).astype(np.float32)
    path = tmp_path / "updates"
    try:
        block = np.empty_like(tile)
        with path.open("wb", buffering=0) as file:
            for shift in shifts:
                file.write(np.add(tile, shift, out=block).data)
        sizes = map(str, (N, F, WIDTH, len(shifts)))
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(path), str(tmp_path), *sizes],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        path.unlink(missing_ok=True)
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    print(f"d = {columns:,}: {report}")

    for name, rule in (("chain", NNM() | MultiKrum()), ("trimmed", TrimmedMean())):
        result = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
        assert result.shape == (columns,)
        expected = rule(tile, F)
        for k, shift in enumerate(shifts):
            part = result[k * WIDTH : (k + 1) * WIDTH]
            assert np.abs(part - (expected + shift)).max() < 5e-6, f"{name}, block {k}"
    assert report["peak"] < LIMIT
