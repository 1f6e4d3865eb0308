"""docs/glossary.md says what the code, the docstrings and the page of a report say."""

import pytest

from tools import glossary
from wola.aggregation import TrimmedMean
from wola.report.page.glossary import WORDS
from wola.training import PAPER_STRATEGIES, PARTS, Scenario

TEXT = glossary.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_sources_give():
    assert glossary.page() == TEXT, "docs/glossary.md is not what the code says: make methods"


def test_every_word_field_and_strategy_has_a_line():
    for word in WORDS:
        assert f"| {word} | {WORDS[word]} |" in TEXT
    for name in [*Scenario.model_fields, *PAPER_STRATEGIES]:
        assert f"| `{name}` | " in TEXT


def test_no_word_is_explained_twice():
    assert not set(WORDS) & set(glossary.MORE_WORDS)


@pytest.mark.parametrize("short", glossary.ABBREVIATIONS)
def test_a_short_name_is_that_of_a_part(short):
    _, field, name = glossary.ABBREVIATIONS[short]
    assert name in PARTS.kinds[field].names


@pytest.mark.parametrize("names", [glossary.SYMBOLS, glossary.MORE_WORDS], ids=["symbols", "words"])
def test_what_is_written_by_hand_is_a_sentence(names):
    assert all(line[0].isupper() and line.endswith(".") for line in names.values())


def test_a_changed_docstring_is_noticed(monkeypatch):
    monkeypatch.setattr(TrimmedMean, "__doc__", TrimmedMean.__doc__.replace("drop", "leave"))
    assert glossary.page() != TEXT


def test_bars_end_no_cell():
    assert r"tau / \|\|x_i - v\|\|" in TEXT
