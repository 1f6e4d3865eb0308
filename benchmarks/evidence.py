"""The paper's tables on its own data, a column at a time: `make evidence`.

`results/evidence` has a grid for each column, in the order of their names, and beside it an export
of the runs that are done. Whoever runs this goes on with the first run that is missing, in one
process at the lowest priority, until it is stopped or all are done; the export is written anew
after each run. `make evidence-report` writes what the runs so far say, beside the paper's numbers.
"""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

from wola.bench.coincidence import representative
from wola.bench.events import Done, Event, Failed, Listener
from wola.bench.exchange import export_runs, import_runs
from wola.bench.executors.local import LocalExecutor
from wola.bench.grid import Grid
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.ground.files import write_whole
from wola.report import read_runs
from wola.report.comparison import against_paper, missing_from_paper
from wola.report.forms import TABLE_FORMS
from wola.report.page import write_page
from wola.report.paper_tables import make_tables

COLUMNS = Path("results/evidence")
STORE = Path("evidence/store")


def main(arguments: list[str] | None = None) -> int:
    """Goes on with the columns; the exit code is 1 if a run failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.evidence", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--columns", type=Path, default=COLUMNS, help="grids and exports")
    parser.add_argument("--store", type=Path, default=STORE, help="where the runs are kept")
    parser.add_argument(
        "--report", action="store_true", help="write tables and a page, run nothing"
    )
    asked = parser.parse_args(arguments)
    store = Store.open(asked.store)
    take_exports(asked.columns, store)
    if asked.report:
        write_report(asked.columns, store)
        return 0
    step_back()
    failed = 0
    try:
        for path in grids(asked.columns):
            failed += run_column(path, store)
    except KeyboardInterrupt:
        print("stopped; the same command goes on")
    return 1 if failed else 0


def step_back() -> None:
    """Lets everything else on this machine go first."""
    os.nice(19)
    # Linux groups processes by session, and a nice value counts within its group alone.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text("19")


def grids(columns: Path) -> list[Path]:
    """The grids, the most important first."""
    return sorted(columns.glob("*.toml"))


def take_exports(columns: Path, store: Store) -> None:
    """Takes all runs that have been made before into the store."""
    for path in sorted(columns.glob("*.zip")):
        taken = import_runs(path, store)
        print(f"{path.name}: {taken.new} new, {taken.there} were there", flush=True)
        for key, reason in taken.damaged.items():
            print(f"  {key[:10]} is damaged: {reason}")


def run_column(path: Path, store: Store) -> int:
    """Does what is missing of one column, and writes its export after each run; how many failed."""
    scenarios = Grid.from_toml(path).scenarios()
    keys = {representative(scenario).key() for scenario in scenarios}
    there = sum(store.is_done(key) for key in keys)
    print(f"{path.name}: {there} of {len(keys)} runs are there", flush=True)
    if there == len(keys):
        return 0
    listener = exporting(store, keys, path.with_suffix(".zip"))
    report = run_grid(
        scenarios, store, executor=LocalExecutor(processes=1), listener=listener, title=path.stem
    )
    return len(report.failed)


def write_report(columns: Path, store: Store) -> None:
    """Writes the tables and the comparison with the paper, and a page beside the store."""
    runs = read_runs(store)
    there = [progress(path, store) for path in grids(columns)]
    tables = [*make_tables(runs, ["accuracy", "worst", "dissimilarity"]), *against_paper(runs)]
    missing = [f"- {line}" for line in missing_from_paper(runs)]
    parts = [
        "# The paper's columns on its own data",
        "Made by `make evidence-report` from the exports in this folder.",
        "\n".join(["| column | runs done | of |", "|---|---|---|", *there]),
        *(TABLE_FORMS["md"](table) for table in tables),
        "\n".join(["## Not there yet", "", *missing]) if missing else "",
    ]
    write_whole(columns / "README.md", ("\n\n".join(filter(None, parts)) + "\n").encode())
    print(f"tables: {columns / 'README.md'}")
    print(f"page: {write_page(runs, store.path.parent / 'report')}")


def progress(path: Path, store: Store) -> str:
    """A line of a table: how many runs of a column are done."""
    keys = {representative(scenario).key() for scenario in Grid.from_toml(path).scenarios()}
    return f"| {path.stem} | {sum(map(store.is_done, keys))} | {len(keys)} |"


def exporting(store: Store, keys: set[str], out: Path) -> Listener:
    """Writes an export of the runs that are done, each time one more is."""

    def listen(event: Event) -> None:
        if isinstance(event, Done):
            done = sorted(key for key in keys if store.is_done(key))
            size = export_runs(store, done, out)
            print(f"  {len(done)} of {len(keys)}, {size / 1e6:.1f} MB", flush=True)
        elif isinstance(event, Failed):
            print(f"  {event.key[:10]} failed: {event.log.strip().splitlines()[-1:]}", flush=True)

    return listen


if __name__ == "__main__":
    sys.exit(main())
