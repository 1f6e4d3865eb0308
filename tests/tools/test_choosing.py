"""docs/choosing.md is what the results say, in its numbers and in its words."""

import polars as pl
import pytest

from tools import choosing

STRATEGIES = choosing.by_strategy()


def test_the_page_is_what_the_results_give():
    text = choosing.PAGE.read_text(encoding="utf-8")
    assert choosing.page() == text, "docs/choosing.md is not what results/ say: make choosing"
    assert "[[" not in text


def runs(**changed: object) -> pl.DataFrame:
    """A run for each of two attacks and two seeds, as an export has them."""
    accuracies = {("sf", 1): 10.0, ("sf", 2): 20.0, ("alie", 1): 70.0, ("alie", 2): 80.0}
    base = {"alpha": 1.0, "byzantine": 4, "strategy": "NNM", "aggregator": "median"}
    return pl.DataFrame(
        [
            {**base, "attack": attack, "seed": seed, "accuracy": accuracy, **changed}
            for (attack, seed), accuracy in accuracies.items()
        ]
    )


def test_a_mean_is_over_attacks_and_a_worst_case_is_one_attack_for_all_seeds(monkeypatch):
    better = runs(aggregator="trimmed-mean").with_columns(pl.col("accuracy") + 10)
    monkeypatch.setattr(choosing, "digits", lambda: choosing._seeds(pl.concat([runs(), better])))
    (row,) = choosing.by_strategy().iter_rows(named=True)
    assert row["mean"] == pytest.approx((45 + 55) / 2)
    assert row["worst"] == pytest.approx((15 + 25) / 2)


def test_rules_that_lack_an_attack_are_left_out_and_searches_count_where_all_were_run(monkeypatch):
    whole, part = runs(), runs(aggregator="part").filter(pl.col("attack") == "sf")
    searched = pl.concat(
        [runs(aggregator="searched")]
        + [runs(aggregator="searched", attack=attack, accuracy=5.0) for attack in choosing.SEARCHES]
    )
    found = choosing._seeds(pl.concat([whole, part, searched]))
    monkeypatch.setattr(choosing, "extended", lambda: found)
    rows = {row["aggregator"]: row for row in choosing.by_rule(1.0, 4).iter_rows(named=True)}
    assert set(rows) == {"median", "searched"}
    assert rows["median"]["searched"] is None
    assert rows["searched"]["searched"] == 5.0
    assert rows["searched"]["worst"] == rows["median"]["worst"] == 15.0
    assert rows["median"]["seeds"] == 2


def value(alpha: float, f: int, strategy: str, which: str) -> float:
    found = STRATEGIES.filter(alpha=alpha, byzantine=f, strategy=strategy)
    return float(found[which].item())


def test_few_liars_and_strong_skew_are_where_wola_costs_more_than_it_gains():
    assert value(0.3, 2, "NNM", "mean") > value(0.3, 2, "WoLA+NNM", "mean") + 2
    assert value(0.3, 4, "NNM", "mean") > value(0.3, 4, "WoLA+NNM", "mean")
    assert value(0.3, 4, "NNM", "worst") < value(0.3, 4, "WoLA+NNM", "worst")
    assert abs(value(1.0, 2, "NNM", "mean") - value(1.0, 2, "WoLA+NNM", "mean")) < 2


def test_with_many_liars_wola_before_nnm_is_the_best_of_the_papers_strategies():
    for alpha in (1.0, 3.0):
        for f in (6, 8):
            place = STRATEGIES.filter(alpha=alpha, byzantine=f)
            for which in ("mean", "worst"):
                assert place.sort(which)["strategy"][-1] == "WoLA+NNM"


def test_no_strategy_of_the_papers_withstands_eight_liars_of_seventeen_at_strong_skew():
    worst = STRATEGIES.filter(alpha=0.3, byzantine=8).sort("worst")
    assert worst["strategy"][-1] == "WoLA-dagger"
    assert worst["worst"][-1] < 30


def test_a_rule_alone_is_best_nowhere():
    tables = choosing.TABLES["places"]() + choosing.TABLES["combinations"]()
    assert "| - " not in tables
    assert "| -, " not in tables


def test_what_is_recommended_beyond_the_paper_is_best_under_its_worst_attack():
    found = choosing.by_rule(0.3, 6).filter(pl.col("searched").is_not_null())
    best = found.sort("searched").row(-1, named=True)
    assert best["strategy"] == "WoLA-shift+angle"
    knowing = found.filter(~pl.col("strategy").str.contains("NNM|angle"))
    assert knowing.sort("searched").row(-1, named=True)["aggregator"] in {
        "fltrust",
        "bygars(length=server)",
    }
    assert found.filter(aggregator="fltrust", strategy="WoLA")["mean"].item() < found["mean"].max()


def test_a_number_that_was_never_measured_is_an_error():
    with pytest.raises(ValueError, match="item"):
        choosing._filled("digits", "0.3 3 NNM mean")
    with pytest.raises(KeyError):
        choosing._filled("table", "of contents")
