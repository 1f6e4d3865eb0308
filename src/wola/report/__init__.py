"""Reports: from a store of runs to tables, figures and a page."""

from wola.report.runs import Runs, read_runs

__all__ = ["Runs", "read_runs"]
