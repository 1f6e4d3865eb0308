import json

import pytest

from wola.ground.extras import MissingExtra, missing, needed


def test_a_module_that_is_there_is_given():
    assert needed("json", extra="any", what="any") is json


@pytest.mark.parametrize(
    ("module", "extra", "words"),
    [
        ("no_such", "cluster", r"--it needs no_such: pip install 'wola\[cluster\]'"),
        ("no_such.inner", "cluster", r"--it needs no_such: pip install"),
        ("torch.utils.no_such_board", "board", r"--it needs board: pip install 'wola\[board\]'"),
    ],
)
def test_a_module_that_is_not_there_is_told_with_the_extra(module, extra, words):
    with pytest.raises(MissingExtra, match=words):
        needed(module, extra=extra, what="--it")


def test_the_error_is_an_import_error_that_names_the_extra():
    assert isinstance(missing("flwr", extra="flower", what="wola.flower"), ImportError)
