"""The public battery for every rule that must know more than the updates."""

import pytest

from tests.aggregation.knowing_rules import KNOWING
from wola.testing import check_rule


@pytest.mark.parametrize("entry", KNOWING, ids=str)
def test_the_battery_passes(entry):
    check_rule(entry.rule, view=entry.view, **entry.options)
