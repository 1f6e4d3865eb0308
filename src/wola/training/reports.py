"""What the workers report about their labels, and the objective that the server makes of it."""

from __future__ import annotations

import torch
from torch import Tensor

from wola.labels import Objective, ObjectiveAttack, Prior, Shared, global_distribution
from wola.training.registry import PARTS
from wola.training.scenario import Scenario
from wola.training.streams import stream


def settle_reports(scenario: Scenario, counts: Tensor) -> Tensor:
    """The label distributions (n, C) that all workers report, from their samples (n, C).

    Honest workers report the truth, with the noise of a shared objective if it has some; Byzantine
    ones the distribution of the data that they hold, or what `objective_attack` makes up.
    """
    objective, attack = objective_of(scenario, counts), lies_of(scenario)
    reports, f = _true_reports(objective, counts, scenario), scenario.byzantine
    if f == 0 or attack is None:
        return reports
    honest, generator = reports[: scenario.honest], stream(scenario.seed, "objective")
    return torch.cat([honest, attack(honest, f, objective=objective, generator=generator)])


def settle_objective(scenario: Scenario, counts: Tensor, reports: Tensor) -> Tensor:
    """The objective q (C,) from the samples per worker and class and from the reports, (n, C)."""
    objective = objective_of(scenario, counts)
    generator = stream(scenario.seed, "objective")
    return objective(reports, scenario.byzantine, generator=generator)


def objective_of(scenario: Scenario, counts: Tensor) -> Objective:
    """The objective that the scenario names; a prior without a q is the honest workers' own."""
    objective: Objective = PARTS.make("objective", scenario.objective)
    if isinstance(objective, Prior) and objective.q is None:
        return Prior(global_distribution(counts[: scenario.honest]).tolist())
    return objective


def lies_of(scenario: Scenario) -> ObjectiveAttack | None:
    """How the Byzantine workers lie about their labels, if they do."""
    attack: ObjectiveAttack | None = PARTS.make("objective_attack", scenario.objective_attack)
    return attack


def _true_reports(objective: Objective, counts: Tensor, scenario: Scenario) -> Tensor:
    """What all workers would report if they were honest, noise included: (n, C) float64."""
    if isinstance(objective, Shared) and objective.noise is not None:
        streams = (stream(scenario.seed, "report", i) for i in range(len(counts)))
        rows = [objective.report(c, generator=g) for c, g in zip(counts, streams, strict=True)]
        return torch.stack(rows)
    return counts.double() / counts.sum(1, keepdim=True)
