"""Signs that not every terminal has."""

from hypothesis import given
from hypothesis import strategies as st

from wola.ground.signs import PLAIN_SIGNS, plain


def test_what_stands_for_a_sign_is_ascii() -> None:
    for sign, text in PLAIN_SIGNS.items():
        assert not sign.isascii()
        assert text.isascii()


@given(st.text(st.characters(codec="ascii")))
def test_ascii_stays_as_it_is(text: str) -> None:
    assert plain(text) == text
