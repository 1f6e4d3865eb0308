"""Grids in a folder and one table of their runs, which grows until all are done."""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.evidence import grids
from wola.bench.coincidence import representative
from wola.bench.executors.local import LocalExecutor
from wola.bench.grid import Grid
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.report.names import strategy_name
from wola.training import Scenario

TABLE = "runs.parquet"
PLACE = ("alpha", "byzantine", "aggregator", "attack", "strategy", "seed")
NUMBERS = ("accuracy", "final_accuracy", "worst_class", "byzantine_share", "ending")
#: The column that holds the accuracies of a run, test by test.
CURVE = "curve"


@dataclass(frozen=True)
class ResumableTable:
    """A folder of grids, in the order of their names, and `runs.parquet` with the runs done.

    The table keeps the `place` of each run and its numbers, with `curves` also its accuracy at each
    test. What one of the `earlier` tables has is not run again.
    """

    folder: Path
    place: tuple[str, ...] = PLACE
    curves: bool = False
    earlier: tuple[Path, ...] = ()

    @property
    def path(self) -> Path:
        """Where the table is."""
        return self.folder / TABLE

    def scenarios(self) -> Iterator[Scenario]:
        """What the grids ask for, the most important first."""
        for path in grids(self.folder):
            yield from Grid.from_toml(path).scenarios()

    def known(self) -> pl.DataFrame:
        """The key and the numbers of each run in the table and in those made earlier."""
        tables = [path for path in (self.path, *self.earlier) if path.exists()]
        if not tables:
            return pl.DataFrame(schema={"key": pl.String, **dict.fromkeys(NUMBERS, pl.Null)})
        columns = ["key", *NUMBERS]
        read = [pl.read_parquet(path, columns=columns) for path in tables]
        return pl.concat(read).unique("key", keep="first", maintain_order=True)

    def run(self, store: Store, processes: int | None) -> int:
        """Goes on with the first grid that is not done, until all are; how many runs failed."""
        self.add(store)
        return sum(self._run_grid(path, store, processes) for path in grids(self.folder))

    def _run_grid(self, path: Path, store: Store, processes: int | None) -> int:
        """Does what the tables lack of one grid, and adds it, also when stopped."""
        done = set(self.known()["key"])
        scenarios = [s for s in Grid.from_toml(path).scenarios() if key_of(s) not in done]
        print(f"{path.name}: {len(scenarios)} to do", flush=True)
        if not scenarios:
            return 0
        try:
            executor = LocalExecutor(processes=processes)
            report = run_grid(scenarios, store, executor=executor, title=path.stem)
        finally:
            self.add(store)
        return len(report.failed)

    def add(self, store: Store) -> None:
        """Adds the runs of a store to the table, in the order of their keys."""
        found = store.frame().select("key", *self.place, *NUMBERS)
        if self.path.exists():
            before = pl.read_parquet(self.path)
            found = found.join(before, on="key", how="anti")
        if self.curves:
            found = found.with_columns(pl.Series(CURVE, curves(store, found["key"])))
        if self.path.exists():
            found = pl.concat([before, found])
        if len(found):
            found.sort("key").write_parquet(self.path)

    def asked(self) -> pl.DataFrame:
        """A row for each scenario of the grids, under its own names; without a run, no numbers."""
        rows = [
            {"key": key_of(scenario), **place_of(scenario, self.place)}
            for scenario in self.scenarios()
        ]
        placed = pl.DataFrame(rows).unique(self.place, keep="first", maintain_order=True)
        return placed.join(self.known(), on="key", how="left", maintain_order="left").drop("key")

    def answered(self) -> pl.DataFrame:
        """A row for each scenario of the grids that has a run."""
        return self.asked().filter(pl.col("ending").is_not_null())


def place_of(scenario: Scenario, place: Iterable[str]) -> dict[str, object]:
    """The fields that say where a scenario stands, its strategy among them."""
    fields = scenario.model_dump()
    return {name: fields.get(name, strategy_name(fields)) for name in place}


def key_of(scenario: Scenario) -> str:
    """The key of the run that answers a scenario."""
    return representative(scenario).key()


def curves(store: Store, keys: Iterable[str]) -> list[list[float]]:
    """The accuracies of each run, in the order of its tests."""
    return [store.metrics(key)["accuracy"].drop_nulls().to_list() for key in keys]


def options(module: str, about: str, folder: Path, store: Path) -> argparse.ArgumentParser:
    """The command line of a table: where it is, where its runs are, and whether to report."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("--columns", type=Path, default=folder, help="grids and table")
    parser.add_argument("--store", type=Path, default=store, help="where the runs are kept")
    parser.add_argument("--processes", type=int, help="runs at once")
    parser.add_argument("--report", action="store_true", help="write the page, run nothing")
    return parser


def go_on(table: ResumableTable, store: Path, processes: int | None) -> int:
    """Runs what is missing until all is done or it is stopped; 1 if a run failed."""
    try:
        return 1 if table.run(Store.open(store), processes) else 0
    except KeyboardInterrupt:
        print("stopped; the same command goes on")
        return 0
