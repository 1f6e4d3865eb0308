"""The paper's algorithm written plainly, worker by worker in float64, as a reference."""

import hashlib
import math
from statistics import NormalDist

import numpy as np
import torch
from torch import nn


def generator(seed, *names):
    """A named stream, from its definition."""
    digest = hashlib.sha256(repr((seed, *names)).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") // 2)


def batch_of(shard, size, seed, worker, step):
    """The samples worker looks at."""
    order = torch.randperm(len(shard), generator=generator(seed, "batch", worker, step))
    return shard[order[:size]]


def gradient(model, inputs, labels, weights, *, l2, clip):
    """Gradient of the mean weighted cross-entropy plus l2, clipped: a list of arrays."""
    model.zero_grad()
    logits = model(inputs)
    picked = logits.log_softmax(1)[torch.arange(len(labels)), labels]
    (-(picked * weights[labels]).sum() / len(labels)).backward()
    parts = [p.grad + l2 * p.detach() for p in model.parameters()]
    length = math.sqrt(sum(float((part**2).sum()) for part in parts))
    return [part * min(1.0, clip / length) for part in parts]


def alie(honest, n, f):
    """Mean plus z standard deviations, per coordinate."""
    z = NormalDist().inv_cdf((n - (n // 2 + 1 - f)) / n)
    return honest.mean(0) + z * honest.std(0)


def trimmed_mean(rows, f):
    """Mean of what is left of each column without its f largest and f smallest values."""
    return np.sort(rows, axis=0)[f : len(rows) - f].mean(0)


def nnm(rows, f):
    """Each row replaced by the mean of its n - f nearest rows."""
    distances = ((rows[:, None] - rows[None]) ** 2).sum(-1)
    near = np.argsort(distances, axis=1, kind="stable")[:, : len(rows) - f]
    return np.stack([rows[chosen].mean(0) for chosen in near])


def train(scenario, federation, model, weights, *, steps, mix=None):
    """The flat float64 parameters after some steps, and the momenta of each step."""
    model = model.double()
    h, f = scenario.honest, scenario.byzantine
    theta = nn.utils.parameters_to_vector(model.parameters()).detach().numpy()
    momenta = np.zeros((h, len(theta)))
    labels = federation.dataset.y_train
    history = []
    for step in range(1, steps + 1):
        for worker in range(h):
            chosen = batch_of(
                federation.shards[worker], scenario.batch, scenario.seed, worker, step
            )
            parts = gradient(
                model,
                federation.inputs[chosen].double(),
                labels[chosen],
                weights[worker],
                l2=scenario.l2,
                clip=scenario.clip,
            )
            g = np.concatenate([part.flatten().numpy() for part in parts])
            momenta[worker] = scenario.beta * momenta[worker] + (1 - scenario.beta) * g
        rows = np.vstack([momenta, np.tile(alie(momenta, h + f, f), (f, 1))])
        rows = mix(rows, f) if mix else rows
        theta = theta - scenario.learning_rate(step) * trimmed_mean(rows, f)
        nn.utils.vector_to_parameters(torch.from_numpy(theta), model.parameters())
        history.append(momenta.copy())
    return theta, history
