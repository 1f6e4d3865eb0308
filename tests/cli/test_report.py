import csv
import io
from itertools import product
from pathlib import Path

import pytest
from PIL import Image

from tests.bench.made_up import put
from tests.cli.conftest import Wola
from wola.bench.store import Store
from wola.training import STRATEGIES, Scenario


@pytest.fixture
def store(wola: Wola) -> Store:
    made = Store.open("store")
    fill(made)
    return made


def fill(store: Store, *, more: float = 0.0, **changes: object) -> None:
    """Two strategies, rules, attacks and seeds on iris; WoLA is 10 points better."""
    for strategy, rule, attack, seed in product(
        ("-", "WoLA"), ("median", "trimmed-mean"), ("alie", "sf"), (1, 2)
    ):
        fields = {"aggregator": rule, "attack": attack, "seed": seed, "byzantine": 4, **changes}
        scenario = Scenario.paper("iris", strategy=strategy, **fields)
        put(store, scenario, accuracy=50.0 + 10 * (strategy == "WoLA") + seed + more)


def test_tables_are_shown_with_what_one_sees(wola: Wola, store: Store) -> None:
    shown = wola("report")
    assert shown.exit_code == 0
    for words in (
        "iris: accuracy in %",
        "61.5 (0.7)¹",
        "+10.0",
        "over 2 seeds (1, 2)",
        "WoLA is first in 1 of the 1 columns",
        "worst case",
    ):
        assert words in shown.output
    assert not Path("report").exists()


def test_cells_that_lack_runs_are_counted(wola: Wola, store: Store) -> None:
    store.remove(next(iter(store.keys())))
    assert "7/8" in wola("report").output
    assert "[7/8]" in wola("report", "--partial").output


def test_what_is_out_of_line_with_the_runs_is_told(wola: Wola, store: Store) -> None:
    lost = Scenario.paper("iris", strategy="NNM", byzantine=4)
    store.fail(store.key(lost), lost, "MemoryError")
    shown = wola("report")
    assert "1 run failed" in shown.output
    assert "0/8" in shown.output


def test_runs_can_be_narrowed_by_any_field(wola: Wola, store: Store) -> None:
    shown = wola("report", "--attack", "sf", "--strategy", "wola", "--tables", "accuracy")
    assert "the attacks SF" in shown.output
    assert "ALIE" not in shown.output


def test_several_stores_are_one_report(wola: Wola, store: Store) -> None:
    fill(Store.open("more"), alpha=1.0)
    shown = wola("report", "store", "more", "--tables", "accuracy")
    assert "alpha = 0.3" in shown.output
    assert "alpha = 1" in shown.output


def test_a_form_is_printed_if_there_is_no_folder_to_write_to(wola: Wola, store: Store) -> None:
    shown = wola("report", "--form", "csv", "--tables", "accuracy")
    rows = list(csv.DictReader(io.StringIO(shown.output.strip())))
    assert [(row["strategy"], row["mean"]) for row in rows] == [("-", "51.5"), ("WoLA", "61.5")]


def test_a_folder_gets_tables_in_every_form(wola: Wola, store: Store) -> None:
    shown = wola("report", "--out", "report", "--no-figures", "--no-page")
    assert shown.exit_code == 0
    names = {path.name for path in Path("report/tables").iterdir()}
    kinds = (
        "accuracy",
        "worst",
        "gain",
        "dissimilarity",
        "matrix-rule",
        "matrix-strategy",
        "differences",
        "full-alpha-0.3",
    )
    assert names == {
        *(f"{kind}-iris.{form}" for kind in kinds for form in ("md", "csv", "tex", "html")),
        *(f"all.{form}" for form in ("md", "tex", "html")),
    }
    assert f"{len(names)} files" in shown.output
    assert {path.name for path in Path("report").iterdir()} == {"tables"}


def test_a_folder_gets_only_what_is_asked_for(wola: Wola, store: Store) -> None:
    words = ("--tables", "worst, gain", "--form", "csv", "--no-figures", "--no-page")
    wola("report", "--out", "report", *words)
    names = {path.name for path in Path("report/tables").iterdir()}
    assert names == {"worst-iris.csv", "gain-iris.csv"}


def test_a_folder_gets_figures_and_the_page(
    wola: Wola, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wola.report import figures, page
    from wola.report.figures import Drawn, Undrawn

    undrawn = [Undrawn("iris", "there are no such runs")]
    monkeypatch.setattr(
        figures, "draw_all", lambda runs, folder, style: Drawn([folder / "gains.pdf"], undrawn)
    )
    monkeypatch.setattr(page, "write_page", lambda runs, out: out / "index.html")
    shown = wola("report", "--out", "report", "--form", "md")
    assert "figures: 1 files in report/figures" in shown.output
    assert "not drawn: iris: there are no such runs" in shown.output
    assert "page: report/index.html" in shown.output


def test_figures_are_drawn_in_the_style_asked_for(wola: Wola, store: Store) -> None:
    words = ("--out", "report", "--form", "md", "--no-page", "--style", "paper(width=4)")
    assert wola("report", *words).exit_code == 0
    pictures = list(Path("report/figures").glob("*.png"))
    assert pictures
    for path in pictures:
        assert path.with_suffix(".pdf").exists()
        with Image.open(path) as picture:
            assert picture.width == 4 * 300


def test_a_style_that_is_none_is_refused_before_anything_is_written(
    wola: Wola, store: Store
) -> None:
    shown = wola("report", "--out", "report", "--style", "papper")
    assert shown.exit_code == 2
    assert (
        "--style = 'papper'; did you mean 'paper'? allowed: screen, paper, slides" in shown.output
    )
    assert not Path("report").exists()


def test_two_stores_are_compared_with_a_test(wola: Wola, store: Store) -> None:
    fill(Store.open("other"), more=1.0)
    shown = wola("report", "--against", "other", "--tables", "accuracy")
    assert shown.exit_code == 0
    assert "51.5 - 52.5 = -1.0" in shown.output
    assert "not below 0.5" in shown.output
    assert "against other" in shown.output


def test_runs_are_compared_with_the_paper(wola: Wola) -> None:
    made = Store.open("store")
    for name in STRATEGIES:
        put(made, Scenario.paper("fashion-mnist", strategy=name, alpha=0.3, byzantine=6))
    shown = wola("report", "--against-paper", "--partial")
    assert shown.exit_code == 0
    assert "against the paper" in shown.output
    assert "50.0[1/20] - 73.9 = -23.9" in shown.output


def test_rows_columns_and_metric_are_ones_choice(wola: Wola, store: Store) -> None:
    words = ("--rows", "aggregator", "--columns", "attack,seed", "--metric", "final-accuracy")
    shown = wola("report", *words)
    assert shown.exit_code == 0
    assert "iris: final accuracy in %, alpha = 0.3, f = 4, averaged over 2 strategies" in (
        shown.output
    )
    assert "seed = 2" in shown.output
    assert "gain" not in shown.output


def test_a_metric_has_its_tables_of_averages_worst_cases_and_gains(
    wola: Wola, store: Store
) -> None:
    shown = wola("report", "--metric", "final-accuracy")
    for words in ("final accuracy in %,", "worst case", "final accuracy gain in points"):
        assert words in shown.output
    assert "dissimilarity" not in shown.output


def test_a_baseline_shows_differences_with_intervals(wola: Wola, store: Store) -> None:
    shown = wola("report", "--baseline", "WoLA")
    assert "accuracy in %, difference to WoLA" in shown.output
    assert "-10.0 [-10.0, -10.0] worse" in shown.output


def test_a_matrix_says_which_attack_breaks_which_rule(wola: Wola, store: Store) -> None:
    shown = wola("report", "--tables", "matrix")
    assert "which attack breaks which rule" in shown.output
    assert "The worst attack is ALIE and SF for CWMed (51.5)" in shown.output


def test_a_store_without_the_papers_cells_has_its_tables_and_says_what_is_missing(
    wola: Wola, store: Store
) -> None:
    shown = wola("report", "--against-paper")
    assert shown.exit_code == 0
    assert "61.5 (0.7)" in shown.output
    assert "against the paper: Fashion MNIST, accuracy: 96 of 96 cells lack runs" in shown.output
