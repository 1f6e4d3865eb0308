"""Names of strategies, the order of things, and words for files."""

import pytest

from wola.report.names import file_word, in_order, part_word, parts_in_order, strategy_name
from wola.training import STRATEGIES, Scenario


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_of_the_paper_keeps_its_name(name: str) -> None:
    assert strategy_name(Scenario.paper(strategy=name).model_dump()) == name


def stored(**fields: str) -> dict[str, object]:
    return Scenario.stored(fields).model_dump()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"mixing": "arc"}, "ARC"),
        ({"mixing": "clipping+nnm"}, "clipping+NNM"),
        ({"mixing": "bucketing(size=2)"}, "BKT(size=2)"),
        ({"mixing": "no.where:Mix(k=3)+nnm"}, "no.where:Mix(k=3)+NNM"),
        ({"loss": "wola-batch"}, "WoLA-batch"),
        ({"loss": "fedlc"}, "FedLC"),
        ({"loss": "fedrs(alpha=0.9)"}, "FedRS(alpha=0.9)"),
        ({"loss": "dmfl(tau=0.5)", "mixing": "nnm"}, "DMFL(tau=0.5)+NNM"),
        ({"loss": "logit-adjusted"}, "LogitAdj"),
        ({"loss": "wola", "objective": "uniform"}, "WoLA(uniform)"),
        ({"loss": "wola", "objective": "shared"}, "WoLA(shared)"),
        ({"objective": "uniform", "mixing": "nnm"}, "cross-entropy(uniform)+NNM"),
        ({"loss": "no.where:Loss(t=2)", "objective": "uniform"}, "no.where:Loss(uniform, t=2)"),
        (
            {
                "loss": "wola",
                "objective": "shared(rule=nnm+median)",
                "objective_attack": "worst",
                "mixing": "nnm",
            },
            "WoLA(shared(rule=nnm+median), worst)+NNM",
        ),
        ({"loss": "wola", "mixing": "never(closed"}, "wola+prior+none+never(closed"),
    ],
)
def test_another_strategy_is_named_by_what_it_sets(fields: dict[str, str], name: str) -> None:
    assert strategy_name(stored(**fields)) == name


def test_a_strategy_of_ones_own_has_its_own_name() -> None:
    own = {"Mine": {"loss": "wola", "mixing": "arc"}}
    assert strategy_name(stored(loss="wola", mixing="arc"), own) == "Mine"


def test_a_strategy_without_a_name_never_takes_that_of_another() -> None:
    own = {"ARC": {"loss": "wola", "mixing": "arc+nnm"}}
    assert strategy_name(stored(mixing="arc"), own) == "ARC (unnamed)"


def test_known_names_come_in_their_order_and_the_others_after_them() -> None:
    assert in_order(["b", "NNM", "a", "-", "-"], STRATEGIES) == ["-", "NNM", "a", "b"]


def test_parts_of_the_paper_come_first_whatever_their_parameters() -> None:
    texts = ["a:Rule", "multi-krum", "bulyan", "multi-krum(power=1)", "trimmed-mean", "median"]
    assert parts_in_order(texts) == [
        "median",
        "trimmed-mean",
        "multi-krum",
        "multi-krum(power=1)",
        "a:Rule",
        "bulyan",
    ]


def test_other_parts_have_other_words() -> None:
    words = {part_word(f"npz(path={path})") for path in ("a/x.npz", "b/x.npz", "a/x.npz2")}
    assert len(words) == 3
    assert all(word.startswith("x.npz") for word in words)
    assert file_word("no.where:Rule(k=3)") != file_word("no.where:Rule(k=4)")
