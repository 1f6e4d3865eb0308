"""The page on the speed of training: goals, times, phases, and what part of the machine's peak."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.flops import CONVNET, FORWARD, TRAINING, rate
from benchmarks.tables import WOLA, Cell, markdown_table, milliseconds, significant
from benchmarks.timing import spread

BYZFL = "ByzFL"
#: How many times as fast as ByzFL each work is to be.
GOALS = {
    "data for a round": 50.0,
    "data for a round, flipped": 50.0,
    "evaluation": 4.0,
    "round, ALIE": 3.0,
    "round, optimised ALIE": 15.0,
    "whole run": 4.0,
}
SAMPLES = 11 * 128
IMAGES = 10_000

METHOD = """\
The paper's Fashion-MNIST setting: 17 workers of which 6 are Byzantine, Dirichlet 0.3, the paper's
network of 176,050 parameters, batches of 128, NNM then trimmed mean. ByzFL's side is its own
`Client`, `ByzantineClient` and `Server` on the same images, the same shards, the same network and
the same rule; its batches come as its own training makes them, from torchvision's dataset through
Pillow and a `DataLoader`. Every number is process CPU time on one thread; both libraries take
turns in one process, so that whatever else the machine does meets both alike. Shown are medians,
in brackets quartiles. Compiling is done before.

A round of wola's also clips every gradient, and measures the dissimilarity of gradients and of
momenta and the angle of the aggregate, which ByzFL's does not. "difference" is, for a round,
||our step - theirs|| / ||their step|| from one model on the same batches (without clipping and
l2, which ByzFL does not have or does elsewhere; the tolerance is 1e-3, since rounding may switch a
hidden unit whose input is nearly 0), and for the evaluation that of the accuracies of one model.
The optimised attack evaluates the rule 20 times in both; the searches differ. "flipped" is what
ByzFL itself does to Fashion-MNIST, a random horizontal flip and inputs scaled to [0, 1];
else inputs are standardised."""


def goal_table(cells: Sequence[Cell]) -> str:
    """Each work: the times, how many times as long ByzFL takes, and the goal."""
    head = ["work", "wola ms", "ByzFL ms", "ratio", "goal", "reached", "difference"]
    return markdown_table(head, [goal_row(cell) for cell in cells])


def goal_row(cell: Cell) -> list[str]:
    """One row of the goals' table."""
    ratio, goal = cell.ratio(BYZFL), GOALS[cell.work]
    assert ratio is not None
    apart = cell.differences.get(BYZFL)
    marked = "-" if apart is None else f"{apart:.0e}" if cell.agrees() else f"**{apart:.0e}**"
    return [
        cell.work,
        milliseconds(cell.spread(WOLA)),
        milliseconds(cell.spread(BYZFL)),
        f"{significant(ratio)}x",
        f"{goal:g}x",
        "yes" if ratio >= goal else "no",
        marked,
    ]


def phase_table(phases: Mapping[str, list[float]], peak: float) -> str:
    """Where a round's time goes; the evaluation beside it."""
    medians = {phase: spread(seconds).median for phase, seconds in phases.items()}
    whole = sum(value for phase, value in medians.items() if phase != "evaluation")
    operations = {"gradients": SAMPLES * TRAINING, "evaluation": IMAGES * FORWARD}
    rows = []
    for phase, value in sorted(medians.items(), key=lambda item: item[0] == "evaluation"):
        reached = rate(operations[phase], value) if phase in operations else None
        rows.append(
            [
                phase,
                significant(1e3 * value),
                "-" if phase == "evaluation" else f"{100 * value / whole:.1f} %",
                "-" if reached is None else significant(reached),
                "-" if reached is None else f"{100 * reached / peak:.0f} %",
            ]
        )
    return markdown_table(["phase", "ms", "of the round", "GFLOP/s", "of the peak"], rows)


def flop_table() -> str:
    """The operations per sample, layer by layer."""
    rows = [[layer.name, f"{layer.forward:,}", f"{layer.training:,}"] for layer in CONVNET]
    rows.append(["all", f"{FORWARD:,}", f"{TRAINING:,}"])
    return markdown_table(["layer", "forward", "forward and backward"], rows)


def layer_table(layers: Mapping[str, list[float]], peak: float) -> str:
    """Each layer alone, forward and backward on one batch, beside its operations."""
    counted = iter(CONVNET)
    rows = []
    for name, seconds in layers.items():
        value = spread(seconds).median
        counts = name.endswith(("Conv2d", "Linear"))
        reached = rate(128 * next(counted).training, value) if counts else None
        rows.append(
            [
                name,
                f"{1e3 * value:.2f}",
                "-" if reached is None else significant(reached),
                "-" if reached is None else f"{100 * reached / peak:.0f} %",
            ]
        )
    return markdown_table(["layer alone", "ms", "GFLOP/s", "of the peak"], rows)


def read_record(path: Path) -> dict[str, Any] | None:
    """What a command measured, if it has."""
    return json.loads(path.read_text()) if path.exists() else None


def facts(record: Mapping[str, Any]) -> str:
    """Where and how it was measured, as a list."""
    return "\n".join(f"- {name}: {value}" for name, value in record["environment"].items())


def page(step: Mapping[str, Any] | None, run: Mapping[str, Any] | None) -> str:
    """The page from the records of `benchmarks.step` and `benchmarks.run`, or of one of them."""
    parts = ["# Speed of training", METHOD]
    if step:
        parts += step_parts(step)
    if run:
        parts += run_parts(run)
    return "\n\n".join(parts) + "\n"


def step_parts(record: Mapping[str, Any]) -> list[str]:
    """The sections on a round."""
    peak = spread(record["peak"]).median
    return [
        "## A round and its parts",
        facts(record),
        goal_table([Cell(**cell) for cell in record["cells"]]),
        "## Where wola's time goes",
        f"A product of two 2048 x 2048 float32 matrices reaches {significant(peak)} GFLOP/s here "
        "on one thread: the peak. The network's operations per image, counted by hand (two for "
        "every multiply-add pair of convolutions and linear layers; no gradient of the images is "
        "needed):",
        flop_table(),
        f"A round is {SAMPLES:,} images forward and backward, "
        f"{significant(SAMPLES * TRAINING / 1e9)} GFLOP; an evaluation is {IMAGES:,} forward, "
        f"{significant(IMAGES * FORWARD / 1e9)} GFLOP. Medians over "
        f"{len(record['phases']['gradients'])} rounds under ALIE:",
        phase_table(record["phases"], peak),
        "One batch of 128 through each layer alone, forward and backward:",
        layer_table(record["layers"], peak),
    ]


def run_parts(record: Mapping[str, Any]) -> list[str]:
    """The section on a whole run."""
    cell = Cell(**record["cell"])
    segments, every = len(cell.seconds[BYZFL]), record["every"]
    accuracy = record["accuracy"]
    return [
        "## A whole run",
        facts(record),
        f"`simulate` over {record['steps']} steps under ALIE with an evaluation every {every}, and "
        f"the same in ByzFL, in turns of {every} steps and one evaluation: {segments} turns each. "
        f"The test set of the scenario is {record['tested']:,} draws from the 10,000 test images; "
        f"ByzFL takes them all, wola each of the {record['distinct']:,} distinct ones once. Times "
        "of one turn; wola's last one has the confusion matrix of the end in it.",
        goal_table([cell]),
        f"In all: wola {sum(cell.seconds[WOLA]):.1f} s, ByzFL {sum(cell.seconds[BYZFL]):.1f} s, "
        f"{significant(sum(cell.seconds[BYZFL]) / sum(cell.seconds[WOLA]))}x. Accuracy at the end: "
        f"wola {accuracy[WOLA]:.1f}, ByzFL {accuracy[BYZFL]:.1f} percent (other batches).",
    ]
