"""Coordinate-wise reductions: compiled, unrolled and plain torch forms of the same thing."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests import reference
from tests.rules import updates
from wola.aggregation import (
    CoordinateMedian,
    GeometricMedian,
    MeaMed,
    MultiKrum,
    TrimmedMean,
    columns,
)
from wola.mixing import NNM


@pytest.fixture
def kernel_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WOLA_CACHE", str(tmp_path))
    columns.unrolled_kernel.cache_clear()
    yield tmp_path / "kernels"
    columns.unrolled_kernel.cache_clear()


@pytest.fixture
def always_unrolled(monkeypatch):
    monkeypatch.setattr(columns, "UNROLL_AFTER", 0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("n", [1, 2, 5, 8, 17, 40])
def test_the_torch_form_of_a_middle_mean_agrees_with_the_kernel(n, dtype):
    x = torch.from_numpy(updates(n, 1300)).to(dtype)
    for low, high in ((0, n), ((n - 1) // 2, n // 2 + 1), (n // 3, n - n // 3), (n - 1, n)):
        compiled, clean = columns.middle_mean(x, low, high)
        plain = columns._middle_mean_torch(x, low, high)
        assert plain.dtype == compiled.dtype == dtype
        torch.testing.assert_close(compiled, plain, rtol=1e-6, atol=1e-6)
        assert clean


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("n", [1, 2, 5, 8, 17, 40])
def test_the_torch_form_of_a_mean_around_the_median_agrees_with_the_kernel(n, dtype):
    x = torch.from_numpy(updates(n, 1300)).to(dtype)
    for keep in sorted({1, n // 2 + 1, n - n // 4, n}):
        compiled, clean = columns.mean_around_median(x, keep)
        plain = columns._mean_around_median_torch(x, keep)
        assert plain.dtype == compiled.dtype == dtype
        torch.testing.assert_close(compiled, plain, rtol=1e-6, atol=1e-6)
        assert clean


FORMS = pytest.mark.parametrize(
    "around_median",
    [lambda x, keep: columns.mean_around_median(x, keep)[0], columns._mean_around_median_torch],
    ids=["compiled", "torch"],
)


@FORMS
def test_values_at_the_median_are_nearer_than_ties_on_one_side(around_median):
    x = torch.tensor([[0.0], [0.0], [0.0], [-1.0], [-1.0]])
    assert around_median(x, 4).tolist() == [-0.25]
    assert around_median(-x, 4).tolist() == [0.25]


@FORMS
@settings(deadline=None, max_examples=60, derandomize=True)
@given(data=st.data())
def test_tied_values_around_the_median_give_the_reference(around_median, data):
    n = data.draw(st.integers(1, 9))
    x = data.draw(arrays(np.float64, (n, 2), elements=st.integers(-2, 2).map(float)))
    keep = data.draw(st.integers(n // 2 + 1, n))
    expected = [reference.mean_around_median(column.tolist(), keep) for column in x.T]
    np.testing.assert_allclose(around_median(torch.from_numpy(x), keep), expected, atol=1e-12)


@FORMS
def test_values_equally_far_on_both_sides_share(around_median):
    assert around_median(torch.tensor([[-2.0], [0.0], [2.0]]), 2).tolist() == [0.0]
    # Of 0, 0 and 2, all one away from 1, two places are left: each counts two thirds.
    x = torch.tensor([[2.0], [1.0], [0.0], [0.0], [1.0]])
    np.testing.assert_allclose(around_median(x, 4), [(2 + 4 / 3) / 4], rtol=1e-6)


@FORMS
def test_values_that_rounding_alone_sets_apart_from_the_median_are_tied(around_median):
    x = torch.tensor([[0.1], [0.2], [0.3], [0.4]], dtype=torch.float64)
    assert x[0] + x[3] == x[1] + x[2]
    np.testing.assert_allclose(around_median(x, 3), [0.25], rtol=1e-15)


@FORMS
def test_the_mean_of_equal_values_is_that_value_to_the_last_bit(around_median):
    x = torch.full((17, 3), 0.1, dtype=torch.float64)
    assert torch.equal(around_median(x, 11), x[0])
    x[:6] = -9.7
    assert torch.equal(around_median(x, 11), x[16])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e38])
@pytest.mark.parametrize("d", [10, 1041, 100_001])
@pytest.mark.parametrize("unrolled", [False, True])
def test_values_that_are_not_finite_or_cannot_be_squared_are_not_clean(
    bad, d, unrolled, monkeypatch
):
    monkeypatch.setattr(columns, "UNROLL_AFTER", 0 if unrolled else 10**12)
    x = torch.zeros(3, d)
    assert columns.middle_mean(x, 1, 2)[1]
    assert columns._is_clean_torch(x)
    x[1, d - 1] = bad
    assert not columns.middle_mean(x, 1, 2)[1]
    assert not columns.mean_around_median(x, 2)[1]
    assert not columns._is_clean_torch(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "low", "high"), [(1, 0, 1), (5, 1, 4), (8, 3, 5), (17, 6, 11)])
def test_an_unrolled_network_gives_the_bits_of_the_one_that_is_not(
    n, low, high, dtype, monkeypatch
):
    x = torch.from_numpy(updates(n, 5000).astype(dtype))
    monkeypatch.setattr(columns, "UNROLL_AFTER", 10**12)
    plain, _ = columns.middle_mean(x, low, high)
    monkeypatch.setattr(columns, "UNROLL_AFTER", 0)
    unrolled, _ = columns.middle_mean(x, low, high)
    assert torch.equal(unrolled, plain)


LARGE = (columns.CHUNK - 1, columns.CHUNK, columns.CHUNK + 1, 2 * columns.CHUNK + 17)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", LARGE)
def test_many_coordinates_give_the_reference(d, dtype, always_unrolled):
    x = updates(5, d).astype(dtype)
    exact = x.astype(np.float64)
    tolerance = 1e-12 if dtype == np.float64 else 2e-6
    for rule, expected in (
        (CoordinateMedian(), np.median(exact, axis=0)),
        (TrimmedMean(), np.sort(exact, axis=0)[1:4].mean(axis=0)),
    ):
        np.testing.assert_allclose(rule(x, 1), expected, rtol=0, atol=tolerance)
    edges = np.r_[0:40, columns.CHUNK - 20 : min(columns.CHUNK + 20, d), d - 40 : d]
    around = MeaMed()(x, 1)[edges]
    np.testing.assert_allclose(around, reference.meamed(exact[:, edges], 1), atol=tolerance)


@pytest.mark.parametrize("n", [17, columns.UNROLL_ROWS + 1])
def test_many_coordinates_of_many_workers_give_the_reference(n, always_unrolled):
    x = updates(n, 100_003).astype(np.float32)
    expected = np.sort(x.astype(np.float64), axis=0)[6 : n - 6].mean(axis=0)
    np.testing.assert_allclose(TrimmedMean()(x, 6), expected, rtol=0, atol=2e-6)


def test_a_nan_among_many_coordinates_drops_its_worker():
    x = updates(6, 2 * columns.CHUNK + 5).astype(np.float32)
    broken = x.copy()
    broken[2, columns.CHUNK] = np.nan
    for rule in (TrimmedMean(), CoordinateMedian(), MeaMed()):
        np.testing.assert_array_equal(rule(broken, 2), rule(np.delete(x, 2, axis=0), 1))


def test_a_network_is_unrolled_once_enough_columns_were_asked_of_it(kernel_cache, monkeypatch):
    monkeypatch.setattr(columns, "UNROLL_AFTER", 2500)
    monkeypatch.setattr(columns, "_columns_asked", Counter())
    x = torch.from_numpy(updates(3, 1000))
    results = [CoordinateMedian()(x, 1) for _ in range(2)]
    assert not list(kernel_cache.glob("*.py"))
    results.append(CoordinateMedian()(x, 1))
    assert len(list(kernel_cache.glob("*.py"))) == 1
    assert all(torch.equal(result, results[0]) for result in results)


def test_a_generated_kernel_is_kept_on_disk_and_used_again(kernel_cache, always_unrolled):
    x = torch.from_numpy(updates(3, 2000))
    first = CoordinateMedian()(x, 1)
    (path,) = kernel_cache.glob("ranks_3_1_2_*.py")
    compiled = list(kernel_cache.rglob("*.nbi"))
    assert compiled
    times = [(p, p.stat().st_mtime_ns) for p in (path, *compiled)]

    columns.unrolled_kernel.cache_clear()
    assert torch.equal(CoordinateMedian()(x, 1), first)
    kernel = columns.unrolled_kernel(3, 1, 2, keep_equal=True)
    assert sum(kernel.stats.cache_hits.values()) == 1
    assert sum(kernel.stats.cache_misses.values()) == 0
    assert [(p, p.stat().st_mtime_ns) for p in (path, *compiled)] == times


def test_a_kernel_file_that_was_tampered_with_is_written_again(kernel_cache, always_unrolled):
    x = torch.from_numpy(updates(3, 2000))
    expected = CoordinateMedian()(x, 1)
    (path,) = kernel_cache.glob("ranks_3_1_2_*.py")
    for garbage in (b"raise SystemExit\n", b"\xff\xfe\x00"):
        path.write_bytes(garbage)
        columns.unrolled_kernel.cache_clear()
        assert torch.equal(CoordinateMedian()(x, 1), expected)


def test_no_unfinished_file_is_left_in_the_folder(kernel_cache, always_unrolled):
    columns.unrolled_kernel(2, 0, 1, keep_equal=True)
    assert not list(kernel_cache.glob("*.tmp"))


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path, monkeypatch, always_unrolled):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("WOLA_CACHE", str(blocked))
    columns.unrolled_kernel.cache_clear()
    x = updates(3, 2000)
    np.testing.assert_array_equal(CoordinateMedian()(x, 1), np.median(x, axis=0))
    columns.unrolled_kernel.cache_clear()
    assert blocked.read_text() == ""


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()

    def switch(threads):
        torch.set_num_threads(threads)

    yield switch
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    "rule",
    [TrimmedMean(), MeaMed(), MultiKrum(), GeometricMedian(), NNM() | TrimmedMean()],
    ids=str,
)
def test_two_threads_give_the_same_bits_as_one(rule, two_threads):
    x = torch.from_numpy(updates(5, 3 * columns.CHUNK + 11)).float()
    two_threads(1)
    one = rule(x, 1)
    two_threads(2)
    assert torch.equal(rule(x, 1), one)


def test_work_is_split_at_fixed_places_for_any_number_of_threads(two_threads):
    for threads in (1, 2, 3):
        two_threads(threads)
        bounds = columns.over_chunks(lambda s, e: (s, e), 2 * columns.CHUNK + 1)
        assert bounds == [
            (0, columns.CHUNK),
            (columns.CHUNK, 2 * columns.CHUNK),
            (2 * columns.CHUNK, 2 * columns.CHUNK + 1),
        ]
        assert columns.over_chunks(lambda s, e: (s, e), 0) == []


@pytest.mark.parametrize(("n", "copies", "base"), [(5, 1, 5), (9, 4, 6), (17, 6, 12)])
def test_mixtures_made_in_registers_are_the_mixtures(n, copies, base, kernel_cache, monkeypatch):
    x = torch.from_numpy(updates(base, 700))
    matrix = torch.rand(n - copies + 1, base, dtype=x.dtype, generator=torch.Generator())
    stored = columns.mixed_middle_mean(matrix, copies, x, 1, n - 1)
    monkeypatch.setattr(columns, "MIX_IN_REGISTERS", 1)
    kept = columns.mixed_middle_mean(matrix, copies, x, 1, n - 1)
    mixtures = (matrix @ x).numpy()
    whole = np.concatenate([mixtures, np.repeat(mixtures[-1:], copies - 1, axis=0)])
    expected = np.sort(whole, axis=0)[1 : n - 1].mean(axis=0)
    np.testing.assert_allclose(stored, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(kept, expected, rtol=0, atol=1e-12)
