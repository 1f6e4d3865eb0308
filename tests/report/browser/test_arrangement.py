"""Rows and columns of one's choice, the matrix of attacks, and the runs behind a number."""

from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.report.browser.conftest import Open
from tests.report.browser.store import keep
from tests.report.browser.test_browser_page import choose, on_iris
from tests.report.made_up import put_record, record_of
from wola.bench.store import Store
from wola.report import Runs, read_runs
from wola.report.page import write_page
from wola.training import PARTS, Scenario

SHORT = {"trimmed-mean": "CwTM", "multi-krum": "MKrum", "alie": "ALIE", "foe": "FOE"}


def shown(page: Any, table: str) -> dict[tuple[str, int], str]:
    """The texts of a table's cells, by the name of the row and the number of the column."""
    body = page.eval_on_selector_all(
        f"#{table} tbody tr",
        "all => all.map(row => [row.querySelector('th').textContent,"
        " [...row.querySelectorAll('td:not(.tool)')].map(cell => cell.dataset.text ?? '')])",
    )
    return {(name, place): text for name, texts in body for place, text in enumerate(texts)}


def arrange(page: Any, **boxes: str) -> None:
    for box, axis in boxes.items():
        page.select_option(f"#axis-{box}", axis)


def spread(values: pl.DataFrame) -> str:
    """Mean and deviation over seeds of the means of each seed."""
    seeds = values.group_by("seed").agg(pl.col("accuracy").mean())["accuracy"]
    return f"{seeds.mean():.1f} ({seeds.std():.1f})"


def test_rows_and_columns_can_be_any_axis(look: Open, address: str, runs: Runs) -> None:
    page = on_iris(look, address).page
    arrange(page, rows="aggregator", columns="attack", within="")
    table = runs.where(dataset=["iris"]).table
    assert page.locator("#measures label").all_inner_texts() == [
        "Accuracy",
        "At the end",
        "Balanced",
        "Macro-F1",
        "Worst class",
        "Dissimilarity",
        "Cosine",
    ]
    choose(page, "f", "6")
    assert shown(page, "overview") == {
        (SHORT[rule], place): spread(
            table.filter(aggregator=rule, attack=attack).filter(pl.col("byzantine") == 2)
        )
        for rule, (place, attack) in product(
            ("trimmed-mean", "multi-krum"), enumerate(("alie", "foe"))
        )
    }
    about = page.inner_text("#overview-about")
    assert "Over 4 strategies and 2 seeds" in about
    page.click("#usual-axes")
    assert page.locator("#overview tbody th").count() == 4


def test_a_row_that_lacks_runs_has_no_number_however_it_is_arranged(
    look: Open, address: str
) -> None:
    page = on_iris(look, address).page
    arrange(page, rows="loss", columns="f", within="")
    assert page.locator("#overview tbody th").all_inner_texts() == ["WoLA", "cross-entropy"]
    *whole, last = page.locator("#overview tbody td").all_inner_texts()
    assert last == "14/16"
    assert all("(" in text for text in whole)


def test_the_matrix_shows_which_attack_breaks_which_rule(
    look: Open, address: str, runs: Runs
) -> None:
    page = on_iris(look, address).page
    page.click("[id='column-0.3-2']")
    table = runs.where(dataset=["iris"], byzantine=[2]).table
    for across, names in (
        ("aggregator", {"trimmed-mean": "CwTM", "multi-krum": "MKrum"}),
        ("strategy", {"NNM": "NNM", "WoLA": "WoLA"}),
    ):
        page.check(f"#across-{across}", force=True)
        found = shown(page, "matrix")
        for (value, name), (place, attack) in product(names.items(), enumerate(("alie", "foe"))):
            cells = table.filter(pl.col(across) == value, attack=attack)
            assert found[name, place] == spread(cells)
    page.check("#across-aggregator", force=True)
    worst = page.eval_on_selector_all(
        "#matrix tbody tr",
        "all => all.map(row => [...row.querySelectorAll('td')].map(cell =>"
        " cell.classList.contains('worst')))",
    )
    assert worst == [[False, True], [True, False]]
    assert "Which attack breaks which rule" in page.inner_text("#matrix-title")
    shades = page.eval_on_selector_all("#matrix td", "all => all.map(one => one.classList[0])")
    assert {"h0", "h8"} <= set(shades)


def test_pressing_a_number_shows_its_runs(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.click("[id='column-0.3-2']")
    page.check("#across-aggregator", force=True)
    page.locator("#matrix tbody tr").nth(1).locator("button").first.click()
    assert page.locator("#runs tbody tr").count() == 8
    assert page.inner_text("#leave-cell") == "✕ only MKrum, ALIE, alpha = 0.3, f = 2"
    assert page.evaluate("document.activeElement.id") == "runs-title"
    page.click("#leave-cell")
    assert "63 runs" in page.inner_text("#runs-about")
    page.locator("#overview tbody button").first.click()
    assert page.locator("#runs tbody tr").count() == 8


def test_the_arrow_keys_walk_through_the_numbers(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    stops = "[...document.querySelectorAll('#matrix button')].filter(one => one.tabIndex === 0)"
    assert page.evaluate(f"{stops}.length") == 1
    page.evaluate(f"{stops}[0].focus()")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    place = "document.activeElement.closest('td').cellIndex"
    assert page.evaluate(place) == 2
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 2
    page.keyboard.press("Enter")
    page.wait_for_selector("#leave-cell")
    assert page.evaluate(f"{stops}.length") == 1


def test_runs_are_sorted_by_every_column_and_found_by_words(look: Open, address: str) -> None:
    page = on_iris(look, address).page

    def column(name: str) -> list[str]:
        heads = page.locator("#runs thead th").all_inner_texts()
        place = [head.split(" ")[0] for head in heads].index(name)
        cells = page.locator(f"#runs tbody tr td:nth-child({place + 1})")
        return [str(text) for text in cells.all_inner_texts()]

    def numbers(name: str) -> list[float]:
        return [float(text) for text in column(name) if text != "\N{EN DASH}"]

    page.click("#sort-accuracy")
    up = numbers("Accuracy")
    assert up == sorted(up)
    assert page.get_attribute("#runs th:has(#sort-accuracy)", "aria-sort") == "ascending"
    page.click("#sort-accuracy")
    assert numbers("Accuracy")[0] == max(numbers("Accuracy"))
    assert numbers("Accuracy") == sorted(numbers("Accuracy"), reverse=True)
    for head in page.locator("#runs thead button").all():
        head.click()
        assert page.locator("#runs tbody tr").count() > 0
    page.click("#sort-strategy")
    assert column("Strategy")[0] == "\N{EN DASH} (rule alone)"
    page.fill("#search", "mkrum FOE wola+nnm")
    assert page.locator("#runs tbody tr").count() == 4
    assert set(column("Attack")) == {"FOE"}
    page.fill("#search", "failed")
    assert column("Ending") == ["failed"]
    page.fill("#search", "no such words")
    assert "No run has these words." in page.inner_text("#runs")


def test_a_run_opens_with_what_its_model_gets_wrong(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.fill("#search", "mkrum")
    page.locator("[id^=run-]").first.click()
    page.wait_for_selector("#scenario .confusion")
    facts = page.eval_on_selector_all(
        "#scenario dt", "all => all.map(one => [one.textContent, one.nextSibling.textContent])"
    )
    told = dict(facts)
    assert told["Balanced"] == "58.33 %"
    # By the definition: F1 = 2 TP / (2 TP + FP + FN) of 8/9, 4/9 and 1/3.
    assert told["Macro-F1"] == f"{100 * (16 / 18 + 8 / 18 + 4 / 12) / 3:.2f} %"
    assert told["Worst class"] == "25.00 % (virginica)"
    cells = page.locator("#scenario .confusion tbody tr").nth(1).locator("td")
    assert cells.all_inner_texts() == ["25", "50", "25", "8"]
    for name in ("accuracy", "dissimilarity", "cosine"):
        assert page.locator(f"#run-chart-{name} .line").count() == 1
    assert page.locator("#run-weights .line").count() == 17
    assert page.inner_text("#command").startswith("wola train --dataset iris")


def test_a_run_that_failed_says_why(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.fill("#search", "failed")
    page.locator("[id^=run-]").first.click()
    page.wait_for_selector("#scenario dd:text-is('failed: no memory')")


def test_a_grid_over_rules_has_a_row_for_each(look: Open, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    rules = [
        *PARTS.kinds["aggregator"].names,
        *(f"centered-clipping(tau={t})" for t in range(2, 9)),
    ]
    for number, (rule, attack) in enumerate(product(rules, ("alie", "foe"))):
        record = record_of(dataset="iris", byzantine=2, aggregator=rule, attack=attack)
        put_record(store, record, accuracy=40.0 + number)
    page = look(write_page(read_runs(store), tmp_path / "page").as_uri()).page
    page.wait_for_selector("#chart-accuracy")
    assert page.locator("#overview tbody th").count() == len(rules) >= 20
    assert page.locator("#overview .beam").count() == len(rules)
    assert page.locator("#matrix tbody tr").count() == len(rules)
    assert page.input_value("#axis-rows") == "aggregator"
    assert "centered-clipping(tau=8) is most accurate" in page.inner_text("#sentence")


def test_settings_can_be_compared(look: Open, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    for batch, seed in product((16, 32), (1, 2)):
        keep(store, Scenario.paper("iris", batch=batch, seed=seed), accuracy=batch + seed)
    page = look(write_page(read_runs(store), tmp_path / "page").as_uri()).page
    page.wait_for_selector("#chart-accuracy")
    assert page.input_value("#axis-rows") == "batch"
    assert shown(page, "overview") == {("16", 0): "17.5 (0.7)", ("32", 0): "33.5 (0.7)"}
    assert "batch = 32 is most accurate" in page.inner_text("#sentence")


def test_one_run_is_a_page(look: Open, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    keep(store, Scenario.paper("iris", byzantine=2, aggregator="multi-krum"))
    page = look(write_page(read_runs(store), tmp_path / "page").as_uri()).page
    page.wait_for_selector("#weights .chart")
    assert page.locator("#overview tbody tr").count() == 1
    assert not page.is_visible("#matrix-section")
    assert page.inner_text("#headline") == ""


def test_a_run_that_ended_early_is_marked(look: Open, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    keep(store, Scenario.paper("iris", seed=1))
    keep(store, Scenario.paper("iris", seed=2), ending="diverged at step 3")
    page = look(write_page(read_runs(store), tmp_path / "page").as_uri()).page
    assert page.get_attribute("#overview sup[title]", "title") == "1 run ended early"
    assert page.inner_text("#runs td.early") == "diverged at step 3"


@pytest.mark.parametrize("lead", ["NNM", "WoLA"])
def test_the_headline_says_where_the_winner_does_not_win(
    look: Open, tmp_path: Path, lead: str
) -> None:
    store = Store.open(tmp_path / "store")
    for alpha, f, strategy, attack in product((1.0, 0.3), (2, 6), ("NNM", "WoLA"), ("alie", "foe")):
        ahead = (strategy == lead) == ((alpha, f) != (0.3, 6))
        hit = 20.0 * (attack == "foe" and strategy == lead and (alpha, f) == (1.0, 2))
        keep(
            store,
            Scenario.paper("iris", strategy=strategy, alpha=alpha, byzantine=f, attack=attack),
            accuracy=50.0 + 15.0 * ahead - hit,
        )
    page = look(write_page(read_runs(store), tmp_path / "page").as_uri()).page
    other = {"NNM": "WoLA", "WoLA": "NNM"}[lead]
    assert page.inner_text("#headline") == (
        f"{lead} is first most often. In mean accuracy it is first in 3 of 4 columns: at "
        f"alpha = 1 (every f) and alpha = 0.3 (f = 2); not at alpha = 0.3, f = 6 ({other}, +15.0). "
        f"In the worst case it is first in 2 of 4 columns: at alpha = 1 (f = 6) and "
        f"alpha = 0.3 (f = 2); not at alpha = 1, f = 2 ({other}, +5.0) and alpha = 0.3, f = 6 "
        f"({other}, +15.0)."
    )
