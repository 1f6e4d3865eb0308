"""The measurement of training: operations, what ByzFL is told, the tables and the page."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import run, step
from benchmarks.byzfl_training import attack_parameters, optimiser_parameters, step_difference
from benchmarks.flops import CONVNET, FORWARD, TRAINING, peak_rates, rate
from benchmarks.step_page import (
    BYZFL,
    GOALS,
    goal_row,
    layer_table,
    page,
    phase_table,
    read_record,
)
from benchmarks.tables import WOLA, Cell
from benchmarks.training_works import CpuStopwatch, flat
from wola.attacks import ALIE
from wola.models import convnet_mnist
from wola.training import PARTS, Scenario


def cell(work, ours, theirs, **differences):
    seconds = {WOLA: [ours], BYZFL: [theirs]}
    return Cell(work, 17, 6, 176_050, seconds, differences, 1e-3, {}, [])


def record_of_step():
    return {
        "environment": {"date": "some day"},
        "cells": [vars(cell("evaluation", 0.5, 2.5, ByzFL=0.0))],
        "phases": {"gradients": [0.2, 0.2], "rule": [0.05, 0.05], "evaluation": [0.5]},
        "layers": {"0 Conv2d": [0.004], "1 ReLU": [0.001]},
        "peak": [90.0, 100.0, 110.0],
    }


def record_of_run():
    return {
        "environment": {"date": "another day"},
        "cell": vars(Cell("whole run", 17, 6, 9, {WOLA: [4, 4], BYZFL: [16, 18]}, {}, 0, {}, [])),
        "steps": 40,
        "every": 20,
        "tested": 10_000,
        "distinct": 8_334,
        "accuracy": {WOLA: 50.0, BYZFL: 49.0},
    }


def test_the_operations_counted_by_hand_are_those_that_torch_counts():
    network, images = convnet_mnist(), torch.zeros(3, 1, 28, 28)
    with FlopCounterMode(display=False) as forward:
        outputs = network(images)
    with FlopCounterMode(display=False) as backward:
        outputs.sum().backward()
    assert forward.get_total_flops() == 3 * FORWARD
    assert forward.get_total_flops() + backward.get_total_flops() == 3 * TRAINING


def test_the_peak_is_measured_as_often_as_asked():
    rates = peak_rates(times=3, size=256)
    assert len(rates) == 3
    assert min(rates) > 0


def test_byzfl_is_told_a_factor_that_makes_up_for_its_deviation():
    scenario = Scenario(workers=17, byzantine=6, attack="alie")
    told = attack_parameters(scenario)
    honest = torch.randn(11, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    sent = honest.mean(0) + told["parameters"]["tau"] * honest.std(0, correction=1)
    torch.testing.assert_close(sent, ALIE()(honest, 6)[0])


def test_byzfls_optimised_attack_evaluates_the_servers_own_rule_twenty_times():
    told = attack_parameters(Scenario(attack="optimal-alie"))
    assert told["name"] == "Optimal_ALittleIsEnough"
    given = told["parameters"]
    assert (given["evals"], given["f"]) == (20, 6)
    assert given["aggregator_info"] == {"name": "TrMean", "parameters": {"f": 6}}
    assert given["pre_agg_list"] == [{"name": "NNM", "parameters": {"f": 6}}]


def test_byzfls_learning_rate_goes_down_when_that_of_the_scenario_does():
    scenario = Scenario.paper("fashion-mnist")
    told = optimiser_parameters(scenario)
    weight = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([weight], lr=told["learning_rate"])
    schedule = torch.optim.lr_scheduler.MultiStepLR(
        optimiser, told["milestones"], gamma=told["learning_rate_decay"]
    )
    for t in range(1, 2 * PARTS.make("schedule", scenario.schedule).period):
        assert optimiser.param_groups[0]["lr"] == scenario.learning_rate(t)
        optimiser.step()
        schedule.step()


def test_two_equal_steps_are_not_apart():
    before, after = torch.ones(3), torch.tensor([1.0, 2.0, 3.0])
    assert step_difference(before, after, after) == 0.0


def test_a_state_is_flattened_in_its_own_order():
    state = {"b": torch.tensor([[1.0, 2.0]]), "a": torch.tensor([3.0])}
    assert flat(state).tolist() == [1.0, 2.0, 3.0]


def test_the_stopwatch_counts_the_time_of_the_processor():
    watch = CpuStopwatch()
    with watch("rule"):
        sum(range(100_000))
    taken = watch.taken()
    assert taken["rule"] > 0
    assert taken["attack"] == 0


@pytest.mark.parametrize(("theirs", "reached"), [(2.0, "yes"), (1.99, "no")])
def test_a_goal_is_reached_from_its_ratio_on(theirs, reached):
    assert GOALS["evaluation"] == 4.0
    assert goal_row(cell("evaluation", 0.5, theirs))[5] == reached


def test_a_difference_beyond_the_tolerance_stands_out():
    assert goal_row(cell("round, ALIE", 1.0, 3.0, ByzFL=0.5))[-1] == "**5e-01**"
    assert goal_row(cell("round, ALIE", 1.0, 3.0, ByzFL=1e-5))[-1] == "1e-05"


def test_the_phases_of_a_round_make_up_the_whole_and_the_evaluation_stands_apart():
    table = phase_table(record_of_step()["phases"], peak=100.0).splitlines()
    assert [line.split(" | ")[2] for line in table[2:]] == ["80.0 %", "20.0 %", "-"]
    share = rate(11 * 128 * TRAINING, 0.2)
    assert table[2].endswith(f"| {share:.1f} | {share:.0f} % |")


def test_layers_without_products_have_no_rate():
    table = layer_table(record_of_step()["layers"], peak=100.0).splitlines()
    assert table[2] == f"| 0 Conv2d | 4.00 | {rate(128 * CONVNET[0].training, 0.004):.1f} | 37 % |"
    assert table[3] == "| 1 ReLU | 1.00 | - | - |"


def test_the_page_has_what_was_measured_and_no_more():
    both = page(record_of_step(), record_of_run())
    assert "## A round and its parts" in both
    assert "wola 8.0 s, ByzFL 34.0 s, 4.25x" in both
    assert "## A whole run" not in page(record_of_step(), None)
    assert "## A round and its parts" not in page(None, record_of_run())


def test_a_second_command_keeps_what_the_first_one_measured(tmp_path):
    step.save("step", record_of_step(), tmp_path)
    step.save("run", record_of_run(), tmp_path)
    assert read_record(tmp_path / "step.json") == record_of_step()
    text = (tmp_path / "step.md").read_text()
    assert "some day" in text
    assert "another day" in text


def test_nothing_measured_is_no_record(tmp_path):
    assert read_record(tmp_path / "run.json") is None


@pytest.mark.parametrize("module", [step, run])
def test_the_recorded_command_is_what_was_typed_without_the_folder(module):
    options = module.parse(["--out", "some/where"])
    assert options.command == f"python -m {module.__name__}"
