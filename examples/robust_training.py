"""Robust aggregation in a training loop of your own: eleven workers, three of which lie.

A rule takes the workers' gradients, one row each, and returns one. `NNM() | TrimmedMean()` is a
chain: every row is first replaced by the mean of its nearest neighbours, then the extremes of each
coordinate are left out. The number of liars to withstand, f, is given with the call; the weights of
a rule say who was listened to.
"""

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from wola import NNM, Mean, MultiKrum, Rule, TrimmedMean

WORKERS, LIARS, STEPS, BATCH = 11, 3, 120, 32


def gradient(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """What one worker sends: the gradient on a batch, as one vector."""
    loss = nn.functional.cross_entropy(model(x), y)
    return nn.utils.parameters_to_vector(torch.autograd.grad(loss, list(model.parameters())))


def train(rule: Rule, x: Tensor, y: Tensor, shards: list[Tensor]) -> nn.Module:
    """Rounds of: gradients of all workers, lies, the rule, a step."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    draws = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        batches = [shard[torch.randint(len(shard), (BATCH,), generator=draws)] for shard in shards]
        updates = torch.stack([gradient(model, x[batch], y[batch]) for batch in batches])
        updates[-LIARS:] *= -3
        step = rule(updates, f=LIARS)
        moved = nn.utils.parameters_to_vector(model.parameters()).detach() - 0.5 * step
        nn.utils.vector_to_parameters(moved, model.parameters())
    return model


def main() -> dict[str, float]:
    """The test accuracy with each rule, in %."""
    inputs, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(inputs, dtype=torch.float32) / 16, torch.tensor(labels)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(1))
    test, shards = order[:400], list(order[400:].chunk(WORKERS))
    rules = {
        "mean": Mean(),
        "NNM | trimmed mean": NNM() | TrimmedMean(),
        "NNM | Multi-Krum": NNM() | MultiKrum(),
    }
    found = {}
    for name, rule in rules.items():
        right = train(rule, x, y, shards)(x[test]).argmax(1) == y[test]
        found[name] = 100 * float(right.float().mean())
        print(f"{name:18}  {found[name]:5.1f} %")

    updates = torch.randn(WORKERS, 1000, generator=torch.Generator().manual_seed(1)) + 1
    updates[-LIARS:] *= -3
    weights = (NNM() | MultiKrum()).weights(updates, f=LIARS)
    if weights is not None:
        print("who is listened to:", [round(weight, 2) for weight in weights.tolist()])
    return found


if __name__ == "__main__":
    main()
