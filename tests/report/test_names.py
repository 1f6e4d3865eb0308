"""Names: the paper's spelling, and one for every strategy that the paper does not name."""

import pytest

from wola.report.names import in_order, strategy_name, title, uses_wola
from wola.training import STRATEGIES, Scenario


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_of_the_paper_keeps_its_name(name: str) -> None:
    assert strategy_name(Scenario.paper(strategy=name).model_dump()) == name


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"mixing": "arc"}, "ARC"),
        ({"mixing": "clipping+nnm"}, "clipping+NNM"),
        ({"loss": "wola-batch"}, "WoLA-batch"),
        ({"loss": "wola", "objective": "uniform"}, "WoLA(uniform)"),
        ({"loss": "wola", "objective": "shared"}, "WoLA(shared, paper)"),
        (
            {
                "loss": "wola",
                "objective": "shared",
                "objective_rule": "nnm+geometric-median",
                "objective_attack": "worst",
                "mixing": "nnm",
            },
            "WoLA(shared, nnm+geometric-median, worst)+NNM",
        ),
    ],
)
def test_another_strategy_is_named_by_what_it_sets(fields: dict[str, str], name: str) -> None:
    assert strategy_name(Scenario.paper(**fields).model_dump()) == name


def test_wola_is_told_by_the_loss() -> None:
    assert [name for name in STRATEGIES if uses_wola(name)] == [
        "WoLA",
        "WoLA+NNM",
        "WoLA-dagger",
        "WoLA-dagger+NNM",
    ]


def test_a_name_that_the_paper_has_not_is_left_as_it_is() -> None:
    assert (title("cifar10"), title("bulyan")) == ("CIFAR10", "bulyan")


def test_known_names_come_in_their_order_and_the_others_after_them() -> None:
    assert in_order(["b", "NNM", "a", "-", "-"], STRATEGIES) == ["-", "NNM", "a", "b"]
