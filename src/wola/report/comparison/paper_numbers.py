"""The numbers that the WoLA paper prints, to be compared with one's own."""

from functools import cache
from importlib.resources import files

import polars as pl

from wola.report.short_names import TITLES

_METRICS = {"accuracy": "accuracy", "gradient_dissimilarity": "dissimilarity"}
_SUMMARIES = {"global": "global", "worst-case": "worst"}


@cache
def paper_numbers() -> pl.DataFrame:
    """Mean and sd of the paper's tables, a row per number: 768 in all.

    The columns `metric`, `summary`, `dataset`, `alpha`, `byzantine` and `strategy` say which
    number it is, in the words of `scores`. Reference: the WoLA paper, the tables of test accuracy
    (Fashion MNIST and CIFAR10) and of gradient dissimilarity (all four datasets).

    >>> paper_numbers().row(0)
    ('accuracy', 'fashion-mnist', 'global', '-', 3.0, 2, 77.1, 0.7)
    """
    text = files("wola.report.comparison").joinpath("paper_numbers.csv").read_bytes()
    names = {printed: name for name, printed in TITLES.items()}
    return (
        pl.read_csv(text, schema_overrides={"alpha": pl.Float64, "f": pl.Int64})
        .rename({"f": "byzantine"})
        .with_columns(
            pl.col("metric").replace_strict(_METRICS),
            pl.col("summary").replace_strict(_SUMMARIES),
            pl.col("dataset").replace_strict(names),
        )
    )
