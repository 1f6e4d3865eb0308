"""Settings: what is not the paper's in words, and nothing that a strategy says already."""

import pytest

from tests.report.made_up import STRANGE
from wola.report.settings import settings_of, usual_fields
from wola.training import STRATEGIES, Scenario
from wola.training.scenario import PAPER


def row(strategy: str = "-", content: str | None = None, **fields: object) -> dict[str, object]:
    made = {**Scenario.paper("iris").model_dump(), **STRATEGIES.get(strategy, {}), **fields}
    return {**made, "strategy": strategy, "content": content}


@pytest.mark.parametrize("dataset", PAPER)
def test_what_goes_without_saying_is_the_papers(dataset: str) -> None:
    assert usual_fields(dataset) == Scenario.paper(dataset).model_dump()
    named = {**Scenario.paper(dataset).model_dump(), "dataset": f"{dataset}(source=npm)"}
    assert usual_fields(f"{dataset}(source=npm)") == named


def test_own_data_are_not_looked_at() -> None:
    fields = usual_fields(STRANGE["dataset"])
    assert fields["partition"] == "dirichlet(mode=disjoint)"
    assert fields["steps"] == Scenario().steps


def test_batch_and_momentum_are_left_out_of_the_rest_whatever_else_is_said() -> None:
    strange = row(batch=8, beta=0.5, schedule="step(period=10, factor=0.5)", steps=3)
    (found,) = settings_of([strange], {}, frozenset())
    assert found.text == "beta 0.5, schedule step(period=10, factor=0.5), batch 8, steps 3"
    assert found.rest == "schedule step(period=10, factor=0.5), steps 3"


def test_what_a_strategy_of_ones_own_sets_is_not_said() -> None:
    own = {"Slow": {"loss": "wola", "lr": 0.1, "steps": 9}}
    rows = [row(), row("Slow", loss="wola", lr=0.1, steps=9), row("-", steps=9)]
    assert [found.text for found in settings_of(rows, own, frozenset())] == ["", "", "steps 9"]


def test_a_strategy_of_ones_own_stands_where_the_others_stand() -> None:
    own = {"Slow": {"lr": 0.1}}
    rows = [row(lr=0.5, batch=8), row("Slow", lr=0.1, batch=8)]
    assert [found.text for found in settings_of(rows, own, frozenset())] == ["lr 0.5, batch 8"] * 2
    two = [*rows, row(lr=0.2, batch=8)]
    assert [found.text for found in settings_of(two, own, frozenset())] == [
        "lr 0.5, batch 8",
        "batch 8",
        "lr 0.2, batch 8",
    ]


def test_what_a_strategy_of_ones_own_leaves_open_is_said() -> None:
    own = {"Mixed": {"mixing": "arc"}}
    rows = [row("Mixed", mixing="arc", loss=loss) for loss in ("wola", "cross-entropy")]
    assert [found.text for found in settings_of(rows, own, frozenset())] == ["loss wola", ""]


def test_contents_are_told_apart_where_two_versions_meet() -> None:
    rows = [row(content=f'{{"mine.npz": "{sign * 64}", "rule": "7"}}') for sign in "ab"]
    assert [f.text for f in settings_of(rows, {}, frozenset({"mine.npz"}))] == [
        "content aaaaaaaa",
        "content bbbbbbbb",
    ]
    assert [f.text for f in settings_of(rows, {}, frozenset())] == ["", ""]


def test_fields_set_aside_are_part_of_no_setting() -> None:
    rows = [row(batch=8, steps=3), row(batch=16, steps=3), row(steps=3)]
    found = settings_of(rows, {}, frozenset(), frozenset({"batch"}))
    assert {setting.text for setting in found} == {"steps 3"}
