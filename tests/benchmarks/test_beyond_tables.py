import polars as pl
import pytest

from benchmarks.beyond_tables import cells_of, common_seeds, named_rows, wide_table

COLUMN = (0.3, 8)


def runs(strategy: str, seed: int, *accuracies: float | None, alpha: float = 0.3) -> pl.DataFrame:
    """Runs of a strategy with the trimmed mean, an attack for each accuracy; None: not there."""
    return pl.DataFrame(
        [
            {
                "alpha": alpha,
                "byzantine": 8,
                "aggregator": "trimmed-mean",
                "attack": f"attack {k}",
                "strategy": strategy,
                "row": strategy,
                "seed": seed,
                "accuracy": accuracy,
                "final_accuracy": None if accuracy is None else accuracy + 1,
                "ending": None if accuracy is None else "finished",
            }
            for k, accuracy in enumerate(accuracies)
        ],
        schema_overrides={"accuracy": pl.Float64, "final_accuracy": pl.Float64, "ending": pl.Utf8},
    )


def test_a_number_is_made_of_means_over_seeds_for_each_rule_and_attack() -> None:
    asked = pl.concat([runs("-", 1, 50.0, 90.0), runs("-", 2, 70.0, 30.0)])
    cells = cells_of(asked, ["-"])
    # 60 under each attack: the lowest of all runs, 30, is no mean.
    assert cells.numbers["-", COLUMN] == {"mean": 60.0, "worst": 60.0, "final": 61.0}
    assert cells.seeds == {COLUMN: [1, 2]}


def test_the_best_rule_is_chosen_for_each_number() -> None:
    other = runs("-", 1, 75.0, 80.0).with_columns(aggregator=pl.lit("median"))
    cells = cells_of(pl.concat([runs("-", 1, 70.0, 90.0), other]), ["-"], best_rule=True)
    # The trimmed mean has the higher mean, 80, the median the higher worst, 75.
    assert cells.numbers["-", COLUMN] == {"mean": 80.0, "worst": 75.0, "final": 81.0}


def test_only_seeds_that_all_leading_rows_have_whole_are_counted() -> None:
    asked = pl.concat(
        [
            runs("-", 1, 50.0, 60.0),
            runs("-", 2, 10.0, 10.0),
            runs("NNM", 1, 80.0, 90.0),
            runs("NNM", 2, 80.0, None),
        ]
    )
    assert common_seeds(asked, ["-", "NNM"]) == [1]
    assert common_seeds(asked, ["-"]) == [1, 2]
    assert cells_of(asked, ["-", "NNM"]).numbers["-", COLUMN]["mean"] == 55.0


def test_a_column_without_a_seed_in_common_is_left_out_and_others_stay() -> None:
    asked = pl.concat(
        [
            runs("-", 1, 50.0),
            runs("NNM", 1, None),
            runs("-", 1, 60.0, alpha=3.0),
            runs("NNM", 1, 70.0, alpha=3.0),
        ]
    )
    assert cells_of(asked, ["-", "NNM"]).columns == [(3.0, 8)]


def test_a_table_marks_the_best_and_dashes_what_lacks_a_seed() -> None:
    asked = pl.concat(
        [
            runs("-", 1, 50.0),
            runs("-", 2, 60.0),
            runs("Rival", 1, 99.0),
            runs("Rival", 2, None),
            runs("Other", 1, 70.0),
            runs("Other", 2, 80.0),
            runs("-", 3, 20.0, alpha=1.0),
            runs("Rival", 3, 10.0, alpha=1.0),
        ]
    )
    assert wide_table(cells_of(asked, ["-"]), "mean").splitlines() == [
        "| strategy | 1/8 | 0.3/8 |",
        "|---|---|---|",
        "| - | **20.0** | 55.0 |",
        "| Other | - | **75.0** |",
        "| Rival | 10.0 | - |",
        "| seeds | 3 | 1, 2 |",
    ]


def test_a_table_of_nothing_says_so() -> None:
    assert wide_table(cells_of(runs("-", 1, None), ["-"]), "mean") == "No column is done yet."


@pytest.mark.parametrize(
    ("aggregator", "row"),
    [("median", "WoLA-shift"), ("soft-set-hull", "WoLA-shift, soft-set-hull")],
)
def test_a_rule_that_replaces_mixing_and_rule_has_a_row_of_its_own(
    aggregator: str, row: str
) -> None:
    asked = runs("WoLA-shift", 1, 1.0).with_columns(aggregator=pl.lit(aggregator))
    assert named_rows(asked)["row"].to_list() == [row]
