"""The benchmark: grids of scenarios, the store of their runs, and what runs them."""

from wola.bench.coincidence import representative
from wola.bench.events import GridReport
from wola.bench.exchange import export_runs, import_runs
from wola.bench.grid import Grid, GridError
from wola.bench.marker import StoreError
from wola.bench.presets import FIGURES, PRESETS
from wola.bench.run import run_grid
from wola.bench.store import Store

__all__ = [
    "FIGURES",
    "PRESETS",
    "Grid",
    "GridError",
    "GridReport",
    "Store",
    "StoreError",
    "export_runs",
    "import_runs",
    "representative",
    "run_grid",
]
