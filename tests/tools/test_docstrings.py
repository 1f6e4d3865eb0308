"""What docstrings say of a part, piece by piece, and as Markdown."""

import pytest

from tools.docstrings import Described, Unsaid, described, markdown


class Whole:
    r"""One line, :math:`x_i`.

    .. math:: a
        = b

    Some words: not a label.

    Defaults: `a`, `b`: ours; `c`: its authors; they say so.

    Needs: a thing.

    Cost: one
    pass.

    Reference: none.

    >>> 1 + 1
    2
    """


class Silent:
    """One line.

    Cost: one pass.
    """


def test_a_docstring_is_taken_apart_without_its_examples():
    told = described(Whole)
    assert told.line == "One line, :math:`x_i`."
    assert told.paragraphs == (".. math:: a\n    = b", "Some words: not a label.")
    assert list(told.labelled) == ["Defaults", "Needs", "Cost", "Reference"]
    assert told.labelled["Cost"] == "one pass."


def test_defaults_are_told_of_one_by_one_or_together():
    found = described(Whole).defaults(["a", "b", "c"])
    assert found == {("a", "b"): "ours", ("c",): "its authors; they say so."}


@pytest.mark.parametrize("parameters", [["a", "b"], ["a", "b", "c", "d"]])
def test_a_parameter_too_many_or_too_few_is_refused(parameters):
    with pytest.raises(Unsaid, match=r"names \['a', 'b', 'c'\]; allowed: its param"):
        described(Whole).defaults(parameters)


def test_a_default_from_nowhere_is_refused():
    told = Described("Rule", "A rule.", (), {"Defaults": "`a`: somewhere"})
    with pytest.raises(Unsaid, match="default of `a` is from 'somewhere'; allowed: what"):
        told.defaults(["a"])


def test_a_docstring_without_its_paragraphs_is_refused_by_name():
    with pytest.raises(Unsaid, match=r"docstring of Silent .* Reference is missing"):
        described(Silent)


def test_an_inherited_docstring_says_nothing_of_the_part():
    class Heir(Whole):
        pass

    with pytest.raises(Unsaid, match="Heir has no docstring of its own; allowed"):
        described(Heir)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. math:: a\n    = b", "$$\na = b\n$$"),
        ("``code`` and `name` and :class:`Rule`", "`code` and `name` and `Rule`"),
        (":func:`~wola.data.sampling.share_out`: <u, v> * 2", "`share_out`: \\<u, v> \\* 2"),
        ("`a < b` stays", "`a < b` stays"),
    ],
)
def test_paragraphs_become_markdown(text, expected):
    assert markdown(text) == expected
