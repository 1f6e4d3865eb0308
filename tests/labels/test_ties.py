"""Ties."""

import torch

from wola.labels.ties import first_of_largest


def test_the_largest_score_is_found():
    assert first_of_largest(torch.tensor([0.1, 0.7, 0.2], dtype=torch.float64)) == 1


def test_scores_equal_up_to_rounding_go_to_the_lowest_index():
    third = torch.tensor([0.1 + 0.2, 0.0, 0.3, 0.3 + 1e-16], dtype=torch.float64)
    assert first_of_largest(third.flip(0)) == 0
    assert first_of_largest(third) == 0


def test_a_difference_beyond_rounding_decides():
    assert first_of_largest(torch.tensor([0.3, 0.3 + 1e-9], dtype=torch.float64)) == 1
