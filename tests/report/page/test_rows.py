from itertools import product

from tests.report.invented import invented, scattered
from wola.report.page.rows import FIELDS, all_runs, details, names, rows
from wola.training import STRATEGIES, Scenario


def test_a_row_has_a_value_for_every_field() -> None:
    runs = invented(scattered, failed=lambda place: place["seed"] == 3)
    made = [dict(zip(FIELDS, row, strict=True)) for row in rows(all_runs(runs))]
    assert len(made) == len(runs.table) + len(runs.failed)
    for row in made:
        assert len(row["key"]) == 16
        assert (row["accuracy"] is None) == (row["ending"] == "failed") == (row["seed"] == 3)
        wanted = {k: v for k, v in STRATEGIES[row["strategy"]].items() if v != STRATEGIES["-"][k]}
        assert row["more"] == wanted


def test_every_value_that_can_stand_in_a_table_has_an_order_and_a_line() -> None:
    made = names(invented(scattered))
    for axis, value in product(("aggregator", "attack"), ("median", "alie")):
        if value in made["orders"][axis]:
            assert made["titles"][value]
            assert made["glossary"]["values"][axis][value]
    assert set(made["glossary"]["values"]["strategy"]) >= {"-", "NNM", "WoLA", "WoLA+NNM"}
    assert made["usual"]["digits"]["mixing"] == "none"
    assert "batch" in made["settingFields"]
    assert "alpha" not in made["settingFields"]


def test_details_say_whose_result_is_shown_and_why_a_run_failed() -> None:
    row = {**Scenario.paper("iris").model_dump(), "key": "a" * 64, "run": "b" * 64}
    made = details(row, {"accuracy": [[1], [50.0]]}, "no memory")
    assert made == {
        "command": "wola train --dataset iris",
        "answered": "b" * 16,
        "reason": "no memory",
        "accuracy": [[1], [50.0]],
    }
    assert set(details({**row, "run": row["key"]}, {})) == {"command"}
