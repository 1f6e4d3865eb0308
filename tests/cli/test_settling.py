"""Which scenario is meant, out of a file, a folder, a strategy and flags."""

import pytest

from wola.cli.errors import Refused
from wola.cli.scenario_file import check_same, folder_name, kept_scenario, read_toml, settle
from wola.training import RunFolder, Scenario


def test_nothing_at_all_is_the_papers_setting_on_digits():
    assert settle({}, None, {}) == Scenario.paper("digits")


def test_a_dataset_given_as_a_flag_brings_its_own_settings():
    scenario = settle({"dataset": "digits", "byzantine": 4}, None, {"dataset": "cifar10"})

    assert (scenario.beta, scenario.steps, scenario.byzantine) == (0.99, 2000, 4)


def test_flags_override_a_strategy_and_a_strategy_overrides_the_file():
    base = {"mixing": "bucketing", "loss": "wola", "steps": 7}

    scenario = settle(base, "nnm", {})
    assert (scenario.mixing, scenario.loss, scenario.steps) == ("nnm", "cross-entropy", 7)
    assert settle(base, "nnm", {"mixing": "arc"}).mixing == "arc"
    assert settle({"strategy": "WoLA"}, "nnm", {}).strategy == "NNM"


def test_a_file_may_name_a_strategy():
    assert settle({"strategy": "wola+nnm"}, None, {}).strategy == "WoLA+NNM"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("alpha = ", "is no TOML file"),
        ("[data]\nalpha = 1", "data = {'alpha': 1}; allowed: one value"),
        ("dataset = ['digits']", "allowed: one value"),
        ("strategy = 3", "strategy = 3; allowed: a name"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused_by_name(tmp_path, text, reason):
    path = tmp_path / "scenario.toml"
    path.write_text(text)

    with pytest.raises(Refused) as caught:
        read_toml(path)

    assert str(path) in str(caught.value)
    assert reason in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Refused, match="does not exist"):
        read_toml(tmp_path / "scenario.toml")


def test_a_folder_gives_back_its_scenario_and_takes_no_other(tmp_path):
    folder, scenario = RunFolder(tmp_path), Scenario.paper("iris", seed=5)
    assert kept_scenario(folder) is None
    check_same(folder, scenario)
    (tmp_path / "scenario.json").write_text(scenario.to_json())

    assert kept_scenario(folder) == scenario
    check_same(folder, scenario)
    with pytest.raises(Refused, match=r"holds another run \(seed = 5 there and 6 here\)"):
        check_same(folder, scenario.changed(seed=6))


def test_a_folder_with_a_damaged_scenario_is_refused(tmp_path):
    (tmp_path / "scenario.json").write_text("{")

    with pytest.raises(Refused, match=r"scenario\.json holds no scenario"):
        kept_scenario(RunFolder(tmp_path))


def test_the_name_of_a_folder_tells_scenarios_apart():
    base = Scenario.paper("digits")
    names = [folder_name(s) for s in (base, base.changed(seed=2), base.with_strategy("WoLA"))]

    assert len(set(names)) == 3
    assert names[2].startswith("digits-wola-trimmed-mean-alie-")
    assert folder_name(base.changed(mixing="arc")).startswith("digits-own-")
