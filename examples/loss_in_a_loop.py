"""The WoLA loss in a plain PyTorch loop: a worker that sees some digits far more often than others.

The worker's labels are skewed, the objective q is uniform. Plain cross-entropy learns the worker's
own mix; WoLA weights each sample by q over the worker's share of its class, and trains for q. Only
the loss changes: the model, the optimiser and the loop are those of any PyTorch script.
"""

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from wola import WoLALoss, label_counts

CLASSES, STEPS, BATCH = 10, 150, 64


def skewed_digits() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training data with few samples of digits 5 to 9, and test data with all alike."""
    inputs, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(inputs, dtype=torch.float32) / 16, torch.tensor(labels)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(1))
    train, test = order[:1200], order[1200:]
    rare = (y[train] >= 5) & (torch.arange(len(train)) % 20 != 0)
    train = train[~rare]
    return x[train], y[train], x[test], y[test]


def train(loss: nn.Module, x: Tensor, y: Tensor) -> nn.Module:
    """An ordinary loop: batches, a loss, an optimiser."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, CLASSES))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    draws = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        batch = torch.randint(len(y), (BATCH,), generator=draws)
        optimiser.zero_grad()
        loss(model(x[batch]), y[batch]).backward()
        optimiser.step()
    return model


def main() -> dict[str, tuple[float, float]]:
    """The accuracy on common and on rare digits, with either loss, in %."""
    x, y, x_test, y_test = skewed_digits()
    counts = label_counts(y, classes=CLASSES)
    losses = {
        "cross-entropy": nn.CrossEntropyLoss(),
        "WoLA": WoLALoss(counts, objective=torch.full((CLASSES,), 1 / CLASSES)),
    }
    print("samples of each digit:", counts.int().tolist())
    found = {}
    for name, loss in losses.items():
        right = train(loss, x, y)(x_test).argmax(1) == y_test
        common, rare = (
            100 * float(right[group].float().mean()) for group in (y_test < 5, y_test >= 5)
        )
        found[name] = common, rare
        print(f"{name:13}  common digits {common:5.1f} %  rare digits {rare:5.1f} %")
    return found


if __name__ == "__main__":
    main()
