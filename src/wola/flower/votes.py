"""Who has a vote: each key signs for one client, and what it costs a client to send nonsense."""

from collections import Counter
from typing import Any, Protocol, TypeVar

from wola.flower.collect import Collected


class Signed(Protocol):
    """What is kept of a reply that may be signed."""

    @property
    def key(self) -> bytes | None:
        """The key that signed; None where replies need no signature."""


_V = TypeVar("_V", bound=Signed)


def one_vote_per_key(collected: Collected[_V]) -> None:
    """Drops the replies of all nodes that signed with the same key: none of them is to be trusted.

    The owner of a stolen key and the thief cannot be told apart. Keeping one of the replies would
    leave the holder of the key a vote while f is lowered; an invalid reply counts as one here too.
    """
    accepted = {n: each.key for n, each in collected.accepted.items() if each.key is not None}
    invalid = {n: key for n, key in collected.signers.items() if n in collected.dropped}
    uses = Counter([*accepted.values(), *invalid.values()])
    for node, key in accepted.items():
        if uses[key] > 1:
            del collected.accepted[node]
            collected.dropped[node] = "its key signed the replies of several nodes"
            collected.signers[node] = key
    collected.dropped = dict(sorted(collected.dropped.items()))


def liars_dropped(collected: Collected[Any], keys: frozenset[bytes] | None) -> int:
    """How many of the f liars are known to be without a vote: what f is lowered by.

    Without `keys` it is one for each node whose reply was dropped. With them a liar is a key: one
    for each key that signed dropped replies, however many nodes sent them. A dropped reply that
    no key signed is one more only as long as there are keys that nobody was heard with: where
    all clients were heard, it came from an outsider.

    >>> collected = Collected(dropped={1: "its key...", 2: "its key..."})
    >>> collected.signers = {1: b"stolen", 2: b"stolen"}
    >>> liars_dropped(collected, frozenset([b"stolen", b"other"]))
    1
    """
    if keys is None:
        return len(collected.dropped)
    known = {key for node, key in collected.signers.items() if node in collected.dropped}
    voted = {each.key for each in collected.accepted.values() if each.key is not None}
    unheard = len(keys - voted - set(collected.signers.values()))
    nameless = sum(node not in collected.signers for node in collected.dropped)
    return len(known) + min(nameless, unheard)
