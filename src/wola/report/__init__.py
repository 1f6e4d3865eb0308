"""Reports: from a store of runs to tables, figures and a page; and a comparison in three lines."""

from wola.report.compare import Comparison, compare
from wola.report.runs import Runs, read_runs

__all__ = ["Comparison", "Runs", "compare", "read_runs"]
