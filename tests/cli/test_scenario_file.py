"""Which scenario is meant, out of a file, a folder, a strategy and flags."""

import numpy as np
import pytest

from wola.cli.errors import Refused
from wola.cli.scenario_file import check_same, folder_name, kept_scenario, read_toml, settle
from wola.ground.sealed import sealed
from wola.training import RunFolder, Scenario


def test_nothing_at_all_is_the_papers_setting_on_digits():
    assert settle({}, None, {}) == Scenario.paper("digits")


def test_a_dataset_given_as_a_flag_brings_its_own_settings():
    scenario = settle({"dataset": "digits", "byzantine": 4}, None, {"dataset": "cifar10"})

    assert (scenario.beta, scenario.steps, scenario.byzantine) == (0.99, 2000, 4)


def test_a_strategy_given_as_a_flag_overrides_the_file():
    base = {"mixing": "bucketing", "loss": "wola", "steps": 7}

    scenario = settle(base, "nnm", {})
    assert (scenario.mixing, scenario.loss, scenario.steps) == ("nnm", "cross-entropy", 7)
    assert settle({"strategy": "WoLA"}, "nnm", {}).strategy == "NNM"


def test_flags_override_the_strategy_of_the_file():
    scenario = settle({"strategy": "WoLA"}, None, {"mixing": "arc"})

    assert (scenario.loss, scenario.mixing) == ("wola", "arc")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"loss": "cross-entropy"}, "loss = 'cross-entropy' contradicts"),
        ({"mixing": "nnm + arc"}, "mixing = 'nnm + arc' contradicts"),
        ({"objective": "uniform"}, "objective = 'uniform' contradicts"),
        ({"aggregator": "nnm + krum"}, "aggregator = 'nnm + krum' contradicts"),
    ],
)
def test_what_contradicts_a_strategy_beside_it_is_refused(fields, said):
    with pytest.raises(Refused) as flagged:
        settle({}, "wola", fields)
    with pytest.raises(Refused) as written:
        settle({"strategy": "WoLA", **fields}, None, {})

    assert f"--{said} --strategy = 'WoLA', which sets" in str(flagged.value)
    assert str(written.value).startswith(f"{said} strategy = 'WoLA', which sets")
    assert str(written.value).endswith("; allowed: one of the two")


def test_what_agrees_with_a_strategy_may_stand_beside_it():
    assert settle({}, "WoLA", {"loss": "wola(renormalise=false)"}).strategy == "WoLA"
    assert settle({"strategy": "NNM", "mixing": "nnm"}, None, {}).strategy == "NNM"
    assert settle({}, "NNM", {"aggregator": "krum"}).aggregator == "krum"


def test_a_strategy_of_a_file_that_is_unknown_suggests_the_nearest():
    with pytest.raises(Refused, match=r"strategy = 'wolla'; did you mean 'wola'\?"):
        settle({"strategy": "wolla"}, None, {})


def test_a_file_may_name_a_strategy():
    assert settle({"strategy": "wola+nnm"}, None, {}).strategy == "WoLA+NNM"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("alpha = ", "is no TOML file"),
        (
            "[axes]\nseed = 1",
            "axes = {'seed': 1}; allowed: one value for each field; a grid is for",
        ),
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
    (tmp_path / "scenario.json").write_bytes(sealed(scenario.record()))

    assert kept_scenario(folder) == scenario
    check_same(folder, scenario)
    with pytest.raises(Refused, match=r"holds another run \(seed = 5 there and 6 here\)"):
        check_same(folder, scenario.changed(seed=6))


def test_a_folder_whose_run_was_made_of_other_data_takes_no_other(tmp_path):
    own, folder = tmp_path / "own.npz", RunFolder(tmp_path / "run")
    y = np.array([0, 1] * 20)
    np.savez(own, x_train=np.eye(40, 3), y_train=y, x_test=np.eye(40, 3), y_test=y)
    scenario = Scenario(dataset=f"npz({own})", workers=4, byzantine=1)
    folder.path.mkdir()
    (folder.path / "scenario.json").write_bytes(sealed(scenario.record()))
    check_same(folder, scenario)
    np.savez(own, x_train=2 * np.eye(40, 3), y_train=y, x_test=np.eye(40, 3), y_test=y)

    with pytest.raises(Refused, match=r"own\.npz has changed since"):
        check_same(folder, scenario)


def test_a_folder_of_another_version_takes_no_other(tmp_path):
    record = {**Scenario().record(), "semantics": "0"}
    (tmp_path / "scenario.json").write_bytes(sealed(record))

    with pytest.raises(Refused, match="made by another version"):
        check_same(RunFolder(tmp_path), Scenario())


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"fields": {}, "content": {}}'])
def test_a_folder_with_a_damaged_scenario_is_refused(tmp_path, text):
    (tmp_path / "scenario.json").write_text(text)

    with pytest.raises(Refused, match=r"scenario\.json is damaged"):
        kept_scenario(RunFolder(tmp_path))
    with pytest.raises(Refused, match=r"scenario\.json is damaged"):
        check_same(RunFolder(tmp_path), Scenario())


@pytest.mark.parametrize("record", [{}, {"fields": {}}, {"fields": [], "content": {}}])
def test_a_folder_with_something_else_in_its_scenario_is_refused(tmp_path, record):
    (tmp_path / "scenario.json").write_bytes(sealed(record))

    with pytest.raises(Refused, match=r"scenario\.json holds no scenario"):
        kept_scenario(RunFolder(tmp_path))
    with pytest.raises(Refused, match=r"scenario\.json holds no scenario"):
        check_same(RunFolder(tmp_path), Scenario())


def test_the_name_of_a_folder_tells_scenarios_apart():
    base = Scenario.paper("digits")
    names = [folder_name(s) for s in (base, base.changed(seed=2), base.with_strategy("WoLA"))]

    assert len(set(names)) == 3
    assert names[2].startswith("digits-wola-trimmed-mean-alie-")
    assert folder_name(base.changed(mixing="arc")).startswith("digits-own-")


def test_the_name_of_a_folder_holds_no_path_and_no_parameters(tmp_path):
    own = tmp_path / "own.npz"
    np.savez(own, x_train=np.eye(40, 3), y_train=np.array([0, 1] * 20))
    scenario = Scenario(
        dataset=f"npz({own})",
        aggregator="wola.aggregation:Krum(power=1)",
        attack="foe(epsilon=0.5)",
        workers=5,
        byzantine=1,
    )

    name = folder_name(scenario)

    assert name.startswith("npz-plain-wola.aggregation-Krum-foe-")
    assert "/" not in name
