"""Whose vote counts, and what a dropped reply takes off f."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.flower.collect import Collected
from wola.flower.reply_checks import Update
from wola.flower.votes import liars_dropped, one_vote_per_key

KEYS = frozenset([b"a", b"b", b"c", b"d", b"e"])


def vote(key: bytes | None) -> Update:
    return Update(torch.zeros(1), torch.zeros(0), key)


def test_nodes_that_share_a_key_lose_their_votes() -> None:
    collected = Collected(accepted={1: vote(b"a"), 2: vote(b"b"), 3: vote(b"a"), 4: vote(b"c")})
    one_vote_per_key(collected)
    assert list(collected.accepted) == [2, 4]
    assert list(collected.dropped) == [1, 3]
    assert collected.signers == {1: b"a", 3: b"a"}
    unsigned = Collected(accepted={1: vote(None), 2: vote(None)})
    one_vote_per_key(unsigned)
    assert list(unsigned.accepted) == [1, 2]


def test_an_invalid_reply_takes_the_vote_of_its_key_on_another_node() -> None:
    collected = Collected(
        accepted={1: vote(b"a"), 2: vote(b"b")}, dropped={3: "nan"}, signers={3: b"a"}
    )
    one_vote_per_key(collected)
    assert list(collected.accepted) == [2]
    assert list(collected.dropped) == [1, 3]
    assert liars_dropped(collected, KEYS) == 1


def test_a_refusal_takes_no_vote_away() -> None:
    collected = Collected(accepted={1: vote(b"a")}, refused={2: "no"}, signers={2: b"a"})
    one_vote_per_key(collected)
    assert list(collected.accepted) == [1]
    assert liars_dropped(collected, KEYS) == 0


def test_without_keys_each_dropped_node_is_one_liar() -> None:
    assert liars_dropped(Collected(dropped={1: "nan", 2: "shape"}), None) == 2


def test_unsigned_replies_of_outsiders_take_nothing_off_f_once_all_clients_were_heard() -> None:
    accepted = {i: vote(bytes([key])) for i, key in enumerate(b"abcde")}
    outsiders = dict.fromkeys((7, 8, 9), "not signed")
    assert liars_dropped(Collected(accepted=accepted, dropped=outsiders), KEYS) == 0
    del accepted[0]
    assert liars_dropped(Collected(accepted=accepted, dropped=outsiders), KEYS) == 1
    refused = Collected(accepted, outsiders, refused={6: "no"}, signers={6: b"a"})
    assert liars_dropped(refused, KEYS) == 0


@given(st.lists(st.tuples(st.sampled_from(sorted(KEYS)), st.booleans()), max_size=12))
def test_f_never_falls_by_more_than_the_keys_without_a_vote(
    replies: list[tuple[bytes, bool]],
) -> None:
    collected: Collected[Update] = Collected()
    for node, (key, valid) in enumerate(replies):
        if valid:
            collected.accepted[node] = vote(key)
        else:
            collected.dropped[node], collected.signers[node] = "nan", key
    one_vote_per_key(collected)
    voting = [each.key for each in collected.accepted.values()]
    assert len(set(voting)) == len(voting)
    silenced = {key for key, _ in replies} - set(voting)
    assert liars_dropped(collected, KEYS) == len(silenced)
