"""What clients do to a run, and what it survives: one liar, f at once, crashes, kills, resumes."""

from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from flwr.app import Message
from torch import nn

from tests.flower.federations import (
    CLASSES,
    NODES,
    accuracy,
    state_of,
    tiny_clients,
    tiny_data,
    tiny_strategy,
)
from wola.flower import (
    MISBEHAVIOURS,
    LoopbackGrid,
    RoundRecord,
    wola_client,
)
from wola.flower.misbehaviour import silent
from wola.labels import Shared, Uniform, label_counts, label_distribution, total_variation

LIAR = 1005

#: What the record of a round says of a liar that is seen through; the others are outvoted.
SEEN = {
    "nan": ("dropped", "update is not finite"),
    "infinite": ("dropped", "update is not finite"),
    "wrong-shape": ("dropped", "shape (16,); allowed: (15,)"),
    "wrong-dtype": ("dropped", "dtype 'float64'"),
    "wrong-keys": ("dropped", "update holds weights"),
    "huge": ("dropped", "bytes; allowed: at most"),
    "crash": ("missing", "error 2"),
    "replay": ("dropped", "replayed or misdirected: round '1', asked 8"),
}


def told(record: RoundRecord) -> tuple[int, int]:
    return record.n, record.f


@pytest.mark.parametrize("name", [name for name in MISBEHAVIOURS if name != "silent"])
def test_one_liar_of_any_kind_is_dropped_or_outvoted(name: str, tmp_path: Path) -> None:
    rounds = 2 if name == "huge" else 8
    strategy = tiny_strategy(objective=Shared())
    grid = LoopbackGrid(tiny_clients(tmp_path, liars={4: name}))
    result = strategy.start(grid, num_rounds=rounds)
    assert strategy.ending == "finished"
    assert bool(state_of(result.arrays).isfinite().all())
    assert accuracy(result.arrays) > 0.9
    last = strategy.records[-1]
    assert last.skipped is None
    if name in SEEN:
        place, reason = SEEN[name]
        assert reason in getattr(last, place)[LIAR]
        assert told(last) == ((4, 0) if place == "dropped" else (4, 1))
    else:
        assert last.replied == tuple(NODES)
        assert told(last) == (5, 1)


def test_what_an_error_at_a_client_says_does_not_reach_the_server(tmp_path: Path) -> None:
    strategy = tiny_strategy()
    strategy.start(LoopbackGrid(tiny_clients(tmp_path, liars={4: "crash"})), num_rounds=1)
    reason = strategy.records[-1].missing[LIAR]
    assert "training failed (RuntimeError)" in reason
    assert "told to crash" not in reason


def test_a_slow_client_is_not_waited_for(tmp_path: Path) -> None:
    strategy = tiny_strategy(deadline=60.0)
    apps = tiny_clients(tmp_path, liars={4: silent(30.0)})
    result = strategy.start(LoopbackGrid(apps, background=[LIAR]), num_rounds=3)
    assert accuracy(result.arrays) > 0.8
    for record in strategy.records:
        assert list(record.missing) == [LIAR]
        assert record.seconds["collect"] < 20
        assert told(record) == (4, 1)


def test_a_slow_client_costs_a_deadline_where_all_are_needed(tmp_path: Path) -> None:
    strategy = tiny_strategy(deadline=0.2, quorum=5)
    apps = tiny_clients(tmp_path, liars={4: silent(30.0)})
    strategy.start(LoopbackGrid(apps, background=[LIAR]), num_rounds=1)
    (record,) = strategy.records
    assert record.skipped is None
    assert record.seconds["collect"] >= 0.2


def test_a_killed_node_is_missing_and_is_asked_again_when_it_is_back(tmp_path: Path) -> None:
    apps = tiny_clients(tmp_path)

    class Stumbling(LoopbackGrid):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
            number = int(next(iter(messages)).metadata.group_id.split("-")[0])
            if number == 2:
                self.kill(LIAR)
            if number == 4:
                self.join(LIAR, apps[4])
            return super().push_messages(messages)

    strategy = tiny_strategy()
    strategy.start(Stumbling(apps), num_rounds=5)
    missing = [list(record.missing) for record in strategy.records]
    assert missing == [[], [LIAR], [LIAR], [], []]
    assert strategy.records[1].missing[LIAR] == "error 5: Node Unavailable"
    assert [told(record) for record in strategy.records[:2]] == [(5, 1), (4, 1)]


def test_f_liars_of_different_kinds_at_once_do_no_harm(tmp_path: Path) -> None:
    liars = {5: "scaled", 6: "nan", 7: "wrong-shape", 8: "crash"}
    strategy = tiny_strategy(n=9, f=4, objective=Shared())
    result = strategy.start(LoopbackGrid(tiny_clients(tmp_path, 9, liars)), num_rounds=8)
    assert accuracy(result.arrays) > 0.9
    last = strategy.records[-1]
    assert (told(last), len(last.dropped), len(last.missing)) == ((6, 2), 2, 1)


@pytest.mark.parametrize("name", ["sign-flip", "infinite", "replay", "label-flip", "gaussian"])
def test_f_liars_of_one_kind_at_once_do_no_harm(name: str, tmp_path: Path) -> None:
    strategy = tiny_strategy(n=7, f=2, objective=Shared())
    apps = tiny_clients(tmp_path, 7, {5: name, 6: name})
    result = strategy.start(LoopbackGrid(apps), num_rounds=8)
    assert accuracy(result.arrays) > 0.9


def test_liars_about_labels_hardly_move_q(tmp_path: Path) -> None:
    counts = [label_counts(tiny_data(worker)[1], CLASSES) for worker in range(5)]
    honest = torch.stack([label_distribution(row) for row in counts]).mean(0)
    strategy = tiny_strategy(n=7, f=2, objective=Shared())
    apps = tiny_clients(tmp_path, 7, {5: "lie-labels", 6: "lie-labels"})
    strategy.start(LoopbackGrid(apps), num_rounds=1)
    assert strategy.run.q is not None
    assert total_variation(strategy.run.q, honest) < 0.12
    # The mean of all seven reports would be off by almost twice as much as that.
    lie = torch.eye(CLASSES, dtype=torch.float64)[honest.argmin()]
    assert total_variation((5 * honest + 2 * lie) / 7, honest) > 0.15


def test_all_clients_gone_ends_the_run_with_a_reason_and_keeps_the_model(tmp_path: Path) -> None:
    class Emptying(LoopbackGrid):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
            number = int(next(iter(messages)).metadata.group_id.split("-")[0])
            if number == 3:
                for node in NODES:
                    self.kill(node)
            return super().push_messages(messages)

    strategy = tiny_strategy(empty_rounds=2)
    expected = tiny_strategy().start(LoopbackGrid(tiny_clients(tmp_path / "b")), num_rounds=2)
    result = strategy.start(Emptying(tiny_clients(tmp_path / "a")), num_rounds=50)
    assert strategy.ending.startswith("2 rounds in a row without a step: ")
    assert [record.skipped is None for record in strategy.records] == [True, True, False, False]
    assert torch.equal(state_of(result.arrays), state_of(expected.arrays))


def test_nobody_ever_there_ends_the_run_as_well() -> None:
    strategy = tiny_strategy(deadline=0.05, patience=0.05, objective=Shared())
    result = strategy.start(LoopbackGrid([]), num_rounds=5)
    assert strategy.ending.startswith("q could not be settled: ")
    assert len(strategy.records) == 3
    assert bool((state_of(result.arrays) == 0).all())
    uniform = tiny_strategy(deadline=0.05, patience=0.05)
    uniform.start(LoopbackGrid([]), num_rounds=5)
    assert uniform.ending.startswith("3 rounds in a row without a step: ")


def test_a_round_with_too_few_left_is_skipped_and_the_next_goes_on(tmp_path: Path) -> None:
    apps = tiny_clients(tmp_path)

    class Stumbling(LoopbackGrid):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
            number = int(next(iter(messages)).metadata.group_id.split("-")[0])
            for i, node in enumerate(NODES[:3]):
                self.kill(node) if number == 2 else self.join(node, apps[i])
            return super().push_messages(messages)

    strategy = tiny_strategy()
    strategy.start(Stumbling(apps), num_rounds=3)
    skipped = [record.skipped for record in strategy.records]
    assert skipped[0] is None
    assert skipped[2] is None
    assert "n = 2 workers" in str(skipped[1])


def test_a_client_with_another_model_is_told_and_left_out_of_the_run(tmp_path: Path) -> None:
    apps = tiny_clients(tmp_path)
    odd = wola_client(nn.Linear(4, 4), tiny_data(4), classes=CLASSES, state=tmp_path)
    strategy = tiny_strategy(objective=Shared())
    result = strategy.start(LoopbackGrid([*apps[:4], odd]), num_rounds=4)
    assert accuracy(result.arrays) > 0.8
    assert "fingerprint" in strategy.records[0].refused[LIAR]
    for record in strategy.records[1:]:
        assert record.replied == tuple(NODES[:4])
        assert not record.missing
        assert told(record) == (4, 1)


def test_another_model_is_found_in_the_first_round_when_there_is_no_query(tmp_path: Path) -> None:
    apps = tiny_clients(tmp_path)
    odd = wola_client(nn.Linear(4, 4), tiny_data(4), classes=CLASSES, state=tmp_path)
    strategy = tiny_strategy(objective=Uniform())
    strategy.start(LoopbackGrid([*apps[:4], odd]), num_rounds=2)
    first, second = strategy.records
    assert "fingerprint" in first.refused[LIAR]
    assert not second.refused | second.missing | second.dropped
    assert told(second) == (4, 1)


def test_a_swapped_sender_changes_nothing(tmp_path: Path) -> None:
    class Forged(LoopbackGrid):
        def answer(self, node: int, message: Message) -> Message | None:
            reply = super().answer(node, message)
            assert reply is not None
            if node == LIAR:
                reply.metadata.__dict__["_src_node_id"] = NODES[0]
            return reply

    plain = tiny_strategy().start(LoopbackGrid(tiny_clients(tmp_path / "a")), num_rounds=2)
    strategy = tiny_strategy()
    forged = strategy.start(Forged(tiny_clients(tmp_path / "b")), num_rounds=2)
    assert strategy.records[-1].replied == tuple(NODES)
    assert torch.equal(state_of(plain.arrays), state_of(forged.arrays))


def test_arrival_does_not_matter(tmp_path: Path) -> None:
    class Reversed(LoopbackGrid):
        def get_node_ids(self) -> Iterable[int]:
            return reversed(list(super().get_node_ids()))

    one = tiny_strategy().start(LoopbackGrid(tiny_clients(tmp_path / "a")), num_rounds=2)
    other = tiny_strategy().start(Reversed(tiny_clients(tmp_path / "b")), num_rounds=2)
    assert torch.equal(state_of(one.arrays), state_of(other.arrays))
