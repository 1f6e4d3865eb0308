"""Texts of parts: read, refused with a reason, and written so that they read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wola.parts.grammar import Call, GrammarError, parse, part_name, written, written_value

GOOD = {
    "krum": [Call("krum")],
    " krum ( power = 1 ) ": [Call("krum", (("power", 1),))],
    "a(1, -2.5, 1e-3, inf)": [Call("a", tuple((None, v) for v in (1, -2.5, 0.001, float("inf"))))],
    "a(true, false, none)": [Call("a", ((None, True), (None, False), (None, None)))],
    "nnm+krum(power=1)": [Call("nnm"), Call("krum", (("power", 1),))],
    "nnm + bucketing": [Call("nnm"), Call("bucketing")],
    "shared(nnm+krum(power=1))": [Call("shared", ((None, "nnm+krum(power=1)"),))],
    "mlp(hidden=(64, 32))": [Call("mlp", (("hidden", (64, 32)),))],
    "mlp(hidden=[64])": [Call("mlp", (("hidden", (64,)),))],
    "mlp(hidden=())": [Call("mlp", (("hidden", ()),))],
    "npz(/some folder/mine.npz)": [Call("npz", ((None, "/some folder/mine.npz"),))],
    'npz("a, b=c.npz")': [Call("npz", ((None, "a, b=c.npz"),))],
    "npz('it)s')": [Call("npz", ((None, "it)s"),))],
    "my.pkg:Outer.Inner(k=3,)": [Call("my.pkg:Outer.Inner", (("k", 3),))],
    "a()": [Call("a")],
}

BAD = {
    "": "does not begin with a name",
    "3krum": "does not begin with a name",
    "krum(power=1": "'(' is never closed",
    "krum power": "after 'krum'",
    "krum(power=1) x": "after 'krum'",
    "krum(power=)": "a value is missing",
    "krum(a=1, a=2)": "'a' is given 2 times",
    "krum(a=1, 2)": "stands after a key",
    "krum)": "closes nothing",
    "krum([1)]": "closes nothing",
    "krum(a='x)": "is never closed",
    "nnm+": "does not begin with a name",
    "a(,)": "a value is missing",
}


@pytest.mark.parametrize("text", GOOD)
def test_a_text_is_read_as_its_calls(text):
    assert list(parse(text)) == GOOD[text]


@pytest.mark.parametrize("text", BAD)
def test_a_text_that_is_no_part_is_refused_with_a_reason(text):
    with pytest.raises(GrammarError) as caught:
        parse(text)
    assert BAD[text] in str(caught.value)


def test_the_name_of_a_part_is_known_without_reading_its_parameters():
    assert part_name("no.such.module:Rule(k=3)") == "no.such.module:Rule"
    assert part_name("arc+nnm(k=1)") == "arc+nnm"
    assert part_name("not (a part") == "not (a part"


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False),
    st.text(max_size=12),
    st.sampled_from(
        ["1", "true", "none", "1e5", "a=b", "(x)", '"q"', "a+b(c=1)", "x, y", "\\", "'"]
    ),
)
values = st.recursive(plain, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
names = st.from_regex(r"[a-z][a-z0-9-]{0,6}|[a-z]{1,4}\.[a-z]{1,4}:[A-Z][a-z]{0,4}", fullmatch=True)
keys = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)


@given(
    st.lists(st.tuples(names, st.dictionaries(keys, values, max_size=3)), min_size=1, max_size=3)
)
def test_what_is_written_reads_back(drawn):
    calls = [Call(name, tuple(given_arguments.items())) for name, given_arguments in drawn]
    assert list(parse("+".join(map(written, calls)))) == calls


@given(st.lists(values, max_size=3))
def test_values_by_place_read_back(drawn):
    call = Call("a", tuple((None, value) for value in drawn))
    assert parse(written(call)) == (call,)


def test_what_has_no_text_is_refused():
    with pytest.raises(GrammarError, match="a set has no text"):
        written_value({1, 2})
