"""Whole runs: the same bits everywhere, an end with a reason, and the paper's story on digits."""

import math
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean

import numpy as np
import pytest
import torch

from tests.training.jobs import digest
from wola.labels import LOSSES
from wola.training import (
    AGGREGATORS,
    ATTACKS,
    Callback,
    Checkpoint,
    Scenario,
    simulate,
)

SHORT = Scenario.paper("digits", strategy="WoLA+NNM", steps=12, evaluate_every=5)


class Watcher(Callback):
    """Writes down what it is told."""

    def __init__(self):
        self.told = []

    def on_start(self, scenario, federation, step):
        self.told.append(("start", step))

    def on_step(self, record):
        self.told.append(("step", record.step))

    def on_evaluation(self, evaluation):
        self.told.append(("evaluation", evaluation.step))

    def on_end(self, result):
        self.told.append(("end", result.ending))


def test_callbacks_hear_everything_in_order():
    watcher = Watcher()
    simulate(SHORT.changed(steps=3, evaluate_every=2), callbacks=[watcher])
    assert watcher.told == [
        ("start", 0),
        ("step", 1),
        ("step", 2),
        ("evaluation", 2),
        ("step", 3),
        ("evaluation", 3),
        ("end", "finished"),
    ]


def test_the_model_is_tested_at_multiples_and_at_the_end():
    result = simulate(SHORT)
    assert [evaluation.step for evaluation in result.evaluations] == [5, 10, 12]
    assert result.accuracy == fmean(e.accuracy for e in result.evaluations)
    assert result.final_accuracy == result.evaluations[-1].accuracy


def test_the_same_scenario_gives_the_same_bits_and_another_seed_others():
    assert digest(SHORT) == digest(SHORT)
    assert digest(SHORT) != digest(SHORT.changed(seed=2))


def test_a_pool_of_processes_gives_the_same_bits():
    scenarios = [SHORT, SHORT.changed(attack="gaussian"), SHORT.changed(seed=2)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(digest, scenarios)) == [digest(s) for s in scenarios]


def test_no_global_state_is_used_or_changed():
    expected, before = digest(SHORT), torch.random.get_rng_state()
    numpy_before = np.random.get_state()[1].tolist()  # noqa: NPY002
    threads = torch.get_num_threads()
    assert digest(SHORT) == expected
    assert torch.equal(torch.random.get_rng_state(), before)
    assert np.random.get_state()[1].tolist() == numpy_before  # noqa: NPY002
    assert torch.get_num_threads() == threads
    with torch.random.fork_rng():
        torch.manual_seed(99)
        assert digest(SHORT) == expected


def test_the_seed_of_a_partition_does_not_depend_on_the_strategy():
    one, other = (simulate(SHORT.with_strategy(name)) for name in ("-", "WoLA"))
    assert torch.equal(one.counts, other.counts)


@pytest.mark.parametrize("attack", ["none", *ATTACKS])
def test_every_attack_can_be_met(attack):
    result = simulate(SHORT.changed(attack=attack, steps=2))
    assert result.ending == "finished"


@pytest.mark.parametrize(
    "aggregator",
    [
        *AGGREGATORS,
        "krum(power=1)",
        "multi-krum(power=1)",
        "geometric-median(iterations=10, nu=0.1)",
    ],
)
def test_every_aggregator_can_be_used(aggregator):
    fields = {"aggregator": aggregator, "steps": 2, "byzantine": 3, "mixing": "none"}
    # HullGuard needs more than two workers for each of ten classes beside the Byzantine.
    workers = 24 if aggregator == "hullguard" else SHORT.workers
    scenario = SHORT.changed(**fields, workers=workers, server_data="equal(samples=30)")
    assert simulate(scenario).ending == "finished"


@pytest.mark.parametrize("mixing", ["bucketing", "foundation-fl", "clipping", "arc", "arc+nnm"])
def test_every_mixing_can_be_used(mixing):
    scenario = SHORT.changed(mixing=mixing, steps=2, byzantine=4)
    assert simulate(scenario).ending == "finished"


@pytest.mark.parametrize(
    "partition", ["iid", "shards", "gamma-similarity", "groups", "dirichlet(mode=disjoint)"]
)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_partition_and_loss_can_be_used(partition, loss):
    scenario = SHORT.changed(partition=partition, loss=loss, steps=2, batch=32)
    assert simulate(scenario).ending == "finished"


def test_workers_of_one_class_send_zeros_under_adjusted_logits():
    scenario = SHORT.changed(
        partition="shards(k=1)", loss="logit-adjusted", l2=0, steps=3, attack="none"
    )
    result = simulate(scenario)
    assert result.ending == "finished"
    assert [step.dissimilarity_gradients for step in result.steps] == [0.0] * 3


def test_a_run_that_blows_up_ends_with_a_reason_and_the_last_good_model():
    scenario = SHORT.changed(lr=1e30, clip=0, steps=60, evaluate_every=1, aggregator="mean")
    result = simulate(scenario)
    assert result.ending.startswith("diverged at step ")
    assert len(result.steps) < 60
    assert all(tensor.isfinite().all() for tensor in result.state.values())
    good = [e for e in result.evaluations if math.isfinite(e.loss)]
    assert not good or result.final_accuracy == good[-1].accuracy
    assert result.summary()["ending"] == result.ending


@pytest.mark.parametrize(("every", "first"), [(1, True), (7, False)])
def test_a_run_that_blows_up_is_averaged_over_as_many_tests_as_the_others(every, first):
    scenario = SHORT.changed(
        lr=1e30, clip=0, steps=60, evaluate_every=every, aggregator="mean", attack="none"
    )
    result = simulate(scenario)
    tested = [e.accuracy for e in result.evaluations]
    planned = {1: 60, 7: 9}[every]
    assert result.ending.startswith("diverged")
    assert bool(tested) is first
    after = planned - len(tested)
    assert after > 0
    expected = (sum(tested) + after * result.final_accuracy) / planned
    assert result.accuracy == pytest.approx(expected, rel=1e-12)
    summary = result.summary()
    assert (summary["tests"], summary["tests_after_end"]) == (len(tested), after)
    assert summary["accuracy"] == result.accuracy
    assert result.frame()["accuracy"].count() == len(tested)
    assert f"{len(tested)} tests over training and {after} more with the final model" in repr(
        result
    )


def test_a_run_that_ends_as_planned_has_no_tests_after_its_end():
    summary = simulate(SHORT).summary()
    assert (summary["tests"], summary["tests_after_end"]) == (3, 0)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"attack": "gaussian", "server": "adam", "lr": 0.01},
        {"attack": "mimic-variance", "server": "momentum", "loss": "wola-batch"},
        {"attack": "worst-of(attacks=(sf, mimic-variance(warmup=3)))", "aggregator": "krum"},
        {"attack": "optimal-alie", "aggregator": "geometric-median"},
        {"attack": "lf", "objective": "shared", "objective_attack": "worst"},
        {"attack": "min-max", "partition": "gamma-similarity", "mixing": "bucketing+arc"},
        {"model": "tests.models.factories:normalised_convnet", "local_steps": 2, "batch": 16},
        *(
            {"aggregator": name, "mixing": "none", "byzantine": 1, "server_data": "equal"}
            for name in AGGREGATORS
            if name not in ("boba", "hullguard")
        ),
        {"aggregator": "boba", "workers": 13, "server_data": "equal"},
        {"aggregator": "hullguard(subsets=20)", "workers": 24, "objective_attack": "projection"},
    ],
    ids=str,
)
def test_the_default_dtype_of_torch_changes_nothing(fields):
    scenario = SHORT.changed(**{"steps": 3, "workers": 7, "byzantine": 2, **fields})
    expected = simulate(scenario)
    torch.set_default_dtype(torch.float64)
    try:
        found = simulate(scenario)
    finally:
        torch.set_default_dtype(torch.float32)
    assert {v.dtype for v in found.state.values()} == {v.dtype for v in expected.state.values()}
    assert found.digest() == expected.digest()


def test_a_model_that_is_never_tested_falls_back_to_the_start():
    scenario = SHORT.changed(lr=1e38, clip=0, l2=1e30, evaluate_every=60, steps=60)
    result = simulate(scenario)
    assert result.ending.startswith("diverged at step ")
    assert result.evaluations == []
    assert result.accuracy == result.final_accuracy
    assert result.summary()["tests_after_end"] == 1
    assert all(tensor.isfinite().all() for tensor in result.state.values())


def test_a_run_in_which_no_honest_update_is_finite_ends():
    scenario = SHORT.changed(lr=1e25, clip=0, l2=0.0, evaluate_every=60, steps=60)
    assert simulate(scenario).ending.endswith("no honest update is finite")


class Interrupt(Callback):
    """Presses Ctrl-C in the middle of a round."""

    def __init__(self, times=1):
        self.times = times

    def on_step(self, record):
        if record.step == 4:
            for _ in range(self.times):
                os.kill(os.getpid(), signal.SIGINT)


def test_an_interruption_leaves_a_checkpoint_to_resume_from(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=100)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        simulate(SHORT, callbacks=[Interrupt()], checkpoint=checkpoint)
    assert signal.getsignal(signal.SIGINT) is handler
    resumed = simulate(SHORT, checkpoint=checkpoint, resume=True)
    assert len(checkpoint.load(SHORT)["steps"]) == 4
    assert resumed.digest() == digest(SHORT)


def test_a_second_interruption_strikes_at_once(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=100)
    with pytest.raises(KeyboardInterrupt):
        simulate(SHORT, callbacks=[Interrupt(2)], checkpoint=checkpoint)
    assert not (tmp_path / "checkpoint.pt").exists()


def test_a_run_works_in_a_thread_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(digest(SHORT)))
    thread.start()
    thread.join()
    assert found == [digest(SHORT)]


def test_the_papers_cifar10_network_runs_on_arrays_of_ones_own(tmp_path):
    rng = np.random.default_rng(1)
    x, y = rng.integers(256, size=(60, 3, 32, 32), dtype=np.uint8), np.arange(60) % 3
    np.savez(tmp_path / "own.npz", x_train=x, y_train=y, x_test=x[:9], y_test=y[:9])
    scenario = Scenario(
        dataset=f"npz({tmp_path / 'own.npz'})",
        model="convnet-cifar10",
        workers=3,
        byzantine=1,
        batch=4,
        steps=2,
        loss="wola",
        lr=0.01,
    )
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=1)
    result = simulate(scenario, checkpoint=checkpoint)
    assert result.ending == "finished"
    assert sum(v.numel() for k, v in result.state.items() if "running" in k) == 2 * (64 + 128) * 2
    state = checkpoint.load(scenario)
    assert state["round"]["statistics"].isfinite().all()
    assert simulate(scenario).digest() == result.digest()


def test_iris_is_learnt_with_batches_larger_than_shards():
    result = simulate(Scenario.paper("iris", attack="none", partition="iid"))
    assert result.accuracy > 80
    assert "drawn with replacement" in result.notes[0]


def test_wola_stands_where_the_plain_loss_falls():
    def mean_accuracy(strategy):
        scenario = Scenario.paper("digits", strategy=strategy)
        return fmean(simulate(scenario.changed(seed=seed)).accuracy for seed in (1, 2))

    plain, wola, both = (mean_accuracy(name) for name in ("-", "WoLA", "WoLA+NNM"))
    assert plain + 10 < wola < both
