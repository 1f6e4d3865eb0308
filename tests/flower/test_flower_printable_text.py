"""How a client's text may be shown."""

from hypothesis import given
from hypothesis import strategies as st

from wola.flower.printable_text import LONGEST_TEXT, printable_text


def test_a_text_is_cut_and_made_harmless() -> None:
    assert printable_text("x" * 500) == "x" * 200
    assert printable_text("a\x1b[31m\r\nb\u202e") == "a?[31m??b?"


@given(st.text())
def test_whatever_a_client_writes_is_one_printable_line(text: str) -> None:
    shown = printable_text(text)
    assert shown.isprintable()
    assert len(shown) == min(len(text), LONGEST_TEXT)
