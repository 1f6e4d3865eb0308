"""A scenario is refused with a reason before anything is loaded, or has one text and one key."""

import pytest

from wola.training import STRATEGIES, Scenario, ScenarioError

IMPOSSIBLE = [
    ({"byzantine": 9}, "byzantine = 9; allowed with workers = 17: 0 to 8"),
    ({"byzantine": -1}, "byzantine = -1; allowed: greater than or equal to 0"),
    ({"workers": 0, "byzantine": 0}, "workers = 0; allowed"),
    ({"lr": -0.1}, "lr = -0.1; allowed: greater than 0"),
    ({"lr": 0}, "lr = 0; allowed: greater than 0"),
    ({"lr": float("nan")}, "lr = nan; allowed: a finite number"),
    ({"beta": 1.0}, "beta = 1.0; allowed: less than 1"),
    ({"alpha": 0}, "alpha = 0; allowed: greater than 0"),
    ({"steps": 0}, "steps = 0; allowed"),
    ({"steps": "many"}, "steps = 'many'; allowed: a valid integer"),
    ({"batch": 0}, "batch = 0; allowed"),
    ({"clip": -1}, "clip = -1; allowed: greater than or equal to 0"),
    ({"l2": -1}, "l2 = -1; allowed"),
    ({"local_steps": 0}, "local_steps = 0; allowed"),
    ({"threads": 0}, "threads = 0; allowed"),
    ({"partition": "gamma-similarity(1.5)"}, "partition = 'gamma-similarity(1.5)'; gamma = 1.5"),
    ({"steps": True}, "steps = true; allowed: a whole number"),
    ({"lr": False}, "lr = false; allowed: a number"),
    ({"attack": True}, "attack = true; allowed: a text"),
    ({"participants": True}, "participants = true; allowed: a whole number or none"),
    ({"dataset": "digit"}, "dataset = 'digit'; did you mean 'digits'? allowed: digits, iris"),
    ({"dataset": "npz"}, "dataset = 'npz'; npz needs path; allowed: npz(path=...)"),
    ({"partition": "dirichlett"}, "partition = 'dirichlett'; did you mean 'dirichlet'? allowed"),
    ({"model": "convnet-mnits"}, "model = 'convnet-mnits'; did you mean 'convnet-mnist'?"),
    ({"aggregator": "trimed-mean"}, "aggregator = 'trimed-mean'; did you mean 'trimmed-mean'?"),
    ({"mixing": "nmm"}, "mixing = 'nmm'; did you mean 'nnm'?"),
    ({"mixing": "nnm+none"}, "mixing = 'nnm+none'; none stands in a chain; allowed: none alone"),
    ({"attack": "ali"}, "attack = 'ali'; did you mean 'alie'?"),
    ({"objective": "shared(nmm+mean)"}, "objective = 'shared(nmm+mean)'; mixing = 'nmm'; did"),
    ({"aggregator": "nnm+mean", "mixing": "arc"}, "mixing = 'arc' and aggregator = nnm+mean"),
    ({"objective_attack": "rarest"}, "objective_attack = 'rarest'; did you mean"),
    ({"server": "adamw"}, "server = 'adamw'; did you mean 'adam'? allowed: sgd, momentum"),
    ({"device": "abacus"}, "device = 'abacus'; allowed: cpu, cuda"),
    ({"participants": 18}, "participants = 18; allowed with workers = 17: 1 to 17"),
    (
        {"attack": "mimic-variance", "participants": 9},
        "attack = 'mimic-variance' with participants = 9; allowed: all 17 workers",
    ),
    ({"aggregator": "bulyan"}, "aggregator = 'bulyan' with mixing = 'none'"),
    ({"byzantin": 3}, "byzantin is no field of a scenario; did you mean 'byzantine'?"),
]


@pytest.mark.parametrize(("fields", "message"), IMPOSSIBLE, ids=[str(f) for f, _ in IMPOSSIBLE])
def test_an_impossible_scenario_is_refused_with_its_field_value_and_what_is_allowed(
    fields, message
):
    with pytest.raises(ScenarioError) as caught:
        Scenario(**fields)
    assert str(caught.value).startswith(message)


def test_every_wrong_field_gets_a_line():
    with pytest.raises(ScenarioError) as caught:
        Scenario(lr=-1, steps=0)
    assert len(str(caught.value).splitlines()) == 2


def test_a_scenario_cannot_be_changed_in_place_and_a_change_is_checked():
    scenario = Scenario()
    with pytest.raises(ValueError, match="frozen"):
        scenario.lr = 2.0
    assert scenario.changed(byzantine=8).byzantine == 8
    with pytest.raises(ScenarioError, match="byzantine = 9"):
        scenario.changed(byzantine=9)


@pytest.mark.parametrize(
    ("dataset", "beta", "rates", "steps"),
    [
        ("mnist", 0.9, {1: 0.75, 49: 0.75, 50: 0.375, 800: 0.75 / 17}, 800),
        ("fashion-mnist", 0.9, {99: 0.375, 100: 0.25}, 800),
        ("cifar10", 0.99, {1: 0.25, 1500: 0.25, 1501: 0.025, 2000: 0.025}, 2000),
        ("purchase100", 0.99, {1500: 0.25, 1501: 0.025}, 2000),
        ("digits", 0.9, {1: 0.75, 150: 0.75 / 4}, 150),
    ],
)
def test_the_papers_settings(dataset, beta, rates, steps):
    scenario = Scenario.paper(dataset)
    assert (scenario.beta, scenario.steps) == (beta, steps)
    assert (scenario.workers, scenario.byzantine, scenario.batch) == (17, 6, 128)
    assert (scenario.clip, scenario.l2, scenario.alpha) == (5.0, 1e-4, 0.3)
    for step, rate in rates.items():
        assert scenario.learning_rate(step) == pytest.approx(rate)


def test_a_constant_rate_stays():
    scenario = Scenario(lr=0.3, schedule="constant")
    assert scenario.learning_rate(10_000) == 0.3


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_is_recognised_again(name):
    assert Scenario.paper("digits", strategy=name.lower()).strategy == name
    assert Scenario().with_strategy(name).strategy == name


def test_strategies_set_what_the_paper_says():
    dagger = Scenario.paper("digits", strategy="WoLA-dagger+NNM")
    assert (dagger.loss, dagger.objective, dagger.mixing) == ("wola", "shared", "nnm")
    assert dagger.objective_attack == "rarest-class"
    assert Scenario(mixing="arc").strategy is None


def test_an_unknown_strategy_gets_the_nearest():
    with pytest.raises(ScenarioError, match=r"strategy = 'wolla'; did you mean 'wola'"):
        Scenario().with_strategy("wolla")


def test_what_is_given_beats_the_strategy():
    assert Scenario.paper("digits", strategy="WoLA", mixing="arc").mixing == "arc"


def test_toml_and_json_give_the_same_scenario_back(tmp_path):
    scenario = Scenario.paper("mnist", strategy="WoLA", aggregator="krum(power=1.5)")
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.from_toml(file) == scenario
    assert Scenario.from_json(scenario.to_json()) == scenario


@pytest.mark.parametrize(("field", "value"), [("clip", 0.0), ("l2", 0.0), ("augment", True)])
def test_no_field_is_lost_in_toml(tmp_path, field, value):
    scenario = Scenario.paper("mnist", **{field: value})
    (tmp_path / "scenario.toml").write_text(scenario.to_toml())
    assert getattr(Scenario.from_toml(tmp_path / "scenario.toml"), field) == value


def test_a_short_toml_is_filled_from_the_paper_and_may_name_a_strategy(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text('dataset = "cifar10"\nstrategy = "wola+nnm"\nbyzantine = 4\n')
    assert Scenario.from_toml(file) == Scenario.paper("cifar10", strategy="WoLA+NNM", byzantine=4)


@pytest.mark.parametrize("text", [b"dataset = ", b"\xff\xfe", None])
def test_a_file_that_is_no_toml_is_refused(tmp_path, text):
    file = tmp_path / "scenario.toml"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(ScenarioError, match="cannot be read as TOML"):
        Scenario.from_toml(file)


def test_equal_scenarios_have_one_key_and_any_change_another():
    assert Scenario(lr=1).key() == Scenario(lr=1.0).key()
    keys = {Scenario(seed=seed, mixing=m).key() for seed in (1, 2) for m in ("none", "nnm")}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("participants", "expected"),
    [(None, (17, 6)), (17, (17, 6)), (10, (10, 4)), (3, (3, 1)), (1, (1, 0)), (16, (16, 6))],
)
def test_the_bound_told_to_the_rule_is_restated_for_the_participants(participants, expected):
    scenario = Scenario(participants=participants, aggregator="mean")
    assert scenario.round_counts() == expected
