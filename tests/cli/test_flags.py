"""Flags made from the fields of a model."""

from typing import Literal

import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from wola.cli.errors import Refused
from wola.cli.flags import by_topic, field_flags, flag_name, given, topic_of
from wola.training import Scenario
from wola.training.scenario import TOPICS


class Tea(BaseModel):
    kind: Literal["green", "black"] = Field("green", description="What it is.")
    brewing_minutes: float = Field(3.0, description="How long.")
    sugar: int | None = Field(1, description="How much.")
    milk: bool = Field(False, description="Whether.")
    cup: str = Field("mug", description="From what.")


def make(*words: str, **options: object) -> tuple[dict[str, object], str]:
    app, heard = typer.Typer(rich_markup_mode=None), {}

    @app.command()
    @field_flags(Tea, **options)
    def brew(where: str = "here", **fields: str | bool | None) -> None:
        heard.update(given(Tea, fields), where=where)

    result = CliRunner().invoke(app, list(words))
    if isinstance(result.exception, Refused):
        raise result.exception
    return heard, result.output


def test_only_the_flags_that_were_given_reach_the_command():
    heard, _ = make("--brewing-minutes", "2.5", "--kind", "black", "--where", "home")

    assert heard == {"brewing_minutes": "2.5", "kind": "black", "where": "home"}
    assert Tea(**{k: v for k, v in heard.items() if k != "where"}).brewing_minutes == 2.5


def test_a_boolean_field_is_a_pair_of_flags():
    assert make("--milk")[0]["milk"] is True
    assert make("--no-milk")[0]["milk"] is False
    assert "milk" not in make()[0]


def test_none_stands_for_none_only_where_a_field_may_be_none():
    heard, _ = make("--sugar", "none", "--cup", "none")

    assert heard["sugar"] is None
    assert heard["cup"] == "none"


def test_a_wrong_choice_names_the_flag_the_value_and_the_nearest():
    with pytest.raises(Refused, match=r"--kind = 'balck'; did you mean 'black'\? allowed: green"):
        make("--kind", "balck")


def test_help_shows_name_kind_meaning_and_default():
    _, text = make("--help")
    words = " ".join(text.split())

    for part in (
        "--kind green|black What it is. (default: green)",
        "--brewing-minutes NUMBER How long. (default: 3.0)",
        "--sugar INTEGER How much. (default: 1)",
        "--milk / --no-milk Whether. (default: False)",
        "--cup TEXT From what. (default: mug)",
    ):
        assert part in words


def test_some_fields_alone_can_have_flags_and_a_default_can_be_told_in_words():
    _, text = make("--help", only=("cup",), settled_later={"cup": "the one you like"})

    assert "(default: the one you like)" in " ".join(text.split())
    assert "--sugar" not in text


def test_a_word_can_stand_for_a_value_where_its_type_says_too_little():
    _, text = make("--help", metavars={"cup": "VESSEL"})

    assert "--cup VESSEL" in text


@pytest.mark.parametrize("flag", ["--help", "--help-all"])
def test_every_field_of_a_scenario_is_a_flag_of_train_with_a_meaning(wola, flag):
    words = wola("train", flag).output.split()

    assert not [n for n in Scenario.model_fields if flag_name(n) not in words]
    assert not [n for n, field in Scenario.model_fields.items() if not field.description]


def test_fields_come_topic_by_topic_and_none_is_left_out():
    names = by_topic(Scenario, TOPICS)
    topics = [topic_of(Scenario.model_fields[name]) for name in names]

    assert sorted(names) == sorted(Scenario.model_fields)
    assert topics == sorted(topics, key=TOPICS.index)
    assert topic_of(Tea.model_fields["cup"]) is None
    assert by_topic(Tea, TOPICS) == list(Tea.model_fields)
