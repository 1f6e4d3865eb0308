"""Recipes, and the orders that clients get."""

import pytest
from flwr.app import ConfigRecord, RecordDict

from tests.flower.one_client import header, message
from wola.flower import wire
from wola.flower.recipe import Orders, Recipe
from wola.labels import LOSSES
from wola.training import Scenario


@pytest.mark.parametrize("schedule", ["harmonic", "step", "constant"])
def test_the_learning_rate_is_that_of_the_scenario(schedule):
    scenario = Scenario(loss="wola", lr=0.3, lr_schedule=schedule, lr_period=3, lr_factor=0.25)
    recipe = Recipe.of(scenario)
    rates = {
        "harmonic": [0.3, 0.3, 0.15, 0.15, 0.15, 0.1],
        "step": [0.3, 0.3, 0.3, 0.075, 0.075, 0.075],
        "constant": [0.3] * 6,
    }[schedule]
    assert [recipe.learning_rate(t) for t in range(1, 7)] == pytest.approx(rates)
    assert [scenario.learning_rate(t) for t in range(1, 7)] == pytest.approx(rates)


def test_a_recipe_is_the_scenarios_by_default():
    assert Recipe() == Recipe.of(Scenario(loss="wola"))


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_of_a_scenario_is_one_of_a_recipe(loss):
    recipe = Recipe.of(Scenario(loss=loss))
    assert recipe.orders(1).loss == loss


def test_a_loss_without_a_name_in_the_registry_is_refused():
    with pytest.raises(ValueError, match="loss = 'hinge'; allowed: cross-entropy, wola, wola-b"):
        Recipe(loss="hinge")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lr", 0.0),
        ("lr", float("inf")),
        ("lr", "0.1"),
        ("lr_period", 0),
        ("lr_factor", -1.0),
        ("lr_schedule", "cosine"),
        ("beta", 1.0),
        ("beta", float("nan")),
        ("batch", 0),
        ("batch", 1.5),
        ("batch", True),
        ("local_steps", 0),
        ("clip", -1.0),
        ("l2", -1e-9),
        ("loss", None),
        ("server", "lamb"),
        ("server_beta", -0.1),
        ("server_beta2", 1.0),
        ("seed", 2**63),
        ("seed", 1.0),
    ],
)
def test_an_impossible_field_is_named_with_its_value(field, value):
    with pytest.raises(ValueError, match=f"^{field} = .*; allowed: "):
        Recipe(**{field: value})


def test_orders_arrive_as_they_were_given():
    recipe = Recipe(lr=1, beta=0, clip=5, l2=0, batch=3, seed=-4, loss="cross-entropy")
    record = header(wire.TRAIN, 60, **recipe.orders(60).fields())
    arrived = message(RecordDict({wire.RECORD: record}), wire.TRAIN).content
    orders = Orders.of(wire.config(arrived))
    assert orders == recipe.orders(60)
    assert (orders.lr, orders.batch, orders.seed) == (0.5, 3, -4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch": 2.0}, "batch has type float"),
        ({"beta": 1.0}, "beta = 1.0"),
        ({"loss": 3}, "loss"),
    ],
)
def test_wrong_orders_are_refused(changes, words):
    fields = {**Recipe().orders(1).fields(), **changes}
    with pytest.raises(wire.WireError, match=words):
        Orders.of(ConfigRecord(fields))


def test_missing_orders_are_refused():
    with pytest.raises(wire.WireError, match="lr is missing"):
        Orders.of(ConfigRecord())
