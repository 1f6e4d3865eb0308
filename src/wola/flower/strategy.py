"""The Flower strategy: WoLA with any rule, over clients that may fail or lie."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy
from torch import nn

from wola.flower import wire
from wola.flower.collect import wait_for_nodes
from wola.flower.ledger import RoundRecord
from wola.flower.reply_checks import median_scores, read_score
from wola.flower.settings import StrategySettings, takes_settings
from wola.flower.training_run import FINISHED, TrainingRun
from wola.ground.checks import check_number
from wola.ground.names import counted

_log = logging.getLogger("flwr.wola")

Evaluator = Callable[[int, ArrayRecord], MetricRecord | None]


class WolaStrategy(Strategy):
    """Trains `model` over a Flower federation of n clients of which at most f fail or lie.

    The keyword arguments are the fields of `StrategySettings`, with their defaults. `rule` and
    `objective` are given as objects or as texts: ``rule="nnm+trimmed-mean"``.

    In a query round the clients report their label distributions, from which the `objective` q is
    estimated ("shared", the default; "uniform" and ``Prior(q)`` need no query). Then in every round
    the clients are sent the model and q, what they send back is checked and aggregated by `rule`
    (default "nnm+trimmed-mean"), and the server steps as `recipe` says. Running statistics are
    aggregated by the coordinate-wise median.

    A round closes when `quorum` valid replies are there (default max(n - f, 2f + 1)) or after
    `deadline` seconds; the query waits for all nodes, since q is estimated once. An invalid reply
    is dropped and lowers the n and f that the rule is given by one each, f not below 0, since no
    honest client sends one; a missing reply lowers n alone. A round with too few left keeps the
    model, and after `empty_rounds` of them in a row the run ends; `ending` says why. At the start
    the server waits up to `patience` seconds for `min_nodes` nodes (default n). A node that joins
    later gets the model's fingerprint with its first training message, and refuses if it has
    another model.

    A rule that compares the clients with clean data of the server's own (`FLTrust`, `BOBA`, `Zeno`
    and the like) needs a `reference`, a `ServerData`: the server then trains on it in every round
    as a client does. A rule that needs label distributions is given those of the query, and a
    client that has reported none is left out. What a rule remembers is kept by client, whose name
    is its public key where it signs, else its node, and is part of the checkpoint.

    With `keys`, files of public keys or keys of 32 bytes, every reply must be signed by one of
    them, and each has one vote. `checkpoint` is a file from which a run of the same model,
    recipe, objective and `federation` continues; `records` gets a line of JSON per round, see
    `RoundRecord`, and is emptied when a new run begins. With `evaluate` "federated" the clients
    are asked for their accuracy after each round, and the median is taken.

    >>> strategy = WolaStrategy(nn.Linear(4, 3), classes=3, n=5, f=1, rule="nnm+multi-krum")
    >>> strategy.settings.aggregation_rule
    Chain(mixings=(NNM(),), rule=MultiKrum(power=2.0, m=None))
    """

    @takes_settings(StrategySettings)
    def __init__(self, model: nn.Module, settings: StrategySettings) -> None:
        self.settings = settings
        self._module = model
        self.run = TrainingRun(self.settings, model)

    @property
    def ending(self) -> str:
        """Why the last run ended: "finished", or what kept it from that."""
        return self.run.ending

    @property
    def records(self) -> list[RoundRecord]:
        """The records of the rounds so far."""
        return self.run.ledger.records

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord | None = None,
        num_rounds: int = 3,
        timeout: float | None = None,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Evaluator | None = None,
    ) -> Result:
        """Runs until round `num_rounds`, from the checkpoint if there is one; Flower's result.

        `initial_arrays` is a state of the model to start from; `timeout` takes the place of the
        deadline. `evaluate_fn` gets the round and the state of the model, before the first round
        and after each.
        """
        settings = self.settings
        if timeout is not None:
            settings = replace(settings, deadline=check_number("timeout", timeout, above=0))
        run = self.run = TrainingRun(settings, self._module)
        if initial_arrays is not None:
            run.model.load_arrays(initial_arrays)
        run.resume()
        self.summary()
        result = Result()
        for record in run.ledger.records:
            _keep(result.train_metrics_clientapp, record.round, record.metrics())
        if run.round < num_rounds:
            wait_for_nodes(grid, at_least=settings.nodes_at_start, patience=settings.patience)
            if evaluate_fn is not None and run.round == 0:
                _keep(result.evaluate_metrics_serverapp, 0, evaluate_fn(0, run.model.arrays()))
            if run.q is None:
                run.settle_objective(grid)
        while run.round < num_rounds and run.ending == FINISHED:
            record = run.train(grid, run.round + 1, train_config)
            if settings.evaluate == "federated":
                metrics, record = run.score(grid, record, evaluate_config)
                _keep(result.evaluate_metrics_clientapp, record.round, metrics)
            if evaluate_fn is not None:
                start = perf_counter()
                metrics = evaluate_fn(record.round, run.model.arrays())
                _keep(result.evaluate_metrics_serverapp, record.round, metrics)
                record = record.evaluated(metrics, perf_counter() - start)
            run.close_round(record)
            _keep(result.train_metrics_clientapp, record.round, record.metrics())
        _log.info("After round %d: %s", run.round, run.ending)
        result.arrays = run.model.arrays()
        return result

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The training messages of a round; `arrays`, unless empty, is the model to train."""
        self._load_arrays(arrays)
        if self.run.q is None:
            self.run.settle_objective(grid)
        return self.run.prepare_messages(grid, wire.TRAIN, server_round, config)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The model after a round, None if it was kept as it is, and the round's numbers."""
        start = perf_counter()
        reader = self.run.knowledge.read_update
        collected = self.run.exchange.read(wire.TRAIN, server_round, reader, replies)
        record = self.run.step(server_round, collected, start)
        self.run.close_round(record)
        arrays = None if record.skipped is not None else self.run.model.arrays()
        return arrays, record.metrics()

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The evaluation messages of a round; none unless evaluation is federated."""
        if self.settings.evaluate == "none":
            return []
        self._load_arrays(arrays)
        return self.run.prepare_messages(grid, wire.EVALUATE, server_round, config)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """The medians of what the clients measured; None if none did."""
        collected = self.run.exchange.read(wire.EVALUATE, server_round, read_score, replies)
        return median_scores(collected)

    def summary(self) -> None:
        """Logs the settings."""
        settings, keys = self.settings, self.settings.public_keys
        _log.info("WoLA over n = %d clients, of which f = %d may lie", settings.n, settings.f)
        _log.info("rule %s, objective %s", settings.aggregation_rule, settings.label_objective)
        _log.info("%r", settings.recipe)
        if settings.reference is not None:
            samples = counted(len(settings.reference.labels), "sample")
            _log.info("%s of the server's own", samples)
        signed = "unsigned" if keys is None else f"signed by {counted(len(keys), 'key')}"
        _log.info(
            "quorum %d, deadline %g s, %s", settings.replies_needed, settings.deadline, signed
        )
        if settings.warning is not None:
            _log.warning("%s", settings.warning)

    def _load_arrays(self, arrays: ArrayRecord) -> None:
        if arrays:
            self.run.model.load_arrays(arrays)


def _keep(where: dict[int, MetricRecord], round_number: int, metrics: MetricRecord | None) -> None:
    if metrics is not None:
        where[round_number] = metrics
