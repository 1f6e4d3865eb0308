"""ByzFL's own benchmark runner on a small grid of wola's: the same data, network and counts.

ByzFL knows no digits, but reads any images that lie where torchvision keeps MNIST: they are
written there. Its runner is started in a process of its own, which it divides by itself.
"""

import contextlib
import io
import json
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any

from torch import Tensor

from benchmarks.byzfl_training import MODEL_NAME
from benchmarks.peers import byzfl
from wola.data import load
from wola.models import MODELS, model_for
from wola.training import PARTS, Scenario

AGGREGATORS = {
    "median": {"name": "Median"},
    "trimmed-mean": {"name": "TrMean"},
    "geometric-median": {"name": "GeometricMedian", "parameters": {"nu": 0.1, "T": 10}},
    "multi-krum": {"name": "MultiKrum"},
}
MIXINGS: dict[str, list[dict[str, Any]]] = {"none": [], "nnm": [{"name": "NNM"}]}
ATTACKS = {
    "alie": {"name": "ALittleIsEnough"},
    "foe": {"name": "InnerProductManipulation", "parameters": {"tau": 0.1}},
    "sf": {"name": "SignFlipping"},
}


def configuration(base: Scenario) -> dict[str, Any]:
    """What ByzFL reads from its config.json: one scenario, over all of the names above.

    >>> configuration(Scenario.paper("digits"))["benchmark_config"]["nb_honest_clients"]
    11
    """
    return {
        "benchmark_config": {
            "training_algorithm": {"name": "DSGD", "parameters": {}},
            "nb_steps": base.steps,
            "device": "cpu",
            "nb_honest_clients": base.honest,
            "f": [base.byzantine],
            "size_train_set": 1.0,
            "data_distribution": [
                {"name": "dirichlet_niid", "distribution_parameter": [base.alpha]}
            ],
        },
        "model": {
            "name": MODEL_NAME,
            "dataset_name": "mnist",
            "nb_labels": 10,
            "loss": "CrossEntropyLoss",
            "learning_rate": base.lr,
            "learning_rate_decay": 0.5,
            "milestones": [PARTS.make("schedule", base.schedule).period - 1],
        },
        "aggregator": list(AGGREGATORS.values()),
        "pre_aggregators": list(MIXINGS.values()),
        "honest_clients": {
            "momentum": base.beta,
            "weight_decay": base.l2,
            "batch_size": base.batch,
        },
        "attack": list(ATTACKS.values()),
        "evaluation_and_results": {
            "evaluation_delta": base.evaluate_every,
            "batch_size_evaluation": 128,
            "evaluate_on_test": True,
            "store_per_client_metrics": False,
            "store_models": False,
            "data_folder": "data",
            "results_directory": "results",
        },
    }


def write_images(folder: Path, name: str) -> None:
    """Writes a dataset of one channel as the four files of MNIST."""
    dataset = load(name)
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    parts = {"train": (dataset.x_train, dataset.y_train), "t10k": (dataset.x_test, dataset.y_test)}
    for part, (images, labels) in parts.items():
        (raw / f"{part}-images-idx3-ubyte").write_bytes(_idx(images[:, 0]))
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(_idx(labels))


def _idx(values: Tensor) -> bytes:
    head = struct.pack(">BBBB", 0, 0, 8, values.ndim) + struct.pack(
        f">{values.ndim}I", *values.shape
    )
    return head + values.byte().contiguous().numpy().tobytes()


def run(folder: Path, base: Scenario, jobs: int) -> dict[str, float]:
    """The whole grid in a folder: wall seconds, CPU seconds with children, runs that were kept."""
    library = byzfl()
    network = MODELS[model_for(base.dataset)]
    shape, classes = load(base.dataset).x_train.shape[1:], len(load(base.dataset).classes)
    setattr(library.fed_framework.models, MODEL_NAME, lambda: network(tuple(shape), classes))
    write_images(folder / "data", base.dataset)
    (folder / "config.json").write_text(json.dumps(configuration(base)))
    os.chdir(folder)
    start = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()):
        library.run_benchmark(jobs)
    seconds = time.monotonic() - start
    times = os.times()
    kept = len(list((folder / "results").glob("*/train_time_*.txt")))
    cpu = times.user + times.system + times.children_user + times.children_system
    return {"seconds": seconds, "cpu": cpu, "runs": kept}


if __name__ == "__main__":
    where, text, count = sys.argv[1:]
    print(json.dumps(run(Path(where), Scenario.from_json(text), int(count))))
