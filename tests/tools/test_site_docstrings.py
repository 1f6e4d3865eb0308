"""Docstrings of a package as Markdown, as the reference of the site has them."""

import griffe
import pytest

from tools.site_docstrings import MarkdownDocstrings, page_text


@pytest.fixture
def package(tmp_path):
    room = tmp_path / "house" / "room"
    room.mkdir(parents=True)
    (tmp_path / "house" / "__init__.py").write_text('"""A house."""\n')
    (room / "__init__.py").write_text(
        '"""A room."""\n'
        "from house.room.load import NAMES, load, open_it\n"
        "from house.room.rule import Rule\n"
        '__all__ = ["NAMES", "Rule", "load", "open_it"]\n'
    )
    (room / "load.py").write_text(
        '"""Loading."""\n\n'
        "#: Every name,\n#: in ``order``.\nNAMES = ()\n\n"
        'def load():\n    """Load :math:`x`."""\n\n'
        'def open_it():\n    """Open ``it``."""\n'
    )
    (room / "rule.py").write_text(
        "# No word for readers.\nOTHERS = ()\n\n"
        'class Rule:\n    """A :class:`~house.Rule`."""\n\n'
        '    def solve(self):\n        """Solve ``f``."""\n'
    )
    extensions = griffe.load_extensions(MarkdownDocstrings())
    return griffe.load("house", search_paths=[tmp_path], extensions=extensions)


def test_classes_methods_and_functions_are_written_as_markdown(package):
    assert package["room.Rule"].docstring.value == "A `Rule`."
    assert package["room.Rule.solve"].docstring.value == "Solve `f`."
    assert package["room.open_it"].docstring.value == "Open `it`."


def test_a_function_stands_before_the_module_of_its_name(package):
    assert package["room.load"].is_function
    assert package["room.load"].docstring.value == "Load $x$."


def test_what_is_said_above_a_constant_is_its_docstring(package):
    assert package["room.NAMES"].docstring.value == "Every name, in `order`."
    assert package["room.rule.OTHERS"].docstring is None


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        (".. math:: a\n    = b", "$$\na = b\n$$"),
        ("Words:\n>>> 1 + 1\n2", "Words:\n\n```pycon\n>>> 1 + 1\n2\n```"),
        ("- one ``a``\n- two", "- one ``a``\n- two"),
        ("Cost: one\npass.", "*Cost*: one pass."),
        ("Some words: ``x``.", "Some words: `x`."),
    ],
)
def test_each_paragraph_is_written_in_its_own_way(docstring, text):
    assert page_text(docstring) == text
