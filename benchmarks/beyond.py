"""Strategies beside the paper's, rivals, and attacks made for them, on digits: `make beyond`.

`results/beyond` has the grids, in the order of their names, and `runs.parquet` with the numbers of
the runs that are done; the paper's strategies on seeds 1 to 3 are in `results/digits`. Whoever runs
this goes on with the first grid that is not done, on all cores, until it is stopped or all are
done. `make beyond-report` writes `results/beyond.md` and its figure from these tables.
"""

import sys
from pathlib import Path

from benchmarks.beyond_page import draw_curves, page
from benchmarks.resumable import PLACE, ResumableTable, go_on, options
from wola.ground.files import write_whole

COLUMNS = Path("results/beyond")
STORE = Path("beyond/store")
EARLIER = Path("results/digits/runs.parquet")


def main(arguments: list[str] | None = None) -> int:
    """Goes on with the grids; the exit code is 1 if a run failed."""
    about = __doc__.splitlines()[0]
    asked = options("benchmarks.beyond", about, COLUMNS, STORE).parse_args(arguments)
    table = ResumableTable(asked.columns, (*PLACE, "lr"), curves=True, earlier=(EARLIER,))
    if not asked.report:
        return go_on(table, asked.store, asked.processes)
    written, figure = asked.columns.with_suffix(".md"), asked.columns.with_suffix(".png")
    write_whole(figure, draw_curves(table))
    write_whole(written, page(table, figure.name).encode())
    print(f"written: {written} and {figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
