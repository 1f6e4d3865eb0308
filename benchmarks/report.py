"""Times a report: tables and page of a store, each in a process of its own, and their memory.

`python -m benchmarks.report --store DIR --runs 20000`. The store is only read; a larger one is made
of copies of its runs under other seeds.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.kernels import processor, use_one_thread, write
from benchmarks.page_filters import filter_milliseconds
from benchmarks.step import with_command

#: What is measured, and the goal for 20,000 runs: seconds, megabytes of memory.
GOALS = {"tables": (2.0, 1000.0), "tables, no index": (None, 1000.0), "page": (20.0, 1000.0)}
#: What the page and its curves may weigh, in megabytes.
PAGE_GOAL = 15.0
#: How long the page may take to follow a filter, in milliseconds.
FILTER_GOAL = 100.0


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("store"), help="the runs to report on")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the report")
    parser.add_argument("--runs", type=int, default=0, help="at least so many, by copies")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    parser.add_argument("--one", choices=GOALS, help="measure one in this process and print it")
    options = with_command(parser, arguments)
    options.command = options.command.replace(str(options.store), options.store.name)
    return options


def environment(options: argparse.Namespace) -> dict[str, str]:
    """Where and how the measurement was made."""
    libraries = ", ".join(f"{x} {importlib.metadata.version(x)}" for x in ("polars", "numpy"))
    return {
        "date": time.strftime("%Y-%m-%d"),
        "command": options.command,
        "processor": f"{processor()}; {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, {libraries}",
    }


def one(name: str, store: Path) -> dict[str, Any]:
    """Seconds of one of the works in this process, after all is loaded, and its memory at most."""
    from wola.bench.store import Store
    from wola.report import read_runs
    from wola.report.page import write_page
    from wola.report.page.watched_stores import mirrored_store
    from wola.report.paper_tables import make_tables

    with TemporaryDirectory() as folder:
        (place := Path(folder) / "store").mkdir()
        mirror = mirrored_store(Store.open(store, create=False), place)
        if name == "tables, no index":
            (place / "index.parquet").unlink(missing_ok=True)
        works: Mapping[str, Callable[[], object]] = {
            "page": lambda: write_page(read_runs(mirror), Path(folder) / "report"),
            "tables": lambda: make_tables(read_runs(mirror)),
            "tables, no index": lambda: make_tables(read_runs(mirror)),
        }
        start, cpu = time.perf_counter(), time.process_time()
        works[name]()
        made: dict[str, Any] = {
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - cpu,
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        }
        report = Path(folder) / "report"
        if report.exists():
            made["index.html"] = (report / "index.html").stat().st_size
            made["curves"] = sum(path.stat().st_size for path in report.glob("curves/*"))
            made["filter"] = filter_milliseconds(report / "index.html")
        made["runs"] = len(read_runs(mirror).table)
    return made


def larger_store(store: Path, runs: int, place: Path) -> Path:
    """A store of at least so many runs: those of another, again and again under other seeds.

    A copy has the measurements of some other run, or its curves would compress to nothing.
    """
    from wola.bench.run_files import FILES, record_in, summary_in
    from wola.bench.store import Store
    from wola.ground.sealed import sealed
    from wola.training.scenario import record_key

    found = Store.open(store, create=False)
    keys = list(found.keys())
    made = Store.open(place)
    for turn in range(-(-runs // len(keys))):
        for at, key in enumerate(keys):
            other = found.folder(keys[(at + 997 * turn) % len(keys)])
            record, summary = record_in(found.folder(key)), summary_in(other)
            if turn:
                record["fields"]["seed"] = found.scenario(key).seed + 1000 * turn
            new = record_key(record)
            folder = made.folder(new)
            folder.mkdir(parents=True)
            (folder / FILES[0]).write_text(json.dumps(record) + "\n")
            shutil.copyfile(other / FILES[1], folder / FILES[1])
            (folder / FILES[2]).write_bytes(sealed({**summary, "key": new}))
    made.frame(refresh=True)
    return place


def measured(name: str, store: Path) -> dict[str, Any]:
    """The same in a process of its own; `whole` is from its start to its end."""
    start = time.perf_counter()
    words = ["-m", "benchmarks.report", "--store", str(store), "--one", name]
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
    made: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return {**made, "whole": time.perf_counter() - start}


def report_page(facts: dict[str, str], found: dict[str, list[dict[str, Any]]], rounds: int) -> str:
    """The report in Markdown."""
    some = found["page"][0]
    lines = [
        "# Reports",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        f"- load of the machine at the end, over one minute: {os.getloadavg()[0]:.1f}",
        "",
        f"Tables of all kinds, and the page, of {some['runs']:,} runs: from the store to the "
        f"end, each in a process of its own, the median of {rounds}. The whole process also loads "
        "the libraries.",
        "",
        "| | wall, s | CPU, s | whole process, s | memory, MB | goal |",
        "|---|---|---|---|---|---|",
    ]
    for name, measurements in found.items():
        seconds, megabytes = GOALS[name]
        names = ("seconds", "cpu", "whole", "megabytes")
        wall, cpu, whole, memory = (statistics.median(m[n] for m in measurements) for n in names)
        limit = f"{megabytes:.0f} MB" if seconds is None else f"{seconds:.0f} s, {megabytes:.0f} MB"
        reached = memory < megabytes and (seconds is None or wall < seconds)
        lines.append(
            f"| {name} | {wall:.1f} | {cpu:.1f} | {whole:.1f} | {memory:.0f} | "
            f"under {limit}: {'yes' if reached else 'no'} |"
        )
    page, curves = (some[part] / 1e6 for part in ("index.html", "curves"))
    small = "yes" if page + curves < PAGE_GOAL else "no"
    lines += [
        "",
        f"The page is {page:.2f} MB, and its curves {curves:.1f} MB in files that are loaded when "
        f"they are looked at; together under {PAGE_GOAL:.0f} MB: {small}.",
    ]
    if (taken := some.get("filter")) is not None:
        quick = "yes" if taken < FILTER_GOAL else "no"
        lines.append(
            f"In chromium it follows a filter within {taken:.0f} ms (the median of 12 presses); "
            f"under {FILTER_GOAL:.0f} ms: {quick}."
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    use_one_thread()
    if options.one:
        print(json.dumps(one(options.one, options.store)))
        return
    with TemporaryDirectory() as folder:
        store = options.store
        if options.runs:
            store = larger_store(store, options.runs, Path(folder) / "store")
        found = {name: [measured(name, store) for _ in range(options.rounds)] for name in GOALS}
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "report.md", report_page(environment(options), found, options.rounds))
    print(f"written: {options.out / 'report.md'}")


if __name__ == "__main__":
    main()
