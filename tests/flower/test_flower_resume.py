"""A server killed in any round, and taken up again, ends in the same model."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from flwr.app import Message

from tests.flower.federations import state_of, tiny_clients, tiny_strategy
from wola.flower import LoopbackGrid, Recipe, RoundRecord, training_run
from wola.flower.checkpoint import Saved, save_checkpoint
from wola.labels import Shared


@pytest.mark.parametrize("phase", ["push", "pull", "save"])
@pytest.mark.parametrize("killed", [1, 2, 3, 4])
def test_a_run_killed_in_any_round_ends_in_the_same_model(
    phase: str, killed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {
        "objective": Shared(),
        "recipe": Recipe(lr=0.1, batch=16, server="adam"),
        "checkpoint": tmp_path / "server.pt",
        "records": tmp_path / "records.jsonl",
    }
    whole = tiny_strategy(**{**options, "checkpoint": None, "records": None})
    expected = whole.start(LoopbackGrid(tiny_clients(tmp_path / "whole")), num_rounds=4)

    class Killed(LoopbackGrid):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
            self.number = int(next(iter(messages)).metadata.group_id.split("-")[0])
            if phase == "push" and self.number == killed:
                raise KeyboardInterrupt
            return super().push_messages(messages)

        def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
            if phase == "pull" and self.number == killed:
                raise KeyboardInterrupt
            return super().pull_messages(message_ids)

    def save(path: Any, identity: Any, saved: Saved) -> None:
        if phase == "save" and saved.round == killed:
            raise KeyboardInterrupt
        save_checkpoint(path, identity, saved)

    monkeypatch.setattr(training_run, "save_checkpoint", save)
    first = tiny_strategy(**options)
    with pytest.raises(KeyboardInterrupt):
        first.start(Killed(tiny_clients(tmp_path / "cut")), num_rounds=4)
    monkeypatch.undo()
    second = tiny_strategy(**options)
    result = second.start(LoopbackGrid(tiny_clients(tmp_path / "cut")), num_rounds=4)
    assert torch.equal(state_of(result.arrays), state_of(expected.arrays))
    assert [record.round for record in second.records] == [0, 1, 2, 3, 4]
    assert second.run.exchange.run == first.run.exchange.run
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    assert [RoundRecord.from_json(line) for line in lines] == second.records
    assert list(result.train_metrics_clientapp) == [0, 1, 2, 3, 4]


def test_clients_that_forgot_their_momentum_would_end_in_another_model(tmp_path: Path) -> None:
    options = {"checkpoint": tmp_path / "server.pt"}
    grid = LoopbackGrid(tiny_clients(tmp_path / "a"))
    whole = tiny_strategy().start(grid, num_rounds=3)
    tiny_strategy(**options).start(LoopbackGrid(tiny_clients(tmp_path / "b")), num_rounds=2)
    forgetful = LoopbackGrid(tiny_clients(tmp_path / "c"))
    result = tiny_strategy(**options).start(forgetful, num_rounds=3)
    assert not torch.allclose(state_of(result.arrays), state_of(whole.arrays), atol=1e-4)


def test_a_new_run_of_flower_goes_on_from_the_checkpoint_and_the_clients_disks(
    tmp_path: Path,
) -> None:
    whole = tiny_strategy().start(LoopbackGrid(tiny_clients(tmp_path / "a")), num_rounds=6)
    for rounds in (2, 4, 6):
        strategy = tiny_strategy(checkpoint=tmp_path / "server.pt")
        grid = LoopbackGrid(tiny_clients(tmp_path / "b"))
        result = strategy.start(grid, num_rounds=rounds)
    assert torch.equal(state_of(result.arrays), state_of(whole.arrays))
