"""Which of several updates comes first."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.attacks._lexicographic import lexicographically_first

points = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=8)


@settings(deadline=None)
@given(points, st.integers(1, 4), st.data())
def test_it_is_the_row_that_sorting_puts_first(rows, width, data):
    chosen = data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1).map(sorted))
    pieces = torch.tensor(rows, dtype=torch.float64).split(width, dim=1)
    found = lexicographically_first(pieces, np.array(chosen))
    assert found == min(chosen, key=lambda i: (rows[i], i))


def test_a_single_row_is_taken_without_a_look_at_the_columns():
    def pieces():
        raise AssertionError("read")
        yield

    assert lexicographically_first(pieces(), np.array([3])) == 3
