"""What a strategy refuses to be told."""

from pathlib import Path
from typing import Any

import pytest

from wola.aggregation import Krum, TrimmedMean
from wola.flower import KeyFileError, generate_keypair, load_public_keys
from wola.flower.settings import allowed_keys, settled


def options(**given: Any) -> dict[str, Any]:
    return {"classes": 10, "n": 7, "f": 2, **given}


def test_defaults_follow_n_and_f() -> None:
    settings = settled(**options())
    assert (settings.quorum, settings.least, settings.min_nodes) == (5, 5, 7)
    assert str(settings.rule) == "NNM() | TrimmedMean()"
    assert settled(**options(n=9, f=2)).quorum == 7
    assert settled(**options(n=9, f=4)).quorum == 9
    assert settled(**options(f=0)).least == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"classes": 0}, "classes = 0; allowed: an int >= 1"),
        ({"f": -1}, "f = -1"),
        ({"f": 4}, "allows f <= 3, not 4"),
        ({"quorum": 4}, "quorum = 4; allowed with n = 7 and f = 2: 5 to 7"),
        ({"quorum": 8}, "quorum = 8"),
        ({"min_nodes": 0}, "min_nodes = 0"),
        ({"empty_rounds": 0}, "empty_rounds = 0"),
        ({"deadline": 0}, "deadline = 0; allowed: a number of seconds > 0"),
        ({"patience": float("inf")}, "patience = inf"),
        ({"deadline": "soon"}, "deadline = 'soon'"),
        ({"evaluate": "maybe"}, "evaluate = 'maybe'; allowed: none, federated"),
        ({"keys": []}, "keys is empty"),
        ({"keys": [b"short"]}, "keys has one of 5 bytes; allowed: 32"),
    ],
)
def test_what_cannot_be_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settled(**options(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": True}, "n = True is a bool; allowed: an int >= 1"),
        ({"f": 1.0}, r"f = 1\.0 is a float; allowed: an int >= 0"),
        ({"quorum": "all"}, "quorum = 'all' is a str; allowed: an int >= 1"),
    ],
)
def test_what_is_no_count_is_named_with_its_type(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        settled(**options(**given))


def test_the_rule_decides_how_few_are_enough() -> None:
    assert settled(**options(rule=TrimmedMean(), f=3, n=7)).least == 7
    assert settled(**options(rule=Krum(), f=1, n=7)).least >= 3


def test_keys_come_from_files_and_as_they_are(tmp_path: Path) -> None:
    _, public = generate_keypair(tmp_path, "a")
    (raw,) = load_public_keys([public])
    assert allowed_keys([public, str(public), raw]) == {raw}
    assert allowed_keys([public, bytes(32)]) == {raw, bytes(32)}
    with pytest.raises(KeyFileError, match="cannot be read"):
        allowed_keys([tmp_path / "missing.pub"])
    with pytest.raises(TypeError, match="allowed: a list"):
        allowed_keys(str(public))


def test_what_identifies_a_training_is_model_recipe_objective_and_federation() -> None:
    first = settled(**options()).identity("f" * 64)
    assert settled(**options(n=9, deadline=5, rule=TrimmedMean())).identity("f" * 64) == first
    assert settled(**options(federation="b")).identity("f" * 64) != first
    assert settled(**options()).identity("e" * 64) != first
