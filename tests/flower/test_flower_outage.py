"""A run outlasts a SuperLink that is away for a while."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from flwr.app import Message
from httpx import ConnectError, HTTPStatusError, Request, Response

from tests.flower.test_flower_collect import gather
from tests.flower.test_flower_loopback import echo
from wola.flower import LoopbackGrid, outage
from wola.flower.collect import wait_for_nodes
from wola.flower.outage import outlasting

CUT = ConnectError("EOF occurred in violation of protocol (_ssl.c:1007)")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "PAUSE", 0.01)


def broken(times: int, call: Callable[..., Any], error: Exception = CUT) -> Callable[..., Any]:
    """The call, which fails before it works."""
    left = [error] * times

    def attempt(*given: Any) -> Any:
        if left:
            raise left.pop()
        return call(*given)

    return attempt


class Away(LoopbackGrid):
    """A grid whose connection breaks each of the first few times it is used."""

    def __init__(self, nodes: int, times: int) -> None:
        super().__init__([echo] * nodes)
        self.get_node_ids = broken(times, super().get_node_ids)  # type: ignore[method-assign]
        self.push_messages = broken(times, super().push_messages)  # type: ignore[method-assign]
        self.pull_messages = broken(times, super().pull_messages)  # type: ignore[method-assign]


def test_nodes_messages_and_replies_survive_connections_that_break() -> None:
    grid = Away(3, times=2)
    assert wait_for_nodes(grid, at_least=3, patience=5.0) == [1001, 1002, 1003]
    collected = gather(grid, deadline=30.0)
    assert collected.accepted == dict.fromkeys([1001, 1002, 1003], "hello")


def test_a_superlink_that_stays_away_leaves_its_replies_missing() -> None:
    def pull(identifiers: Iterable[str]) -> list[Message]:
        raise CUT

    grid = LoopbackGrid([echo] * 2)
    grid.pull_messages = pull  # type: ignore[method-assign]
    assert list(gather(grid, deadline=0.2).missing) == [1001, 1002]


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "PATIENCE", 0.05)
    with pytest.raises(ConnectError):
        outlasting(broken(10**6, list))


def test_a_refusal_is_no_outage() -> None:
    refused = HTTPStatusError("no", request=Request("POST", "https://a"), response=Response(400))
    with pytest.raises(HTTPStatusError):
        outlasting(broken(1, list, refused))
