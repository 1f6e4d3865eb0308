from pathlib import Path

import pytest

from wola.bench.grid import Grid, GridError
from wola.training import STRATEGIES, Scenario


def test_every_combination_is_a_run_and_the_last_axis_moves_fastest() -> None:
    grid = Grid({"dataset": "digits"}, {"alpha": [3, 0.3], "seed": [1, 2]})
    assert [(s.alpha, s.seed) for s in grid.scenarios()] == [(3, 1), (3, 2), (0.3, 1), (0.3, 2)]


def test_fields_left_out_are_the_papers_for_each_dataset() -> None:
    grid = Grid({}, {"dataset": ["mnist", "cifar10"], "strategy": ["WoLA"]})
    expected = [Scenario.paper(name, strategy="WoLA") for name in ("mnist", "cifar10")]
    assert grid.scenarios() == expected
    assert [s.beta for s in grid.scenarios()] == [0.9, 0.99]


def test_a_whole_scenario_as_base_keeps_all_its_fields() -> None:
    base = Scenario.paper("cifar10", lr=0.5)
    made = Grid(base, {"dataset": ["mnist"], "strategy": ["NNM"]}).scenarios()
    assert made == [base.with_strategy("NNM").changed(dataset="mnist")]


def test_a_grid_without_axes_is_its_base() -> None:
    assert Grid(Scenario()).scenarios() == [Scenario()]
    assert Grid({"dataset": "digits"}).scenarios() == [Scenario.paper("digits")]


def test_conditions_and_tables_leave_runs_out() -> None:
    axes = {"byzantine": [2, 6], "attack": ["alie", "foe", "sf"]}
    whole = Grid({}, axes, where=(lambda s: s.attack != "sf",))
    assert len(whole.scenarios()) == 4
    cut = Grid({}, axes, without=({"byzantine": 6, "attack": ["foe", "sf"]}, {"attack": "alie"}))
    assert [(s.byzantine, s.attack) for s in cut.scenarios()] == [(2, "foe"), (2, "sf")]


def test_filters_know_strategies() -> None:
    grid = Grid({}, {"strategy": list(STRATEGIES)}, without=({"strategy": ["bkt", "NNM"]},))
    assert {s.strategy for s in grid.scenarios()} == set(STRATEGIES) - {"BKT", "NNM"}


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"alhpa": [1]}, r"alhpa cannot be an axis; did you mean 'alpha'\?"),
        ({"strategy": ["WOLLA"]}, r"strategy = 'WOLLA'; did you mean 'wola'\?"),
        ({"aggregator": ["trimed-mean"]}, "aggregator = 'trimed-mean'; did you mean"),
        ({"loss": ["wolla"]}, r"loss = 'wolla'; did you mean 'wola'\?"),
        ({"alpha": ["much"]}, "alpha = 'much'; allowed: a valid number"),
        ({"alpha": [-1.0]}, "alpha = -1.0; allowed: greater than 0"),
        ({"byzantine": [9]}, "byzantine = 9; allowed with workers = 17: 0 to 8"),
        ({"seed": []}, r"seed = \[\]; allowed: at least one value"),
        ({"seed": [1, "1"]}, "seed = 1 stands on the axis twice"),
        ({"strategy": ["WoLA"], "mixing": ["nnm"]}, "mixing is set by strategy 'WoLA' as well"),
    ],
)
def test_a_wrong_axis_is_named_with_what_is_allowed(
    axes: dict[str, list[object]], message: str
) -> None:
    with pytest.raises(GridError, match=message):
        Grid({}, axes).scenarios()


def test_a_grid_that_its_filters_empty_is_refused() -> None:
    with pytest.raises(GridError, match="the grid is empty"):
        Grid({}, {"seed": [1]}, where=(lambda s: False,)).scenarios()


def test_a_cut_takes_texts_and_keeps_the_axis_order() -> None:
    grid = Grid({}, {"alpha": [3, 1, 0.3], "strategy": ["-", "WoLA"], "seed": [1, 2, 3]})
    cut = grid.cut(alpha="0.3", strategy="wola", seed=["3", "1"])
    assert [(s.alpha, s.strategy, s.seed) for s in cut.scenarios()] == [
        (0.3, "WoLA", 1),
        (0.3, "WoLA", 3),
    ]


def test_a_cut_never_adds_a_run() -> None:
    grid = Grid({}, {"dataset": ["mnist", "fashion-mnist"]})
    with pytest.raises(GridError, match=r"dataset = 'digits' is not on the axis; .*allowed: mnist"):
        grid.cut(dataset="digits")
    with pytest.raises(GridError, match=r"alpha is no axis of this grid; allowed: dataset"):
        grid.cut(alpha=1)
    with pytest.raises(GridError, match=r"dataset = 'fashon-mnist' is not .* 'fashion-mnist'"):
        grid.cut(dataset="fashon-mnist")


@pytest.mark.parametrize("base", [{"dataset": "digits"}, Scenario.paper("digits")])
def test_fields_that_are_no_axis_can_be_changed(base: Scenario | dict[str, object]) -> None:
    grid = Grid(base, {"seed": [1, 2]})
    assert {s.steps for s in grid.changed(steps=7).scenarios()} == {7}
    with pytest.raises(GridError, match="seed = 3; allowed: a field that is no axis"):
        grid.changed(seed=3)
    with pytest.raises(GridError, match="stpes"):
        grid.changed(stpes=3).scenarios()


def test_a_grid_from_toml_is_the_one_from_python(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(
        "gpus = 0.25\n[base]\ndataset = 'digits'\nsteps = 9\n"
        "[axes]\nstrategy = ['-', 'WoLA']\nbyzantine = [2, 4]\nseed = 3\n"
        "[[without]]\nstrategy = '-'\nbyzantine = 4\n",
        encoding="utf-8",
    )
    grid = Grid.from_toml(file)
    same = Grid(
        {"dataset": "digits", "steps": 9},
        {"strategy": ["-", "WoLA"], "byzantine": [2, 4], "seed": [3]},
        without=({"strategy": "-", "byzantine": 4},),
        gpus=0.25,
    )
    assert grid == same
    assert len(grid.scenarios()) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[axis]\nseed = [1]", r"axis is no part of a grid; did you mean 'axes'\?"),
        ("axes = 3", r"axes = 3; allowed: a table \[axes\]"),
        ("without = 3", r"without = 3; allowed: \[\[without\]\] tables"),
        ("[axes]\nsed = [1]", "sed cannot be an axis; did you mean 'seed'"),
        ("gpus = -1", "gpus = -1; allowed: a number >= 0"),
        ("[base]\nstesp = 1", "stesp cannot be a field of the base; did you mean 'steps'"),
        ("[[without]]\nsed = 1", "sed cannot be filtered on"),
        ("=", "cannot be read as a grid"),
    ],
)
def test_a_wrong_toml_names_the_file_and_the_fault(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(GridError, match=message) as caught:
        Grid.from_toml(file)
    assert "grid.toml" in str(caught.value)


def test_a_missing_toml_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(GridError, match=r"none\.toml cannot be read as a grid: .*No such file"):
        Grid.from_toml(tmp_path / "none.toml")
