"""docs/methods.md is what the docstrings say, and leaves out no part."""

import re

import pytest

from tools import methods
from wola.aggregation import GAS, SMEA, Bulyan, HullGuard, MultiKrum
from wola.parts import Kind
from wola.training import PARTS

TEXT = methods.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_docstrings_give():
    assert methods.page() == TEXT, "docs/methods.md is not what the docstrings say: make methods"


def test_every_link_of_the_page_leads_to_one_place():
    places = re.findall(r'<a id="([^"]+)">', TEXT)
    headings = [title.lower().replace(" ", "-") for title in re.findall(r"^## (.+)$", TEXT, re.M)]
    links = re.findall(r"\]\(#([^)]+)\)", TEXT)
    assert len(set(places)) == len(places)
    assert sorted(links) == sorted(places + [h for h in headings if not h.startswith("what-is")])


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Bulyan(), "n >= 4f + 3, or f = 0; f <= 3 at n = 17."),
        (GAS(), "f < n/2; f <= 8 at n = 17."),
        (SMEA(), "f < n/2 up to n = 20, fewer beyond; f <= 8 at n = 17."),
        (HullGuard(), "f < n/2; f <= 8 at n = 17, with 10 classes none."),
    ],
    ids=str,
)
def test_what_a_rule_accepts_is_found_by_asking_it(rule, text):
    assert methods.accepted(rule) == text


class Undescribed(MultiKrum):
    """A rule about which nothing is said."""


def test_a_part_about_which_nothing_is_said_is_refused(monkeypatch):
    kind = PARTS.kinds["aggregator"]
    more = Kind(kind.name, {**kind.names, "undescribed": Undescribed}, kind.base)
    monkeypatch.setitem(PARTS.kinds, "aggregator", more)
    with pytest.raises(ValueError, match="docstring of Undescribed has no paragraph 'Cost"):
        methods.page()


def test_a_changed_docstring_is_noticed(monkeypatch):
    monkeypatch.setattr(MultiKrum, "__doc__", MultiKrum.__doc__.replace("lowest", "best"))
    assert methods.page() != TEXT


def test_the_page_says_what_is_not_there_and_why():
    ending = TEXT.partition("## What is not here")[2]
    for word in ("RSA", "inverse frequency", "RAGA", "Backdoors", "RAGE needs no data"):
        assert word in ending
