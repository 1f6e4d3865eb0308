"""What a rule needs and does not get is refused before any node is asked."""

from typing import Any

import pytest
import torch

from tests.flower.federations import tiny_data, tiny_strategy
from tests.flower.knowing_rules import Attendance, FirstClass
from wola.aggregation import BOBA, FLTrust, Mean, TrimmedMean, Zeno
from wola.flower.rule_needs import keeps_state, least_updates
from wola.labels import Shared
from wola.mixing import NNM
from wola.training import ServerData

DATA = ServerData(*tiny_data(7), classes=3)
LACKING = ServerData(torch.zeros(2, 4), torch.tensor([0, 2]), classes=3)


@pytest.mark.parametrize("rule", ["fltrust", "nnm+boba", "zeno", "lfr", "bygars", FLTrust()])
def test_a_rule_that_needs_data_and_gets_none_says_what_to_give(rule: Any) -> None:
    with pytest.raises(
        ValueError, match=r"needs data of the server's own; allowed: reference=Serv"
    ):
        tiny_strategy(rule=rule)
    assert tiny_strategy(rule=rule, reference=DATA).settings.reference is DATA


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"rule": FirstClass()},
            r"FirstClass\(\) needs the label .* objective = Uniform\(\) asks nobody; .* 'shared'",
        ),
        ({"rule": NNM() | FirstClass()}, r"NNM\(\) \| FirstClass\(\) needs the label"),
        ({"rule": BOBA(), "reference": LACKING}, r"BOBA.*: the server holds no sample of class 1;"),
        (
            {"rule": BOBA(), "reference": DATA, "n": 4, "f": 1, "quorum": 3},
            "quorum = 3; allowed with n = 4 and f = 1: 4 to 4",
        ),
        (
            {"rule": BOBA(), "reference": DATA, "n": 3, "f": 1},
            r"BOBA.* with C = 3 classes needs .*; n = 3, f = 1 leaves 2",
        ),
        ({"rule": "hullguard", "objective": Shared(), "n": 7, "f": 1}, "n - f > 2 C = 6 workers"),
        (
            {"reference": ServerData(DATA.inputs, DATA.labels, 4)},
            "reference has 4 classes; allowed: 3",
        ),
        (
            {"rule": FLTrust(), "reference": ServerData(torch.zeros(3, 5), torch.arange(3), 3)},
            r"reference has inputs of shape \(5,\), which the model does not take: ",
        ),
        (
            {
                "rule": "boba",
                "reference": ServerData(torch.zeros(4, 4), torch.arange(4), 4),
                "classes": 4,
            },
            r"the model makes \(1, 3\) of one sample of the reference; .* \(1, 4\)",
        ),
    ],
)
def test_what_cannot_be_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny_strategy(**options)


def test_a_reference_of_another_kind_is_named() -> None:
    with pytest.raises(TypeError, match="reference is a tuple; allowed: a ServerData, or None"):
        tiny_strategy(rule="fltrust", reference=tiny_data(7))


def test_a_rule_that_does_not_ask_the_server_does_not_look_at_its_data() -> None:
    other = ServerData(torch.zeros(3, 99), torch.arange(3), 3)
    assert tiny_strategy(rule="median", reference=other).run.knowledge.reference is None


def test_labels_that_are_asked_for_are_enough() -> None:
    assert tiny_strategy(rule=FirstClass(), objective=Shared()).settings.reference is None


def test_a_row_for_each_class_needs_as_many_clients_beside_the_byzantine() -> None:
    assert least_updates(TrimmedMean(), classes=3, n=9, f=2) == 5
    assert least_updates(NNM() | BOBA(), classes=3, n=9, f=2) == 5
    assert least_updates(BOBA(), classes=6, n=9, f=2) == 8
    settings = tiny_strategy(rule=BOBA(), reference=DATA, n=6, f=2).settings
    assert settings.replies_needed == 5
    assert "needs 5 updates, so 2 silent clients empty" in str(settings.warning)


def test_only_memory_and_rows_are_a_state() -> None:
    assert [keeps_state(rule) for rule in (Attendance(), NNM() | Attendance(), BOBA())] == [
        True
    ] * 3
    assert [keeps_state(rule) for rule in (Mean(), Zeno(), FirstClass())] == [False] * 3
