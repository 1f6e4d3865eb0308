"""Bad updates and bad f, one by one, against rules of every kind."""

import numpy as np
import pytest
import torch

from wola.aggregation import (
    Krum,
    MultiKrum,
    TrimmedMean,
)
from wola.mixing import NNM

X = torch.arange(15.0).reshape(5, 3)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (X[0], ValueError, r"updates has shape \(3,\)"),
        (X[None], ValueError, r"updates has shape \(1, 5, 3\)"),
        (torch.tensor(1.0), ValueError, r"updates has shape \(\)"),
        (X[:0], ValueError, "n = 0"),
        ([], ValueError, "n = 0"),
        ((), ValueError, "n = 0"),
        ([X[0], X[1], X[2, :2]], ValueError, r"updates\[2\] has shape \(2,\); expected \(3,\)"),
        ([X[0], X[1:3]], ValueError, r"updates\[1\] has shape \(2, 3\)"),
        ([X, X, X], ValueError, r"updates\[0\] has shape \(5, 3\)"),
        ([X[0], X[1], X[2].double()], TypeError, r"updates\[2\] is torch.float64"),
        (X.int(), TypeError, "torch.int32"),
        (X > 3, TypeError, "torch.bool"),
        (X.to(torch.complex64), TypeError, "torch.complex64"),
        (X.numpy().astype(np.int64), TypeError, "int64"),
        (X.numpy().astype(np.longdouble), TypeError, str(np.dtype(np.longdouble))),
        (X.numpy().astype(object), TypeError, "object"),
        ([X[0].int(), X[1].int(), X[2].int()], TypeError, r"updates\[0\] has dtype torch.int32"),
        (X.tolist(), TypeError, r"updates\[0\] is a list"),
        ([1.0, 2.0, 3.0], TypeError, r"updates\[0\] is a float"),
        ("abc", TypeError, r"updates\[0\] is a str"),
        (None, TypeError, "updates is a NoneType"),
        (3.5, TypeError, "updates is a float"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:30],
)
def test_bad_updates_are_refused_by_name(bad, error, message):
    for rule in (TrimmedMean(), Krum(), NNM() | MultiKrum()):
        with pytest.raises(error, match=message):
            rule(bad, 1)
        with pytest.raises(error, match=message):
            rule.weights(bad, 1)


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (-1, ValueError, "f = -1; allowed: an int >= 0"),
        (1.0, TypeError, "f = 1.0 is a float"),
        ("1", TypeError, "f = '1' is a str"),
        (None, TypeError, "f = None is a NoneType"),
        (True, (TypeError, ValueError), "f = True"),
        (False, (TypeError, ValueError), "f = False"),
        (3, ValueError, "n = 5 workers allows f <= 2, not (f = )?3"),
        (10**30, ValueError, "n = 5 workers allows f <= 2, not (f = )?1000000"),
    ],
)
def test_bad_f_is_refused_by_value(f, error, message):
    for rule in (TrimmedMean(), Krum(), NNM() | TrimmedMean()):
        with pytest.raises(error, match=message):
            rule(X, f)
        with pytest.raises(error, match=message):
            rule.check(5, f)


def test_f_may_be_a_numpy_integer():
    assert torch.equal(TrimmedMean()(X, np.int64(1)), TrimmedMean()(X, 1))


def test_an_iterator_of_updates_is_either_used_or_refused_by_name():
    try:
        result = TrimmedMean()((row for row in X), 1)
    except TypeError as error:
        assert "updates" in str(error)  # noqa: PT017 either outcome is fine
    else:
        assert torch.equal(result, TrimmedMean()(X, 1))
