"""What is sealed comes back as it was, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wola.ground.sealed import (
    Damaged,
    DamagedFile,
    read_sealed,
    sealed,
    sealed_bytes,
    sealed_or_left_out,
    unsealed,
    unsealed_bytes,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)
NAMES = st.text(st.characters(codec="utf-8")).filter(lambda name: name != "sha256")


@given(st.dictionaries(NAMES, VALUES), st.sampled_from([None, 2]))
def test_json_comes_back_as_it_was(value, indent):
    assert unsealed(sealed(value, indent=indent)) == value


@given(st.binary())
def test_bytes_come_back_as_they_were(content):
    assert unsealed_bytes(sealed_bytes(content)) == content


@given(st.binary(max_size=40), st.data())
def test_no_flipped_bit_of_bytes_passes(content, data):
    whole = bytearray(sealed_bytes(content))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(Damaged):
        unsealed_bytes(bytes(whole))


@given(st.data())
def test_no_flipped_bit_of_json_gives_another_value(data):
    value = {"accuracy": 80.4, "names": ["a", "\N{SNOWMAN}"], "none": None}
    whole = bytearray(sealed(value))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    try:
        assert unsealed(bytes(whole)) == value
    except Damaged:
        return


@pytest.mark.parametrize(
    "content", [b"", b"null", b"[]", b"3", b"{}", b'{"sha256": "\\ud800"}', b"[" * 100_000]
)
def test_what_is_no_sealed_json_is_damage(content):
    with pytest.raises(Damaged):
        unsealed(content)


def test_plain_json_has_no_seal():
    with pytest.raises(Damaged, match="no sealed JSON"):
        unsealed(json.dumps({"accuracy": 80.4}).encode())


def test_a_damaged_file_is_named_and_left_out(tmp_path):
    path = tmp_path / "note.json"
    assert sealed_or_left_out(path) is None
    path.write_bytes(sealed({"a": 1}))
    assert sealed_or_left_out(path) == {"a": 1}
    path.write_bytes(sealed({"a": 1})[:-4])
    with pytest.warns(DamagedFile, match=r"note\.json is damaged.*left out"):
        assert sealed_or_left_out(path) is None
    with pytest.raises(Damaged, match=r"note\.json is damaged"):
        read_sealed(path)
