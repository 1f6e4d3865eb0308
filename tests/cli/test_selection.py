"""Which runs of a store are meant."""

import polars as pl
import pytest

from wola.cli.errors import Refused
from wola.cli.selection import selected

TABLE = pl.DataFrame(
    {
        "strategy": ["-", "WoLA", "Mine", None],
        "aggregator": ["krum", "krum(power=1)", "mine:Rule(k=3)", "median"],
        "mixing": ["none", "nnm", "nnm+bucketing", "none"],
        "alpha": [0.3, 0.3, 1.0, 1.0],
        "participants": [None, 5, None, 5],
    }
)


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ({}, [0, 1, 2, 3]),
        ({"aggregator": None}, [0, 1, 2, 3]),
        ({"aggregator": ["krum"]}, [0, 1]),
        ({"aggregator": ["krum(1)"]}, [1]),
        ({"aggregator": ["mine:Rule"]}, [2]),
        ({"aggregator": ["mine:Rule( k = 3 )", "median"]}, [2, 3]),
        ({"aggregator": ["mean"]}, []),
        ({"mixing": ["nnm + bucketing"]}, [2]),
        ({"alpha": ["0.30"], "aggregator": ["krum"]}, [0, 1]),
        ({"strategy": ["wola", "mine"]}, [1, 2]),
        ({"participants": ["5"]}, [1, 3]),
    ],
)
def test_a_row_is_chosen_if_each_field_has_one_of_its_values(asked, rows):
    expected = TABLE.with_row_index().filter(pl.col("index").is_in(rows)).drop("index")

    assert selected(TABLE, asked).equals(expected)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"aggregator": ["kurm"]}, "aggregator = 'kurm'; did you mean 'krum'"),
        ({"strategy": ["nine"]}, "strategy = 'nine'; did you mean 'mine'"),
        ({"alpha": ["much"]}, "alpha = 'much'"),
        ({"aggregator": ["mine:Rule(k"]}, "never closed"),
    ],
)
def test_a_value_that_cannot_be_is_refused(asked, said):
    with pytest.raises(Refused, match=r"allowed|expected") as caught:
        selected(TABLE, asked)

    assert said in str(caught.value)
