"""Comparisons in three lines: the numbers are those of the runs, wherever they were done."""

from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot
import pytest

from tests.report.figures.made_up import panels
from wola.aggregation import Krum, TrimmedMean
from wola.attacks import SignFlip
from wola.bench.grid import GridError
from wola.bench.marker import StoreError
from wola.bench.store import Store
from wola.data import Dataset
from wola.labels.losses import WoLA
from wola.report import Comparison, compare
from wola.report.figure_style import Paper
from wola.training import Scenario, simulate

SMALL = {"steps": 4, "evaluate_every": 2, "batch": 8, "progress": False, "processes": 2}


@dataclass(frozen=True)
class HereAlone(TrimmedMean):
    """A rule of a module that other processes could import, if it were not hidden below."""


HereAlone.__module__ = "__main__"


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Two strategies, two rules (one of them an object), two attacks, two seeds of iris."""
    return compare(
        ["-", "WoLA"], ["median", Krum(power=1)], [SignFlip(), "foe"], "iris", (1, 2), **SMALL
    )


def test_every_number_is_that_of_its_own_run(found: Comparison) -> None:
    frame = found.frame()
    assert len(frame) == 16
    for row in frame.sample(3, seed=1).iter_rows(named=True):
        fields = {name: row[name] for name in ("aggregator", "attack", "seed")}
        steps = {name: SMALL[name] for name in ("steps", "evaluate_every", "batch")}
        same = simulate(Scenario.paper("iris", strategy=row["strategy"], **fields, **steps))
        assert row["accuracy"] == same.accuracy
        assert row["worst_class"] == min(same.summary()["class_accuracies"])


def test_a_comparison_is_told_in_three_lines(found: Comparison) -> None:
    lines = repr(found).splitlines()
    assert len(lines) == 3
    assert lines[0] == (
        "Comparison on iris: 2 strategies, 2 aggregators, 2 attacks, 2 seeds; 16 done"
    )
    assert lines[1].startswith("  best in the worst case: ")


def test_the_table_has_a_board_per_rule_and_one_over_all(found: Comparison) -> None:
    text = found.table()
    heads = [line for line in text.splitlines() if line.startswith("iris: ")]
    assert [head.split("%, ")[1].split(" (")[0] for head in heads] == ["CWMed", "Krum", "all rules"]
    assert max(map(len, text.splitlines())) <= 100
    assert found._repr_html_().count("<table>") == 3


def test_a_plot_has_a_panel_per_rule_and_leaves_pyplot_alone(found: Comparison) -> None:
    before = matplotlib.pyplot.get_fignums()
    figure = found.plot()
    assert [axes.get_title() for axes in panels(figure)] == ["CWMed", "Krum"]
    assert [label.get_text() for label in panels(figure)[0].get_xticklabels()] == ["FOE", "SF"]
    assert matplotlib.pyplot.get_fignums() == before


def test_a_plot_takes_a_style_by_text_or_by_value(found: Comparison) -> None:
    for style in ("paper(width=6.9)", Paper(width=6.9)):
        assert found.plot(style=style).get_size_inches()[0] == pytest.approx(6.9)
    with pytest.raises(ValueError, match="style = 'papper'; did you mean 'paper'"):
        found.plot(style="papper")


def test_a_temporary_store_goes_with_its_runs() -> None:
    made = compare("-", "median", "sf", "iris", **SMALL)
    folder = made.runs.stores[0].path
    assert folder.is_dir()
    del made
    assert not folder.exists()


def test_a_store_keeps_the_runs_and_shows_only_what_was_asked_for(tmp_path: Path) -> None:
    first = compare(["-", "WoLA"], "median", "sf", "iris", store=tmp_path / "runs", **SMALL)
    assert len(list(Store.open(tmp_path / "runs").keys())) == 2
    again = compare("WoLA", "median", "sf", "iris", store=tmp_path / "runs", **SMALL)
    assert again.frame().equals(first.frame().filter(strategy="WoLA"))


def test_a_run_that_another_one_answers_stands_under_the_name_that_was_asked_for() -> None:
    made = compare("-", "trimmed-mean", "sf", "iris", workers=5, byzantine=2, **SMALL)
    assert made.frame()["aggregator"].to_list() == ["trimmed-mean"]


def test_strategies_of_ones_own_stand_beside_the_papers() -> None:
    mine = {"WoLA": {}, "Slow": {"loss": WoLA(), "lr": 0.1}, "Half": {"aggregator": "krum"}}
    made = compare(mine, attacks=["sf", "foe"], dataset="iris", **SMALL)
    (table,) = made.tables()[-1:]
    assert list(table.blocks[0].rows) == ["WoLA", "Half", "Slow"]
    assert all(not cell.missing for row in table.blocks[0].rows.values() for cell in row)


def test_a_dataset_is_kept_in_the_store_and_gives_the_same_numbers(tmp_path: Path) -> None:
    rows = [[float(i % 3), float(i % 5)] for i in range(60)]
    data = Dataset.from_arrays(rows, [i % 3 for i in range(60)], name="mine")
    fields = {"steps": 4, "evaluate_every": 2, "batch": 8, "workers": 5, "byzantine": 1}
    given = {"processes": 1, "progress": False, **fields}
    made = compare("WoLA", "median", "sf", data, store=tmp_path / "runs", **given)
    (row,) = made.frame().iter_rows(named=True)
    (file,) = (tmp_path / "runs" / "data").glob("*/*")
    assert row["dataset"] == f"npz(path={file})"
    assert made.tables()[0].title.startswith("mine.npz: ")
    data.save(tmp_path / "mine.npz")
    scenario = Scenario.paper(
        f"npz({tmp_path}/mine.npz)", strategy="WoLA", aggregator="median", attack="sf", **fields
    )
    assert row["accuracy"] == simulate(scenario).accuracy
    assert compare("WoLA", HereAlone(), "sf", data, **given).runs.stores == ()


def test_a_dataset_whose_samples_have_owners_is_divided_among_them() -> None:
    clients = [f"site {i % 4}" for i in range(80)]
    rows = [[float(i % 3), float(i % 5)] for i in range(80)]
    data = Dataset.from_arrays(rows, [i % 3 for i in range(80)], clients=clients)
    made = compare("-", "median", "sf", data, byzantine=1, **SMALL)
    assert made.runs.table.select("partition", "workers").rows() == [("clients", 4)]


def test_parts_of_this_process_alone_run_here_and_in_no_store(tmp_path: Path) -> None:
    here = compare(["-", "WoLA"], [HereAlone(), "trimmed-mean"], "sf", "iris", **SMALL)
    assert here.runs.stores == ()
    means = here.frame().partition_by("aggregator", maintain_order=True)
    assert means[0]["accuracy"].to_list() == means[1]["accuracy"].to_list()
    assert "HereAlone" in here.table()
    assert len(panels(here.plot())) == 2
    with pytest.raises(StoreError, match="defined in this process alone"):
        compare("-", HereAlone(), "sf", "iris", store=tmp_path / "runs", **SMALL)


def test_progress_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    compare("-", HereAlone(), "sf", "iris", **{**SMALL, "progress": True})
    told = capsys.readouterr()
    assert told.out == ""
    assert "iris" in told.err


def test_what_cannot_be_compared_is_said_at_once() -> None:
    with pytest.raises(GridError, match=r"strategy = 'WoLo'; did you mean"):
        compare("WoLo", dataset="iris", **SMALL)
    with pytest.raises(GridError, match="one of the paper's"):
        compare({"WoLA": {"lr": 0.5}}, dataset="iris", **SMALL)
