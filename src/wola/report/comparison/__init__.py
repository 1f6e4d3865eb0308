"""Comparisons: one's runs against the paper's numbers, or against the runs of another store."""

from wola.report.comparison.against_paper import against_paper, missing_from_paper
from wola.report.comparison.against_runs import against_runs
from wola.report.comparison.differences import NothingShared

__all__ = ["NothingShared", "against_paper", "against_runs", "missing_from_paper"]
