"""The references themselves, against cases worked out by hand."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from tests import reference, reference_attacks, reference_newer_rules


def column(*values: float) -> reference.Array:
    return np.array(values, dtype=np.float64)[:, None]


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two():
    assert reference.coordinate_median(column(9, 1, 2, 5)) == [3.5]
    assert reference.coordinate_median(column(9, 1, 2)) == [2]


def test_the_trimmed_mean_drops_f_values_at_each_end():
    assert reference.trimmed_mean(column(100, 1, 2, 6, -50), 1) == [3]
    assert reference.trimmed_mean(column(1, 2, 6), 0) == [3]


def test_mean_around_median_keeps_the_nearest_and_two_equals_share():
    assert reference.meamed(column(0, 1, 2, 10), 1) == pytest.approx([1])
    assert reference.meamed(column(-2, 0, 2), 1) == pytest.approx([0])
    # The median is 1; one of the three values at distance 1 is left out: 1 + (2/3)(0 + 0 + 2).
    assert reference.meamed(column(0, 0, 1, 1, 2), 1) == pytest.approx([(2 + 2) / 4 - 0.5 / 3 * 1])


def test_the_geometric_median_of_a_right_triangle_is_its_fermat_point():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    fermat = (3 - math.sqrt(3)) / 6
    np.testing.assert_allclose(
        reference.geometric_median(triangle), [fermat, fermat], rtol=0, atol=1e-14
    )


def test_the_geometric_median_of_a_quadrilateral_is_where_its_diagonals_cross():
    corners = np.array([[-1.0, 0.0], [5.0, 0.0], [0.0, -2.0], [0.0, 7.0]])
    np.testing.assert_allclose(reference.geometric_median(corners + 1e6), [1e6, 1e6], atol=1e-9)


def test_the_geometric_median_is_the_corner_of_a_triangle_wider_than_120_degrees_there():
    triangle = np.array([[-4.0, 1.0], [0.0, 0.0], [4.0, 1.0]])
    np.testing.assert_array_equal(reference.geometric_median(triangle), [0, 0])


def test_the_geometric_median_is_the_point_most_workers_agree_on():
    x = np.array([[1.0, 2.0], [8.0, -3.0], [1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])
    np.testing.assert_array_equal(reference.geometric_median(x), [1, 2])


def test_the_geometric_median_on_a_line_is_the_median():
    np.testing.assert_allclose(reference.geometric_median(column(0, 1, 3, 50)), [2], atol=1e-13)
    on_a_line = np.outer([0.0, 1.0, 7.0], [3.0, 4.0])
    np.testing.assert_allclose(reference.geometric_median(on_a_line), [3, 4], atol=1e-13)


@pytest.mark.parametrize(("n", "d"), [(3, 2), (6, 2), (9, 4), (5, 40), (17, 10)])
def test_unit_vectors_around_the_geometric_median_cancel(n, d):
    x = np.random.default_rng(n).standard_normal((n, d)) * np.linspace(0.1, 10, n)[:, None]
    offsets = x - reference.geometric_median(x)
    lengths = np.linalg.norm(offsets, axis=1)
    copies = lengths == 0
    pull = (offsets[~copies] / lengths[~copies, None]).sum(axis=0)
    assert np.linalg.norm(pull) <= copies.sum() + 1e-12


def test_smoothed_weiszfeld_starts_at_zero_and_weights_by_inverse_distance():
    assert reference.smoothed_weiszfeld(column(1, 3), 1, 0.1) == pytest.approx([1.5])
    assert reference.smoothed_weiszfeld(column(1, 3), 5, 100) == pytest.approx([2])
    assert reference.smoothed_weiszfeld(column(1, 3), 2, 0.1) == pytest.approx([1.5])


def test_krum_sums_the_nearest_others_and_takes_the_mean_of_equals():
    x = column(0, 1, 3, 4, 100)
    far = 96.0**2 + 97.0**2
    np.testing.assert_allclose(reference.krum_scores(x, 1, 2), [10, 5, 5, 10, far])
    np.testing.assert_allclose(reference.krum_scores(x, 1, 1), [4, 3, 3, 4, 193])
    assert reference.krum(x, 1) == [2]
    assert reference.multi_krum(x, 1) == [2]
    assert reference.multi_krum(x, 1, m=3) == pytest.approx([(1 + 3) / 3 + (0 + 4) / 2 / 3])


def test_krum_counts_one_neighbour_at_least():
    assert reference.krum(column(0, 1, 10), 1) == [0.5]


def test_bulyan_selects_by_krum_again_and_again_then_averages_around_the_median():
    # Scores of four neighbours tie for 2 and 3, then of two for 1 and 4; of 0, 5 and 100 the first
    # two tie for the last place: 2.5. The median is 2.5, and 2 and 3 are its nearest: with n - 4f
    # = 3 places, 2.5 is one of them.
    assert reference.bulyan(column(0, 1, 2, 3, 4, 5, 100), 1) == pytest.approx([2.5])


def test_minimum_diameter_averaging_takes_the_mean_of_equally_tight_subsets():
    assert reference.minimum_diameter_averaging(column(0, 10, 11, 12), 1) == [11]
    assert reference.minimum_diameter_averaging(column(0, 1, 2), 1) == [1]
    assert reference.minimum_diameter_averaging(column(0, 1, 2, 2), 2) == [2]


def test_comparative_gradient_elimination_drops_the_longest():
    x = np.array([[3.0, 4.0], [0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(reference.comparative_gradient_elimination(x, 1), [0.5, 0.5])


def test_centered_clipping_moves_by_the_mean_of_clipped_differences():
    assert reference.centered_clipping(column(0, 10), 1, 1) == [0.5]
    assert reference.centered_clipping(column(0, 10), 1, 2) == [0.75]
    assert reference.centered_clipping(column(0, 10), 1, 1, start=np.array([9.5])) == [9.25]


def test_the_top_eigenpair_is_that_of_the_weighted_covariance():
    rng = np.random.default_rng(5)
    x, weights = rng.standard_normal((6, 4)), rng.uniform(0.1, 1, 6)
    covariance = np.cov(x.T, aweights=weights, bias=True)
    value, vector = reference.top_eigenpair(x, weights)
    assert value == pytest.approx(np.linalg.eigvalsh(covariance)[-1], rel=1e-12)
    np.testing.assert_allclose(covariance @ vector, value * vector, atol=1e-12)


def test_smea_prefers_a_wide_triangle_to_a_shorter_line():
    height = math.sqrt(4 - 0.95**2)
    x = np.array([[-0.05, 0.0], [0.0, 0.0], [1.9, 0.0], [0.95, height]])
    np.testing.assert_allclose(reference.smea(x, 1), [0.95, height / 3])
    np.testing.assert_allclose(reference.minimum_diameter_averaging(x, 1), [1.85 / 3, 0])


def test_caf_keeps_the_mean_with_the_least_variance_on_the_way():
    # Weights 1, 1, 1 give variance 14/3; then 5/9, 8/9, 0 give mean 21/13. Of (1, 2, 6) less the
    # mean, 6 is still the farthest: all weights shrink a little, again and again, that of 1 more.
    assert reference.caf(column(1, 2, 6), 1, all_set_the_pace=False) == pytest.approx([21 / 13])
    assert 21 / 13 + 0.1 < reference.caf(column(1, 2, 6), 1)[0] < 2
    assert reference.caf(column(1, 2, 6), 0) == pytest.approx([3])
    assert reference.caf(column(4, 4, 4), 1) == [4]


def test_rage_stops_before_the_step_that_leaves_less_than_n_minus_2f():
    # Weights 1, 1, 1 become 5/9, 8/9, 0; the next step would leave 0.54 of 1 at the mean 21/13.
    assert reference_newer_rules.rage(column(1, 2, 6), 1) == pytest.approx([21 / 13])
    assert reference_newer_rules.rage(column(1, 2, 6), 1, bound=5) == pytest.approx([3])
    assert reference_newer_rules.rage(column(1, 2, 6), 0) == pytest.approx([3])


def test_huber_is_the_mean_of_the_near_moved_by_a_threshold_for_each_far_one():
    assert reference_newer_rules.huber(column(0, 0.5, 1, 90), 1) == pytest.approx([5 / 6])
    assert reference_newer_rules.huber(column(0, 1, 10, 13), 1) == pytest.approx([5.5])
    assert reference_newer_rules.huber_threshold(column(0, 1, 3, 50)) == 1.5
    corner = np.array([[0.0, 0.0], [0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    result = reference_newer_rules.huber(corner, 1)
    np.testing.assert_allclose(reference_newer_rules.huber_pull(corner, result, 1), 0, atol=1e-14)
    assert result[0] == pytest.approx(result[1])


def test_the_normalised_mean_adds_directions():
    x = np.array([[3.0, 4.0], [0.0, -9.0], [0.0, 0.0]])
    np.testing.assert_allclose(reference_newer_rules.normalised_mean(x), [0.2, -1 / 15])


def test_divide_and_conquer_counts_votes_where_the_samples_agree_on_nobody():
    x = np.array([[9.0, 0.0], [0.0, 9.0], [0.0, 0.1]])
    first, second = np.array([0]), np.array([1])
    # In each column the update at 9 goes: the third is good in both.
    np.testing.assert_allclose(reference_newer_rules.dnc(x, 1, [first, second]), [0, 0.1])
    np.testing.assert_allclose(reference_newer_rules.dnc(x, 1, [first]), [0, 4.55])
    opposite = np.array([[0.0, 5.0], [5.0, 0.0]])
    both_go = reference_newer_rules.dnc(opposite, 1, [first, second])
    np.testing.assert_allclose(both_go, [2.5, 2.5])


def test_gradient_splitting_adds_up_distances_to_the_groups_aggregates():
    x = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 9.0]])
    groups = [np.array([0]), np.array([1])]
    # The medians are 0.5 and 1.5: distances 2, 1, 2 and 8.
    middle = reference_newer_rules.gas(x, 1, groups, lambda x, f: reference.coordinate_median(x))
    np.testing.assert_allclose(middle, [1, 1])


def test_nearest_neighbour_mixing_counts_the_worker_itself():
    np.testing.assert_array_equal(reference.nnm(column(0, 1, 10), 1), column(0.5, 0.5, 5.5))


def test_the_last_bucket_holds_what_is_left():
    mixed = reference.bucketing(column(0, 1, 2, 3, 4), [4, 0, 1, 2, 3], 2)
    np.testing.assert_array_equal(mixed, column(2, 1.5, 3))


def test_foundation_fl_repeats_the_update_farthest_from_both_extremes():
    mixed = reference.foundation_fl(column(0, 4, 10, 1, 9))
    np.testing.assert_array_equal(mixed, column(0, 4, 10, 1, 9, 4, 4))


def test_clipping_shortens_only_what_is_too_long():
    x = np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 0.0]])
    expected = [[1.2, 1.6], [0, 1], [0, 0]]
    np.testing.assert_allclose(reference.clipping(x, 2), expected)


def test_arc_clips_the_k_longest_to_the_next_norm():
    np.testing.assert_allclose(reference.arc(column(1, -9, 2, 4), 1), column(1, -4, 2, 4))
    np.testing.assert_array_equal(reference.arc(column(1, -9, 2), 0), column(1, -9, 2))


def test_alie_moves_by_the_normal_quantile_of_the_supporters_needed():
    assert reference_attacks.alie_factor(17, 8) == pytest.approx(NormalDist().inv_cdf(16 / 17))
    assert reference_attacks.alie(column(0, 2), 17, 8) == pytest.approx([2.564726], abs=1e-6)


def test_foe_and_sign_flip_turn_the_mean_around():
    assert reference_attacks.foe(column(1, 3)) == pytest.approx([-0.2])
    assert reference_attacks.sign_flip(column(1, 3)) == [-2]


def test_the_most_surrounded_outlier_is_not_always_the_farthest():
    # With f = 2 the rank sums are 7, 8, 8, 5 and the distances to the mean 1.85, .85, .15, 2.55.
    assert reference_attacks.most_surrounded_outlier(column(0, 1, 2, 4.4), 2) == 0
    assert reference_attacks.most_surrounded_outlier(column(0, 1, 2, 4.4), 1) == 3


def test_min_max_and_min_sum_go_as_far_as_the_honest_spread_allows():
    honest = column(0, 0, 3)
    for direction in ("unit", "sign", "std"):
        assert reference_attacks.min_max(honest, direction) == pytest.approx([0], abs=1e-12)
        assert reference_attacks.min_sum(honest, direction) == pytest.approx([-1], abs=1e-12)


def test_min_max_of_identical_updates_is_that_update():
    for direction in ("unit", "sign", "std"):
        assert reference_attacks.min_max(column(2, 2), direction) == pytest.approx([2])


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match="direction is 'up'"):
        reference_attacks.min_sum(column(0, 1), "up")


def test_the_wola_loss_divides_by_the_batch_size_and_not_by_the_weights():
    np.testing.assert_allclose(
        reference_attacks.wola_weights([3, 1, 0], [0.5] * 2 + [0]), [2 / 3, 2, 0]
    )
    loss = reference_attacks.wola_loss(np.zeros((2, 2)), [0, 1], [3, 1], [0.5, 0.5])
    assert loss == pytest.approx(math.log(2) * 4 / 3)


def test_the_cross_entropy_of_huge_logits_stays_finite():
    assert reference_attacks.cross_entropy(np.array([1e4, 0.0]), 1) == 1e4


def test_gradient_dissimilarity_is_the_mean_squared_distance_to_the_mean():
    assert reference_attacks.gradient_dissimilarity(np.array([[0.0, 3.0], [2.0, 3.0]])) == 1


def test_the_rarest_class_report_puts_all_mass_on_the_first_of_the_rarest():
    honest = np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
    np.testing.assert_array_equal(reference_attacks.rarest_class_report(honest), [0, 1, 0])
