from pathlib import Path
from typing import Any

import pytest

from wola.aggregation import Krum
from wola.attacks import FOE
from wola.bench.grid import Grid, GridError
from wola.bench.strategies import named_strategy
from wola.labels import LOSSES
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


def test_a_cut_by_name_takes_the_part_with_whatever_parameters() -> None:
    rules = ["median", "multi-krum(power=1)", "multi-krum"]
    grid = Grid({}, {"aggregator": rules})
    assert grid.cut(aggregator="multi-krum").axes["aggregator"] == rules[1:]
    assert grid.cut(aggregator="multi-krum( power = 1 )").axes["aggregator"] == [rules[1]]
    assert grid.cut(aggregator=["median", "multi-krum"]).axes["aggregator"] == rules
    with pytest.raises(GridError, match=r"krum' is not on the axis"):
        grid.cut(aggregator="krum")


def test_a_filter_by_name_takes_the_part_with_whatever_parameters() -> None:
    axes = {"aggregator": ["median", "multi-krum(power=1)"], "attack": ["foe", "foe(epsilon=2)"]}
    grid = Grid({}, axes, without=({"aggregator": "multi-krum", "attack": "foe"},))
    assert {s.aggregator for s in grid.scenarios()} == {"median"}


def test_strategies_of_ones_own_stand_beside_the_papers(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(
        '[axes]\nstrategy = ["WoLA", "Mine", "Slow"]\nseed = [1, 2]\n'
        '[strategies."Mine"]\nmixing = "arc + nnm"\n'
        '[strategies."Slow"]\nloss = "wola"\nlr = 0.1\n'
    )
    grid = Grid.from_toml(tmp_path / "grid.toml")
    scenarios = grid.scenarios()
    assert [(s.loss, s.mixing, s.lr) for s in scenarios[::2]] == [
        ("wola", "none", 0.75),
        ("cross-entropy", "arc+nnm", 0.75),
        ("wola", "none", 0.1),
    ]
    assert len(grid.cut(strategy="mine").scenarios()) == 2
    named = [named_strategy(s.model_dump(), grid.strategies) for s in scenarios[::2]]
    assert named == ["WoLA", "Mine", "Slow"]


def test_every_loss_may_be_a_strategy() -> None:
    fields = {name: {"loss": name, "mixing": "arc"} for name in LOSSES}
    grid = Grid({"dataset": "iris"}, strategies=fields)
    assert [s.loss for s in grid.scenarios()] == list(LOSSES)
    assert len({s.key() for s in grid.scenarios()}) == len(LOSSES)


def test_a_grid_with_strategies_of_its_own_alone_takes_them_all() -> None:
    grid = Grid({"mixing": "arc"}, strategies={"A": {"loss": "wola"}, "B": {"lr": 0.5}})
    assert [(s.mixing, s.loss, s.lr) for s in grid.scenarios()] == [
        ("arc", "wola", 0.75),
        ("arc", "cross-entropy", 0.5),
    ]


@pytest.mark.parametrize(
    ("strategies", "message"),
    [
        ({"WoLA": {"lr": 1.0}}, "'WoLA' is one of the paper's"),
        ({"A": {}}, "'A' = {}; allowed: a table of fields"),
        ({"A": {"lrr": 1.0}}, "'A' sets 'lrr', no field; did you mean 'lr'"),
        ({"A": {"mixing": "nnm"}}, "'A' is the same as 'NNM'"),
        ({"A": {"lr": 1.0}, "B": {"lr": 1}}, "'B' is the same as 'A'"),
        ({"A": {"lr": "high"}}, "lr = 'high'; allowed"),
        ({"A": {"attack": "ali"}}, "attack = 'ali'; did you mean 'alie'"),
    ],
)
def test_a_strategy_that_cannot_be_is_refused(strategies: Any, message: str) -> None:
    with pytest.raises(GridError, match=message):
        Grid(strategies=strategies)


def test_parts_on_an_axis_may_be_objects() -> None:
    grid = Grid({}, {"aggregator": [Krum(power=1), "median"], "attack": [FOE(0.5)]})
    assert grid.axes == {"aggregator": ["krum(power=1)", "median"], "attack": ["foe(epsilon=0.5)"]}


def test_a_number_given_as_true_is_refused() -> None:
    with pytest.raises(GridError, match="steps = true; allowed: a whole number"):
        Grid({}, {"steps": [True]})
    with pytest.raises(GridError, match="steps = true"):
        Grid({"steps": True}).scenarios()
