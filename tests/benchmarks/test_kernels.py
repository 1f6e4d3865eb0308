"""The command: its options and the page it writes."""

from pathlib import Path

from benchmarks.growth import Curve
from benchmarks.kernels import parse, report, write
from benchmarks.tables import PRODUCT, READ, WOLA, Cell


def test_the_recorded_command_is_what_was_typed_without_the_folder():
    options = parse(["--n", "17", "--out", "some/where", "--budget", "2"])
    assert options.command.split()[:3] == ["python", "-m", "benchmarks.kernels"]
    assert options.command.split()[3:] == ["--n", "17", "--budget", "2"]


def test_a_quick_run_takes_small_sizes():
    options = parse(["--quick"])
    assert max(options.d) <= 20_000


def test_the_page_has_a_section_for_every_shape_and_the_growth():
    seconds = {WOLA: [0.001], READ: [0.001], PRODUCT: [0.002], "ByzFL torch": [0.1]}
    cells = [
        Cell("median", n, 4, d, seconds, {"ByzFL torch": 0.0}, 1e-5, {}, [])
        for n, d in ((17, 431_080), (50, 1_000_000))
    ]
    curves = [Curve("trimmed-mean", "d", [10, 100, 1000], [0.1, 1.0, 10.0])]
    page = report({"date": "today"}, cells, curves, parse(["--n", "17", "50"]))
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Goals",
        "## n = 17, f = 4, d = 431,080",
        "## n = 50, f = 4, d = 1,000,000",
        "## Growth",
    ]
    assert "| trimmed-mean | d | 10 | 1,000 | 100 to 10,000 | 1.00 |" in page


def test_a_file_is_written_whole(tmp_path: Path):
    write(tmp_path / "page.md", "all of it")
    assert [file.name for file in tmp_path.iterdir()] == ["page.md"]
    assert (tmp_path / "page.md").read_text() == "all of it"
