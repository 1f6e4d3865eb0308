"""How far the order of strategies on digits is the paper's on its datasets: python order.py."""

from pathlib import Path
from statistics import median

import polars as pl

from wola.report.comparison.agreement import kendall_tau
from wola.report.comparison.paper_numbers import paper_numbers

COLUMN = ["alpha", "byzantine", "strategy"]
KINDS = {"global": "accuracy", "worst": "worst"}

for dataset in ("fashion-mnist", "cifar10"):
    for summary, table in KINDS.items():
        ours = pl.read_csv(Path(__file__).parent / "tables" / f"{table}-digits.csv")
        theirs = (
            paper_numbers()
            .filter(dataset=dataset, metric="accuracy", summary=summary)
            .select(*COLUMN, other="mean")
        )
        both = ours.select(*COLUMN, "mean").join(theirs, on=COLUMN)
        taus = [
            kendall_tau(some["mean"].round(1).to_list(), some["other"].to_list())
            for _, some in both.group_by("alpha", "byzantine", maintain_order=True)
        ]
        middle = median(tau for tau in taus if tau is not None)
        shown = " ".join("-" if tau is None else f"{tau:.2f}" for tau in taus)
        print(f"{dataset:14} {summary:7} median {middle:.2f}: {shown}")
