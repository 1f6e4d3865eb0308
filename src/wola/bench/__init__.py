"""The benchmark: grids of scenarios, the store of their runs, and what runs them."""

from wola.bench.coincidence import representative
from wola.bench.curves import Curves
from wola.bench.events import GridReport
from wola.bench.exchange import export_runs, import_runs
from wola.bench.grid import Grid, GridError
from wola.bench.marker import StoreError
from wola.bench.mlflow import MLflowCurves
from wola.bench.presets import FIGURES, PRESETS
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.bench.tensorboard import TensorBoardCurves
from wola.bench.trackers import Trackers
from wola.bench.wandb import WandbCurves

__all__ = [
    "FIGURES",
    "PRESETS",
    "Curves",
    "Grid",
    "GridError",
    "GridReport",
    "MLflowCurves",
    "Store",
    "StoreError",
    "TensorBoardCurves",
    "Trackers",
    "WandbCurves",
    "export_runs",
    "import_runs",
    "representative",
    "run_grid",
]
