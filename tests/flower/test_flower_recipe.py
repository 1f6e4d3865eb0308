"""Recipes, and the orders that clients get."""

import sys
from pathlib import Path

import pytest
from flwr.app import ConfigRecord, RecordDict
from hypothesis import given
from hypothesis import strategies as st

from tests.flower.one_client import header, message
from tests.flower.own_loss import ConstantWeight
from wola.flower import wire
from wola.flower.recipe import Orders, Recipe, loss_of_server
from wola.labels import DMFL, LOSSES, CrossEntropy, FedLC, FedRS, LogitAdjusted, WoLA, WoLABatch
from wola.training import Scenario
from wola.training.scenario import ScenarioError, TrainingFields
from wola.training.schedule import Step


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("harmonic(period=3)", [0.3, 0.3, 0.15, 0.15, 0.15, 0.1]),
        ("step(period=3, factor=0.25)", [0.3, 0.3, 0.3, 0.075, 0.075, 0.075]),
        ("constant", [0.3] * 6),
    ],
)
def test_the_learning_rate_is_that_of_the_scenario(schedule, rates):
    scenario = Scenario(loss="wola", lr=0.3, schedule=schedule)
    recipe = Recipe.of(scenario)
    assert [recipe.learning_rate(t) for t in range(1, 7)] == pytest.approx(rates)
    assert [recipe.orders(t).lr for t in range(1, 7)] == pytest.approx(rates)
    assert [scenario.learning_rate(t) for t in range(1, 7)] == pytest.approx(rates)


def test_a_recipe_is_the_scenarios_by_default_but_for_the_loss():
    assert Recipe() == Recipe.of(Scenario(loss="wola"))
    defaults = {name: field.default for name, field in Recipe.model_fields.items()}
    shared = {name: field.default for name, field in TrainingFields.model_fields.items()}
    assert defaults == {**shared, "loss": "wola"}


def test_parts_are_given_as_texts_or_as_objects():
    objects = Recipe(loss=WoLA(renormalise=True), schedule=Step(period=9))
    texts = Recipe(loss="wola( renormalise = true )", schedule="step(period=9, factor=0.1)")
    assert objects == texts
    assert (texts.loss, texts.schedule) == ("wola(renormalise=true)", "step(period=9)")


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_of_a_scenario_is_one_of_a_recipe(loss):
    recipe = Recipe.of(Scenario(loss=loss))
    assert recipe.orders(1).loss == loss


def test_a_loss_without_a_name_in_the_registry_is_refused():
    with pytest.raises(ScenarioError, match="loss = 'hinge'; allowed: cross-entropy, wola, wola-b"):
        Recipe(loss="hinge")


def test_a_field_of_no_recipe_is_refused():
    with pytest.raises(ScenarioError, match="workers is no field of a recipe"):
        Recipe(workers=5)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lr", 0.0),
        ("lr", float("inf")),
        ("lr", "fast"),
        ("schedule", "cosine"),
        ("schedule", "harmonic(period=0)"),
        ("schedule", "step(factor=-1)"),
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
        ("server", "momentum(beta=-0.1)"),
        ("server", "adam(beta2=1.0)"),
        ("seed", 2**63),
        ("seed", 1.5),
    ],
)
def test_an_impossible_field_is_named_with_its_value(field, value):
    with pytest.raises(ValueError, match=f"^{field} = .*; .*allowed: "):
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
        ({"batch": 0}, "batch = 0"),
        ({"beta": 1.0}, "beta = 1.0"),
        ({"lr": 0.0}, "lr = 0.0"),
        ({"clip": float("nan")}, "clip = nan"),
        ({"loss": 3}, "loss has type int"),
    ],
)
def test_wrong_orders_are_refused(changes, words):
    fields = {**Recipe().orders(1).fields(), **changes}
    with pytest.raises(wire.WireError, match=words):
        Orders.of(ConfigRecord(fields))


def test_missing_orders_are_refused():
    with pytest.raises(wire.WireError, match="loss is missing"):
        Orders.of(ConfigRecord())


def test_orders_carry_the_text_of_a_loss_of_ones_own_and_are_read_without_importing_it():
    recipe = Recipe(loss=ConstantWeight(weight=3.0))
    assert recipe.orders(1).loss == "tests.flower.own_loss:ConstantWeight(weight=3)"
    fields = {**recipe.orders(1).fields(), "loss": "this_module.is_not.there:Loss"}
    assert Orders.of(ConfigRecord(fields)).loss == "this_module.is_not.there:Loss"


def test_a_loss_that_nobody_can_import_is_sent_as_plain_text():
    class Local(ConstantWeight):
        """A loss inside of a function."""

    orders = Recipe(loss=Local()).orders(1)
    assert type(orders.loss) is str
    assert Orders.of(ConfigRecord(orders.fields())) == orders


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("cross-entropy", CrossEntropy()),
        ("wola(renormalise=true)", WoLA(renormalise=True)),
        ("wola-batch", WoLABatch()),
        ("fedlc", FedLC()),
        ("fedrs(alpha=0.9)", FedRS(alpha=0.9)),
        ("dmfl(tau=0.5)", DMFL(tau=0.5)),
        ("logit-adjusted(tau=2)", LogitAdjusted(tau=2.0)),
    ],
)
def test_a_server_may_name_the_librarys_losses(text, loss):
    assert loss_of_server(text) == loss


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that leaves a mark when it is imported."""
    mark = tmp_path / "imported"
    code = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
    (tmp_path / "flower_trap.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return mark


@pytest.mark.parametrize(
    "text",
    [
        "flower_trap:Loss",
        " flower_trap:Loss",
        "flower_trap:Loss(weight=3)",
        "wola(renormalise=flower_trap:Loss)",
        'wola(renormalise="flower_trap:Loss")',
        "wola+flower_trap:Loss",
        "hinge",
        "",
        "wola(",
        "none",
    ],
)
def test_nothing_is_imported_because_a_server_names_it(text, trap):
    with pytest.raises(wire.WireError, match=r"^loss = .*; allowed from a server: cross-entropy, "):
        loss_of_server(text)
    assert not trap.exists()
    assert "flower_trap" not in sys.modules


def test_a_wrong_parameter_of_the_librarys_loss_is_named():
    with pytest.raises(wire.WireError, match="renormalise = 3"):
        loss_of_server("wola(renormalise=3)")


@given(st.one_of(st.text(), st.text(alphabet="wola-btch():+,='\"[]01. ")))
def test_whatever_a_server_writes_as_loss_is_a_loss_or_a_wire_error(text):
    try:
        found = loss_of_server(text)
    except wire.WireError:
        return
    assert type(found) in LOSSES.values()
