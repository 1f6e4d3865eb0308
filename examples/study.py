"""A study in a few lines: strategies by attacks on iris, as a table, a frame and a figure.

`compare` runs everything in processes of its own, so the call stands under
`if __name__ == "__main__"`. With `store="FOLDER"` the runs are kept, and `wola report FOLDER` makes
tables and a page of them.
"""

import argparse
from pathlib import Path

import matplotlib
import polars as pl

from wola import compare


def main() -> pl.DataFrame:
    """Runs the study, prints the table, draws the figure in the width of a column."""
    parser = argparse.ArgumentParser(description="A study of strategies by attacks on iris.")
    parser.add_argument("--out", type=Path, default=Path("study.pdf"), help="the figure")
    out = parser.parse_args().out
    matplotlib.use("Agg")
    found = compare(
        ["-", "NNM", "WoLA", "WoLA+NNM"],
        aggregators=["median", "trimmed-mean"],
        attacks=["alie", "sf"],
        dataset="iris",
        byzantine=4,
        steps=20,
        seeds=[1, 2],
        processes=2,
        progress=False,
    )
    print(found.table())
    found.plot(style="paper").savefig(out)
    print(f"figure: {out}")
    return found.frame()


if __name__ == "__main__":
    main()
