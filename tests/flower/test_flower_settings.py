"""The settings of a strategy: defaults, texts and objects, and what is refused."""

import dataclasses
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from wola.aggregation import CoordinateMedian, FLTrust, Krum, Rule, TrimmedMean, Zeno
from wola.flower import KeyFileError, Recipe, WolaStrategy, generate_keypair, load_public_keys
from wola.flower.settings import StrategySettings, read_keys
from wola.labels import Objective, Prior, Shared, Uniform
from wola.mixing import NNM, Clipping
from wola.training import ServerData


def given(**fields: Any) -> StrategySettings:
    return StrategySettings(**{"classes": 10, "n": 7, "f": 2, **fields})


def test_defaults_follow_n_and_f() -> None:
    settings = given(f=2)
    assert (settings.replies_needed, settings.least_updates, settings.nodes_at_start) == (5, 5, 7)
    assert str(settings.aggregation_rule) == "NNM() | TrimmedMean()"
    assert settings.label_objective == Shared()
    assert given(n=9, f=2).replies_needed == 7
    assert given(n=9, f=4).replies_needed == 9
    assert given(f=0).least_updates == 1


def test_what_is_given_takes_the_place_of_a_default() -> None:
    settings = given(quorum=6, min_nodes=3)
    assert (settings.replies_needed, settings.nodes_at_start) == (6, 3)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("trimmed-mean", TrimmedMean()),
        ("krum(power=1)", Krum(power=1.0)),
        ("nnm+trimmed-mean", NNM() | TrimmedMean()),
        ("clipping(2) + nnm + median", Clipping(2.0) | NNM() | CoordinateMedian()),
    ],
)
def test_a_rule_is_given_as_an_object_or_as_its_text(text: str, rule: Rule) -> None:
    assert given(rule=text).aggregation_rule == rule
    assert given(rule=rule).aggregation_rule is rule


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("uniform", Uniform()),
        ("shared", Shared()),
        ("prior(q=[0.5, 0.25, 0.25])", Prior([0.5, 0.25, 0.25])),
    ],
)
def test_an_objective_is_given_as_an_object_or_as_its_text(text: str, objective: Objective) -> None:
    assert given(classes=3, objective=text).label_objective == objective
    assert given(classes=3, objective=objective).label_objective is objective


def test_only_an_objective_that_needs_no_reports_is_known_beforehand() -> None:
    assert given(classes=4, objective="uniform").known_objective().tolist() == [0.25] * 4
    assert given(objective="shared").known_objective() is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"classes": 0}, "classes = 0; allowed: an int >= 1"),
        ({"f": -1}, "f = -1"),
        ({"f": 4}, "allows f <= 3, not 4"),
        ({"f": 4, "rule": "fltrust"}, "f = 4; allowed with n = 7: 0 to 3, less than half"),
        ({"quorum": 4}, "quorum = 4; allowed with n = 7 and f = 2: 5 to 7"),
        ({"quorum": 8}, "quorum = 8"),
        ({"min_nodes": 0}, "min_nodes = 0"),
        ({"empty_rounds": 0}, "empty_rounds = 0"),
        ({"deadline": 0}, "deadline = 0; allowed: a finite number > 0"),
        ({"patience": float("inf")}, "patience = inf"),
        ({"evaluate": "maybe"}, "evaluate = 'maybe'; allowed: none, federated"),
        ({"rule": "trimed-mean"}, "rule = 'trimed-mean': .*did you mean 'trimmed-mean'"),
        ({"rule": "krum("}, r"rule = 'krum\(': .*never closed"),
        ({"objective": "shred"}, "objective = 'shred'; did you mean 'shared'"),
        ({"objective": "prior"}, "objective = 'prior': q = None; allowed: the distribution"),
        ({"objective": 3}, "objective = '3'; a int is no objective"),
        ({"keys": []}, "keys is empty"),
        ({"keys": [b"short"]}, "keys has one of 5 bytes; allowed: 32"),
    ],
)
def test_what_cannot_be_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        given(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n": True}, "n = True is a bool; allowed: an int >= 1"),
        ({"f": 1.0}, r"f = 1\.0 is a float; allowed: an int >= 0"),
        ({"quorum": "all"}, "quorum = 'all' is a str; allowed: an int >= 1"),
        ({"deadline": "soon"}, "deadline = 'soon' is a str; allowed: a finite number > 0"),
        ({"rule": TrimmedMean}, "rule = <class .*; allowed: a Rule, or its text"),
        ({"recipe": {"lr": 1}}, "recipe = {'lr': 1}; allowed: a Recipe"),
    ],
)
def test_what_has_the_wrong_type_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        given(**fields)


def test_the_rule_decides_how_few_are_enough() -> None:
    assert given(rule=TrimmedMean(), f=3, n=7).least_updates == 7
    assert given(rule=Krum(), f=1, n=7).least_updates >= 3


def test_keys_come_from_files_and_as_they_are(tmp_path: Path) -> None:
    _, public = generate_keypair(tmp_path, "a")
    (raw,) = load_public_keys([public])
    assert read_keys([public, str(public), raw]) == {raw}
    assert read_keys([public, bytes(32)]) == {raw, bytes(32)}
    with pytest.raises(KeyFileError, match="cannot be read"):
        read_keys([tmp_path / "missing.pub"])
    with pytest.raises(TypeError, match="allowed: a list"):
        read_keys(str(public))


def test_what_identifies_a_training_is_model_recipe_objective_and_federation() -> None:
    first = given().identity("f" * 64)
    assert given(n=9, deadline=5, rule=TrimmedMean()).identity("f" * 64) == first
    assert given(objective=Shared()).identity("f" * 64) == first
    assert given(federation="b").identity("f" * 64) != first
    assert given(recipe=Recipe(server="adam")).identity("f" * 64) != first
    assert given(objective="uniform").identity("f" * 64) != first
    assert given().identity("e" * 64) != first


def test_a_rule_with_a_state_is_part_of_what_identifies_a_training() -> None:
    data = ServerData(torch.zeros(10, 2), torch.arange(10), 10)
    trusting = given(rule=FLTrust(), reference=data).identity("f" * 64)
    assert trusting["rule"] == "FLTrust()"
    assert given(rule="zeno-plus-plus", reference=data).identity("f" * 64) != trusting
    # Zeno tries the updates anew in each round, and keeps nothing.
    assert given(rule=Zeno(), reference=data).identity("f" * 64) == given().identity("f" * 64)


def test_keys_are_read_once_from_an_iterator_and_kept_when_a_setting_changes(
    tmp_path: Path,
) -> None:
    _, public = generate_keypair(tmp_path, "a")
    settings = given(keys=(path for path in [public]))
    expected = load_public_keys([public])
    public.unlink()
    assert settings.public_keys == expected
    assert replace(settings, deadline=5.0).public_keys == expected


def test_the_strategy_takes_the_settings_as_its_own_keyword_arguments() -> None:
    parameters = inspect.signature(WolaStrategy).parameters
    names = [field.name for field in dataclasses.fields(StrategySettings)]
    assert list(parameters) == ["model", *names]
    assert parameters["deadline"].default == 60.0
    strategy = WolaStrategy(nn.Linear(2, 3), classes=3, n=5, f=1, rule="median", deadline=7.0)
    assert strategy.settings == StrategySettings(classes=3, n=5, f=1, rule="median", deadline=7.0)
    with pytest.raises(TypeError, match="quorums"):
        WolaStrategy(nn.Linear(2, 3), classes=3, n=5, f=1, quorums=4)


@pytest.mark.parametrize(
    ("n", "f", "silent", "least"),
    [(5, 2, "one silent client empties", 7), (9, 3, "3 silent clients empty", 10)],
)
def test_settings_that_cannot_bear_f_silent_clients_say_so(n, f, silent, least):
    warning = StrategySettings(classes=3, n=n, f=f).warning
    assert f"n = {n} and f = {f}" in warning
    assert f"{silent} every round" in warning
    assert f"choose n >= {least}" in warning
    assert StrategySettings(classes=3, n=least, f=f).warning is None


def test_nobody_is_warned_where_no_client_is_feared():
    assert StrategySettings(classes=3, n=1, f=0, rule="mean").warning is None
