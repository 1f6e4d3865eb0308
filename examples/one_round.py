"""One round of a federation under attack, on scikit-learn's digits: what WoLA changes and why.

17 workers hold digits with very different label mixes (Dirichlet, alpha 0.3); 6 of them send the
attack "a little is enough". The honest gradients are computed once with the plain loss and once
with WoLA, and every rule aggregates both. A rule holds when its aggregate still points along the
mean of the honest gradients.
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from torch import Tensor, nn

import wola
from wola import ALIE, NNM, WoLALoss
from wola.labels import global_distribution

WORKERS, BYZANTINE, ALPHA, CLASSES, SEED = 17, 6, 0.3, 10, 1
HOLDS = 0.9

RULES: dict[str, wola.Rule] = {
    "mean": wola.Mean(),
    "median": wola.CoordinateMedian(),
    "trimmed mean": wola.TrimmedMean(),
    "geometric median": wola.GeometricMedian(),
    "Multi-Krum": wola.MultiKrum(),
    "NNM | trimmed mean": NNM() | wola.TrimmedMean(),
    "NNM | Multi-Krum": NNM() | wola.MultiKrum(),
}


def skewed_shards(labels: np.ndarray, honest: int) -> list[Tensor]:
    """Indices for each worker: floor(N / honest) samples, the label mix drawn from a Dirichlet."""
    draws = np.random.default_rng(SEED)
    pools = [np.flatnonzero(labels == c) for c in range(CLASSES)]
    shards = []
    for share in draws.dirichlet(np.full(CLASSES, ALPHA), size=honest):
        counts = draws.multinomial(len(labels) // honest, share)
        chosen = [draws.choice(pool, k) for pool, k in zip(pools, counts, strict=True)]
        shards.append(torch.from_numpy(np.concatenate(chosen)))
    return shards


def gradient(model: nn.Module, loss: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The gradient of the loss on a worker's whole shard, as one vector."""
    grads = torch.autograd.grad(loss(model(x), y), list(model.parameters()))
    return torch.cat([grad.flatten() for grad in grads])


def honest_gradients() -> dict[str, Tensor]:
    """The gradients (h, d) of the honest workers, with the plain loss and with WoLA."""
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32)
    x = (x - x.mean()) / x.std()
    y = torch.tensor(digits.target)
    shards = skewed_shards(digits.target, WORKERS - BYZANTINE)
    counts = torch.stack([wola.label_counts(y[shard], CLASSES) for shard in shards])
    q = global_distribution(counts)
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    losses = {
        "plain": [nn.CrossEntropyLoss() for _ in shards],
        "WoLA": [WoLALoss(count, q) for count in counts],
    }
    return {
        name: torch.stack(
            [gradient(model, loss, x[s], y[s]) for loss, s in zip(each, shards, strict=True)]
        )
        for name, each in losses.items()
    }


def cosines(honest: Tensor) -> dict[str, float]:
    """For each rule, the cosine between its aggregate under attack and the honest mean."""
    updates = torch.cat([honest, ALIE()(honest, BYZANTINE)])
    mean = honest.mean(0)
    return {
        name: float(torch.cosine_similarity(rule(updates, f=BYZANTINE), mean, dim=0))
        for name, rule in RULES.items()
    }


def table(gradients: dict[str, Tensor], found: dict[str, dict[str, float]]) -> Table:
    """What each rule made of the attacked gradients."""
    sheet = Table(title=f"One round, {WORKERS} workers, {BYZANTINE} send ALIE, alpha {ALPHA}")
    sheet.add_column("cosine with the honest mean")
    for name in gradients:
        sheet.add_column(name, justify="right")
    for rule in RULES:
        values = [found[name][rule] for name in gradients]
        sheet.add_row(rule, *(f"{v:.3f}{' holds' if v >= HOLDS else '      '}" for v in values))
    spread = [wola.gradient_dissimilarity(rows) for rows in gradients.values()]
    relative = [
        s / float(rows.mean(0).square().sum())
        for s, rows in zip(spread, gradients.values(), strict=True)
    ]
    sheet.add_section()
    sheet.add_row("gradient dissimilarity", *(f"{value:.3f}" for value in spread))
    sheet.add_row("  over the honest mean squared", *(f"{value:.3f}" for value in relative))
    return sheet


def picture(found: dict[str, dict[str, float]], path: Path) -> None:
    """The cosines as points, plain and WoLA on one line for each rule."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    rows = range(len(RULES))
    plain, aligned = ([found[name][rule] for rule in RULES] for name in ("plain", "WoLA"))
    axes.hlines(rows, plain, aligned, color="0.75", linewidth=2, zorder=1)
    axes.scatter(plain, rows, color="#D55E00", marker="o", s=60, label="plain loss")
    axes.scatter(aligned, rows, color="#0072B2", marker="s", s=60, label="WoLA")
    axes.axvline(HOLDS, color="0.4", linestyle=":", linewidth=1)
    axes.set_yticks(rows, list(RULES))
    axes.invert_yaxis()
    axes.set_xlabel("cosine between the aggregate and the honest mean")
    axes.set_title(f"Digits, alpha {ALPHA}, {BYZANTINE} of {WORKERS} workers send ALIE")
    axes.legend(loc="best", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Run the round, print the table, save the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    out = parser.parse_args().out
    gradients = honest_gradients()
    found = {name: cosines(rows) for name, rows in gradients.items()}
    console = Console()
    console.print(table(gradients, found))
    picture(found, out / "one_round.png")
    console.print(f"picture: {out / 'one_round.png'}")


if __name__ == "__main__":
    main()
