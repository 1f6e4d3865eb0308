"""What cannot stand inside another rule is refused in words."""

import pytest

from wola.aggregation import (
    GAS,
    LFR,
    CenteredClipping,
    FLTrust,
    FoolsGold,
    Krum,
    LFRandERR,
)
from wola.mixing import NNM


@pytest.mark.parametrize("outer", [GAS, LFR, LFRandERR])
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (FLTrust(), "needs what the server knows; allowed: a rule that needs no server data"),
        (FoolsGold(), "keeps a memory; allowed: a rule that needs no server data and keeps no"),
        (NNM() | CenteredClipping(history=True), "keeps a memory; allowed: "),
        ("krum", "rule = 'krum' is a str; allowed: a Rule, such as Krum"),
        (Krum, "allowed: a Rule, such as Krum"),
    ],
    ids=str,
)
def test_a_rule_that_needs_or_keeps_something_is_refused(outer, rule, message):
    with pytest.raises(TypeError, match=message):
        outer(rule)


@pytest.mark.parametrize("outer", [GAS, LFR, LFRandERR])
def test_a_rule_that_does_not_is_accepted(outer):
    assert outer(CenteredClipping()).rule == CenteredClipping()
