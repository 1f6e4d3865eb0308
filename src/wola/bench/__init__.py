"""The benchmark: grids of scenarios, the store of their runs, and what runs them."""

from wola.bench.events import GridReport
from wola.bench.grid import Grid, GridError
from wola.bench.presets import FIGURES, PRESETS
from wola.bench.run import run_grid
from wola.bench.same import representative
from wola.bench.store import Store, StoreError

__all__ = [
    "FIGURES",
    "PRESETS",
    "Grid",
    "GridError",
    "GridReport",
    "Store",
    "StoreError",
    "representative",
    "run_grid",
]
