"""What the server knows beside the updates: its rows, label reports and the rule's memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from flwr.app import ArrayRecord, Context, Message
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import Strategy

from tests.flower.federations import (
    NODES,
    JoinedLater,
    accuracy,
    state_of,
    tiny_clients,
    tiny_data,
    tiny_model,
    tiny_strategy,
)
from tests.flower.knowing_rules import Attendance, FirstClass, Halving
from tests.flower.own_loss import ConstantWeight
from wola.aggregation import BOBA, FLTrust, Mean, Rule, Zeno
from wola.flower import (
    LoopbackGrid,
    Recipe,
    WolaStrategy,
    generate_keypair,
    load_public_keys,
    wire,
)
from wola.flower.collect import Collected
from wola.flower.reply_checks import LabelReport, Update
from wola.flower.server_knowledge import ServerKnowledge, client_name
from wola.labels import Shared, label_counts, label_distribution
from wola.mixing import NNM
from wola.training import CheckpointError, ServerData

DATA = ServerData(*tiny_data(7), classes=3)


def absent(apps: list[ClientApp], rounds: dict[int, tuple[int, ...]]) -> LoopbackGrid:
    """A federation in which some nodes fail in some rounds of training."""

    def failing(app: ClientApp, when: tuple[int, ...]) -> Any:
        def answer(message: Message, context: Context) -> Message:
            asked = message.content[wire.RECORD]
            if asked["kind"] == wire.TRAIN and asked["round"] in when:
                raise RuntimeError("away")
            return app(message, context)

        return answer

    grid = LoopbackGrid(apps)
    for node, when in rounds.items():
        grid.apps[node] = failing(apps[NODES.index(node)], when)
    return grid


def collected_of(*values: float) -> Collected[Update]:
    """Updates of as many nodes, each one number over and over."""
    updates = [Update(torch.full((15,), value), torch.zeros(0)) for value in values]
    return Collected(accepted=dict(zip(NODES, updates, strict=False)))


@pytest.mark.parametrize("rule", [Attendance(), NNM() | Attendance()], ids=str)
def test_rounds_are_remembered_by_node_and_those_who_were_away_keep_theirs(
    rule: Rule, tmp_path: Path
) -> None:
    strategy = tiny_strategy(rule=rule)
    grid = absent(tiny_clients(tmp_path), {1002: (1, 2, 4), 1005: (2,)})
    strategy.start(grid, num_rounds=4)
    memory = {name: float(count) for name, count in strategy.run.knowledge.memory.items()}
    assert memory == {1001: 4, 1002: 1, 1003: 4, 1004: 4, 1005: 3}


def test_weights_follow_the_memory_of_each_node_whatever_the_order_of_the_rows(
    tmp_path: Path,
) -> None:
    strategy = tiny_strategy(rule=Attendance())
    strategy.start(absent(tiny_clients(tmp_path), {1002: (1, 2), 1005: (2,)}), num_rounds=3)
    shares = {1001: 1 / 3, 1002: 1.0, 1003: 1 / 3, 1004: 1 / 3, 1005: 1 / 2}
    total = sum(shares.values())
    weights = strategy.records[-1].weights
    assert weights == pytest.approx({node: each / total for node, each in shares.items()})


def test_where_clients_sign_their_key_is_their_name(tmp_path: Path) -> None:
    pairs = [generate_keypair(tmp_path / "keys", f"client-{i}") for i in range(5)]
    public = [path for _, path in pairs]
    strategy = tiny_strategy(rule=Attendance(), keys=public, objective=Shared())
    apps = tiny_clients(tmp_path, key=lambda worker: pairs[worker][0])
    strategy.start(LoopbackGrid(apps), num_rounds=2)
    names = {key.hex() for key in load_public_keys(public)}
    assert set(strategy.run.knowledge.memory) == names
    assert set(strategy.run.knowledge.reports) == names


def test_a_client_that_moves_to_another_node_keeps_its_name_with_its_key() -> None:
    update = Update(torch.zeros(1), torch.zeros(0), key=bytes(31) + b"\x01")
    assert client_name(1001, update) == client_name(9, update) == "00" * 31 + "01"
    assert client_name(9, replace(update, key=None)) == 9


def test_a_step_that_would_not_be_finite_leaves_the_memory_as_it_was() -> None:
    strategy = tiny_strategy(n=3, f=0, rule=Attendance(), recipe=Recipe(lr=1e6))
    assert strategy.run.step(1, collected_of(1.0, 2.0, 3.0), 0.0).skipped is None
    before = strategy.run.knowledge.memory
    assert {name: float(count) for name, count in before.items()} == {1001: 1, 1002: 1, 1003: 1}
    record = strategy.run.step(2, collected_of(1e36, 1e36, 1e36), 0.0)
    assert record.skipped == "the model would not be finite"
    assert strategy.run.knowledge.memory is before


def test_a_rule_that_fails_leaves_the_memory_as_it_was() -> None:
    class Failing(Attendance):
        def weigh(self, space: Any, f: int) -> Any:
            if space.view.memory:
                raise RuntimeError("singular")
            return super().weigh(space, f)

    strategy = tiny_strategy(n=3, f=0, rule=Failing())
    strategy.run.step(1, collected_of(1.0, 2.0, 3.0), 0.0)
    before = strategy.run.knowledge.memory
    assert strategy.run.step(2, collected_of(1.0), 0.0).skipped == "the rule failed: singular"
    assert strategy.run.knowledge.memory is before
    assert len(before) == 3


def test_a_row_of_a_large_matrix_is_saved_without_the_matrix() -> None:
    known = tiny_strategy(rule=Attendance()).run.knowledge
    known.memory = {1001: torch.zeros(1000, 10)[3]}
    (row,) = known.state_dict()["memory"].values()
    assert row.untyped_storage().nbytes() == 10 * 4


def test_labels_are_those_that_each_client_reported(tmp_path: Path) -> None:
    strategy = tiny_strategy(rule=FirstClass(), objective=Shared())
    strategy.start(absent(tiny_clients(tmp_path), {1003: (2,)}), num_rounds=2)
    for record in strategy.records[1:]:
        there = [node for node in NODES if node in record.replied]
        counts = [label_counts(tiny_data(node - NODES[0])[1], 3) for node in there]
        shares = [float(label_distribution(each)[0]) for each in counts]
        expected = {node: each / sum(shares) for node, each in zip(there, shares, strict=True)}
        assert record.weights == pytest.approx(expected)
    assert 1003 not in strategy.records[2].replied


def test_a_client_that_reported_no_labels_is_left_out_where_the_rule_needs_them(
    tmp_path: Path,
) -> None:
    apps = tiny_clients(tmp_path)

    def records_of(rule: Rule) -> Any:
        options = {"objective": Shared(), "min_nodes": 4, "quorum": 5, "deadline": 0.5}
        strategy = tiny_strategy(rule=rule, **options)
        strategy.start(JoinedLater(apps), num_rounds=3)
        return strategy.records

    records = records_of(FirstClass())
    assert [len(record.replied) for record in records] == [4, 4, 4, 4]
    reason = "it did not report its labels in the query, and the rule needs them"
    assert [dict(record.refused) for record in records] == [{}, {}, {1005: reason}, {}]
    assert (records[2].n, records[2].f) == (4, 1)
    assert [len(record.replied) for record in records_of(Mean())] == [4, 4, 5, 5]


def test_reports_of_an_earlier_query_are_not_kept() -> None:
    strategy = tiny_strategy(rule=FirstClass(), objective=Shared())
    known = strategy.run.knowledge
    one, other = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0])
    known.keep_reports(Collected(accepted={1001: LabelReport(one), 1002: LabelReport(one)}))
    known.keep_reports(Collected(accepted={1002: LabelReport(other)}))
    assert list(known.reports) == [1002]
    assert torch.equal(known.reports[1002], other)


class Listening(LoopbackGrid):
    """Keeps the last update that each node sent."""

    def __init__(self, apps: Any) -> None:
        super().__init__(apps)
        self.sent: dict[int, torch.Tensor] = {}

    def answer(self, node: int, message: Message) -> Message | None:
        reply = super().answer(node, message)
        assert reply is not None
        if wire.UPDATE in reply.content:
            array = reply.content[wire.UPDATE][wire.UPDATE]
            self.sent[node] = torch.from_numpy(array.numpy().copy())
        return reply


@pytest.mark.parametrize("loss", ["wola", "cross-entropy", "fedlc"])
def test_the_servers_row_is_what_a_client_with_the_same_data_sends(
    loss: str, tmp_path: Path
) -> None:
    # A batch of everything is the same whoever draws it, but for the order of its samples.
    inputs, labels = tiny_data(0)
    recipe = Recipe(
        loss=loss, lr=0.5, batch=len(labels), beta=0.75, clip=0.4, l2=0.1, local_steps=3
    )
    options = {"rule": FLTrust(), "reference": ServerData(inputs, labels, 3), "recipe": recipe}
    strategy = tiny_strategy(objective=Shared(), **options)
    grid = Listening(tiny_clients(tmp_path))
    strategy.start(grid, num_rounds=3)
    reference = strategy.run.knowledge.reference
    assert reference is not None
    torch.testing.assert_close(reference.mean()[0], grid.sent[1001])
    assert not torch.allclose(reference.mean()[0], grid.sent[1002], atol=1e-3)
    assert set(strategy.records[-1].seconds) == {"collect", "reference", "rule"}


KNOWING = {
    "rounds": {"rule": Attendance()},
    "mixed": {"rule": NNM() | Attendance()},
    "aggregate": {"rule": Halving()},
    "mean": {"rule": FLTrust(), "reference": DATA},
    "classes": {"rule": BOBA(), "reference": DATA},
    "losses": {"rule": Zeno(), "reference": DATA},
    "labels": {"rule": FirstClass()},
}


def run(folder: Path, rounds: int, **options: Any) -> tuple[WolaStrategy, torch.Tensor]:
    strategy = tiny_strategy(objective=Shared(), **options)
    grid = absent(tiny_clients(folder), {1002: (1, 2), 1004: (4,)})
    return strategy, state_of(strategy.start(grid, num_rounds=rounds).arrays)


@pytest.mark.parametrize("what", KNOWING)
def test_a_run_that_is_taken_up_again_ends_in_the_same_bits(what: str, tmp_path: Path) -> None:
    options = KNOWING[what]
    whole, expected = run(tmp_path / "a", 5, **options)
    for rounds in (2, 3, 5):
        strategy, made = run(tmp_path / "b", rounds, checkpoint=tmp_path / "c", **options)
    assert [record.skipped for record in whole.records] == [None] * 6
    assert torch.equal(made, expected)
    known = strategy.run.knowledge.state_dict()
    for kind, kept in whole.run.knowledge.state_dict().items():
        assert known[kind].keys() == kept.keys()
        assert all(torch.equal(known[kind][name], value) for name, value in kept.items())


@pytest.mark.parametrize("what", ["rounds", "mixed", "aggregate", "mean", "classes"])
def test_a_server_that_forgot_what_it_knew_would_end_in_another_model(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**KNOWING[what], "checkpoint": tmp_path / "c"}
    _, expected = run(tmp_path / "a", 4, **KNOWING[what])
    run(tmp_path / "b", 2, **options)
    monkeypatch.setattr(ServerKnowledge, "load_state_dict", lambda self, state: None)
    _, made = run(tmp_path / "b", 4, **options)
    assert float((made - expected).abs().max()) > 1e-4


def test_the_checkpoint_of_another_rule_with_a_state_is_refused(tmp_path: Path) -> None:
    run(tmp_path, 1, checkpoint=tmp_path / "c", **KNOWING["rounds"])
    with pytest.raises(CheckpointError, match=r"rule = 'Attendance\(\)' there, 'FLTrust\(\)' here"):
        run(tmp_path, 2, checkpoint=tmp_path / "c", **KNOWING["mean"])


def test_the_server_has_momentum_in_a_round_that_is_skipped_as_its_clients_have() -> None:
    strategy = tiny_strategy(rule=FLTrust(), reference=DATA, recipe=Recipe(batch=60, beta=0.5))
    known = strategy.run.knowledge
    skipped = strategy.run.step(1, collected_of(), 0.0).skipped
    assert skipped is not None
    assert known.reference is not None
    first = known.reference.mean().clone()
    strategy.run.step(2, collected_of(), 0.0)
    # The model did not move: half of the gradient, then three quarters of it.
    torch.testing.assert_close(known.reference.mean(), 1.5 * first)


def test_a_row_of_the_server_that_is_not_finite_skips_the_round_and_is_not_remembered() -> None:
    data = ServerData(DATA.inputs.clone(), DATA.labels, 3)
    run = tiny_strategy(n=3, f=0, rule=FLTrust(), reference=data).run
    assert run.step(1, collected_of(1.0, 2.0, 3.0), 0.0).skipped is None
    assert run.knowledge.reference is not None
    before, model = run.knowledge.reference.mean().clone(), run.model.flat.parameters.clone()
    data.inputs.fill_(torch.inf)
    record = run.step(2, collected_of(1.0, 2.0, 3.0), 0.0)
    assert record.skipped == "the server's own update failed: not finite"
    assert torch.equal(run.knowledge.reference.mean(), before)
    assert torch.equal(run.model.flat.parameters, model)


def test_flowers_own_loop_gives_the_same_model(tmp_path: Path) -> None:
    options = {"rule": FLTrust(), "reference": DATA, "objective": Shared()}
    expected = tiny_strategy(**options).start(
        LoopbackGrid(tiny_clients(tmp_path / "a")), num_rounds=3
    )
    start = ArrayRecord(tiny_model().state_dict())
    grid = LoopbackGrid(tiny_clients(tmp_path / "b"))
    result = Strategy.start(tiny_strategy(**options), grid, start, num_rounds=3)
    assert torch.equal(state_of(result.arrays), state_of(expected.arrays))


@pytest.mark.parametrize("rule", ["fltrust", "nnm+boba", "zeno(samples=30)", "lfr"])
def test_a_federation_with_data_of_the_servers_own_withstands_scaled_liars(
    rule: str, tmp_path: Path
) -> None:
    strategy = tiny_strategy(n=7, f=2, rule=rule, reference=DATA)
    apps = tiny_clients(tmp_path, 7, liars={5: "scaled", 6: "sign-flip"})
    result = strategy.start(LoopbackGrid(apps), num_rounds=8)
    assert accuracy(result.arrays) > 0.9


def test_every_start_is_a_new_run_that_knows_nothing_of_the_one_before(tmp_path: Path) -> None:
    strategy = tiny_strategy(rule=Attendance())
    first = strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=2)
    second = strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=2)
    assert torch.equal(state_of(first.arrays), state_of(second.arrays))
    assert {float(count) for count in strategy.run.knowledge.memory.values()} == {2.0}


def test_the_server_trains_on_a_loss_of_ones_own_too(tmp_path: Path) -> None:
    rows = []
    for weight in (1.0, 2.0):
        loss = ConstantWeight(weight)
        recipe = Recipe(batch=16, lr=0.5, loss=loss)
        strategy = tiny_strategy(rule=FLTrust(), reference=DATA, recipe=recipe)
        apps = tiny_clients(tmp_path / str(weight), loss=lambda worker, loss=loss: loss)
        strategy.start(LoopbackGrid(apps), num_rounds=1)
        assert strategy.run.knowledge.reference is not None
        rows.append(strategy.run.knowledge.reference.mean())
    torch.testing.assert_close(rows[1], 2 * rows[0])
