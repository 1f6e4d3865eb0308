"""A run on the server: what lives from round to round, and what a round does with it."""

import logging
import secrets
from dataclasses import replace
from time import perf_counter

import torch
from flwr.app import ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from torch import Tensor, nn

from wola.flower import wire
from wola.flower.checkpoint import Saved, load_checkpoint, save_checkpoint
from wola.flower.collect import Collected
from wola.flower.fingerprint import fingerprint
from wola.flower.global_model import GlobalModel, ServerStep
from wola.flower.ledger import Ledger, RoundRecord
from wola.flower.message_exchange import MessageExchange
from wola.flower.reply_checks import (
    LabelReport,
    Score,
    Update,
    median_scores,
    read_report,
    read_score,
)
from wola.flower.server_knowledge import ServerKnowledge
from wola.flower.settings import StrategySettings
from wola.flower.votes import liars_dropped
from wola.training.streams import stream

_log = logging.getLogger("flwr.wola")

FINISHED = "finished"


class TrainingRun:
    """The model, q, what the server knows, the records and the exchange of messages of one run.

    `round` is the last round that is over, `ending` why the run ended or would end now.
    """

    def __init__(self, settings: StrategySettings, module: nn.Module) -> None:
        self.settings = settings
        self.model = GlobalModel(module, settings.recipe)
        self.ledger = Ledger(settings.records)
        flat = self.model.flat
        self.knowledge = ServerKnowledge(settings, flat)
        sizes = (flat.size, len(flat.statistics))
        self.exchange = MessageExchange(
            settings, secrets.token_hex(16), fingerprint(flat.module), sizes
        )
        self.round, self.ending = 0, FINISHED
        self.q: Tensor | None = settings.known_objective()

    def resume(self) -> None:
        """Continues from the checkpoint, if there is one; else empties the records."""
        path, saved = self.settings.checkpoint, None
        if path is not None:
            saved = load_checkpoint(path, self.settings.identity(self.exchange.fingerprint))
        if saved is None:
            self.ledger.begin()
            return
        self.model.load(saved.parameters, saved.statistics, saved.server)
        self.knowledge.load_state_dict(saved.knowledge)
        self.exchange.run, self.round, self.q = saved.run, saved.round, saved.q
        self.ledger.begin(saved.lines)
        _log.info("%s: continuing after round %d", path, self.round)

    def settle_objective(self, grid: Grid) -> None:
        """Asks the clients for their label distributions until q can be estimated from them.

        After `empty_rounds` failures `ending` says why, and q is still None.
        """
        settings, skipped = self.settings, None
        for _ in range(settings.empty_rounds):
            start = perf_counter()
            classes, known = settings.classes, self.exchange.fingerprint
            sent = self.exchange.prepare(grid, wire.QUERY, 0, classes=classes, fingerprint=known)
            collected = self.exchange.collect(grid, wire.QUERY, 0, read_report, enough=len(sent))
            n, f = self.counts_for_rule(collected)
            try:
                settings.aggregation_rule.check(n, f)
                rows = torch.stack([each.distribution for each in collected.accepted.values()])
                generator = stream(settings.recipe.seed, "objective")
                self.q, skipped = settings.label_objective(rows, f, generator=generator), None
                self.knowledge.keep_reports(collected)
            except ValueError as error:
                skipped = str(error)
            self.close_round(
                replace(self._record(collected, wire.QUERY, 0, start), skipped=skipped)
            )
            if skipped is None:
                return
        self.ending = f"q could not be settled: {skipped}"

    def prepare_messages(
        self, grid: Grid, kind: str, round_number: int, config: ConfigRecord | None
    ) -> list[Message]:
        """The messages of a round of training or evaluation; none to train without q."""
        flat = self.model.flat
        model = wire.model_record(flat.parameters, flat.statistics)
        if kind == wire.EVALUATE:
            return self.exchange.prepare(grid, kind, round_number, model=model, config=config)
        if self.q is None:
            self.exchange.prepared[kind] = []
            return []
        return self.exchange.prepare(
            grid,
            kind,
            round_number,
            model=model,
            config=config,
            q=self.q.tolist(),
            fingerprint=self.exchange.fingerprint,
            **self.settings.recipe.orders(round_number).fields(),
        )

    def train(self, grid: Grid, round_number: int, config: ConfigRecord | None) -> RoundRecord:
        """One round of training: the model moves, or stays as it is and the record says why."""
        start = perf_counter()
        self.prepare_messages(grid, wire.TRAIN, round_number, config)
        collected = self.exchange.collect(
            grid,
            wire.TRAIN,
            round_number,
            self.knowledge.read_update,
            enough=self.settings.replies_needed,
        )
        return self.step(round_number, collected, start)

    def step(self, round_number: int, collected: Collected[Update], start: float) -> RoundRecord:
        """What the rule and the server make of a round's updates."""
        record = self._record(collected, wire.TRAIN, round_number, start)
        before = perf_counter()
        failure = self._advance(round_number)
        ready = perf_counter()
        step = ServerStep(skipped=failure)
        if failure is None:
            rule, updates = self.settings.aggregation_rule, list(collected.accepted.values())
            view = self.knowledge.view(collected.accepted)
            step = self.model.step(updates, record.f, rule, round_number, view)
        if step.skipped is None:
            self.knowledge.memory = step.memory
        weights = None
        if step.weights is not None:
            weights = dict(zip(collected.accepted, step.weights, strict=True))
        spent = {"rule": perf_counter() - ready}
        if self.knowledge.reference is not None:
            spent["reference"] = ready - before
        return replace(
            record,
            skipped=step.skipped,
            weights=weights,
            dissimilarity=step.dissimilarity,
            norm=step.norm,
            seconds={**record.seconds, **spent},
        )

    def _advance(self, round_number: int) -> str | None:
        """Lets the server compute on its own data, if it has to; why it could not."""
        try:
            if self.q is not None:
                self.knowledge.advance(round_number, self.q)
        except (ArithmeticError, RuntimeError, ValueError) as error:
            return f"the server's own update failed: {error}"
        return None

    def score(
        self, grid: Grid, record: RoundRecord, config: ConfigRecord | None
    ) -> tuple[MetricRecord | None, RoundRecord]:
        """The medians of what the clients measured, None if none did, and who is not in them."""
        start, number = perf_counter(), record.round
        self.prepare_messages(grid, wire.EVALUATE, number, config)
        quorum = self.settings.replies_needed
        collected = self.exchange.collect(grid, wire.EVALUATE, number, read_score, enough=quorum)
        metrics = median_scores(collected)
        record = replace(
            record,
            unscored=dict(
                sorted((collected.dropped | collected.refused | collected.missing).items())
            ),
            bytes_in=record.bytes_in + collected.bytes_in,
            bytes_out=record.bytes_out + self.exchange.bytes_out(wire.EVALUATE),
        )
        return metrics, record.evaluated(metrics, perf_counter() - start)

    def close_round(self, record: RoundRecord) -> None:
        """Ends a round: adds its record, writes the checkpoint, decides if the run continues."""
        self.ledger.add(record)
        self.round = record.round
        if self.settings.checkpoint is not None and self.q is not None:
            self._save(self.q)
        if record.skipped is None:
            _log.info("%s", record)
        else:
            _log.warning("%s", record)
        recent = self.ledger.records[-self.settings.empty_rounds :]
        empty = [each for each in recent if each.round > 0 and each.skipped is not None]
        if len(empty) == self.settings.empty_rounds:
            self.ending = f"{len(empty)} rounds in a row without a step: {record.skipped}"

    def counts_for_rule(
        self, collected: Collected[Update] | Collected[LabelReport] | Collected[Score]
    ) -> tuple[int, int]:
        """The n and f that a rule is given: each liar whose reply was dropped was one of the f."""
        out = liars_dropped(collected, self.settings.public_keys)
        return len(collected.accepted), max(0, self.settings.f - out)

    def _record(
        self,
        collected: Collected[Update] | Collected[LabelReport],
        kind: str,
        round_number: int,
        start: float,
    ) -> RoundRecord:
        n, f = self.counts_for_rule(collected)
        return RoundRecord(
            round=round_number,
            kind=kind,
            replied=tuple(collected.accepted),
            dropped=collected.dropped,
            refused=collected.refused,
            missing=collected.missing,
            n=n,
            f=f,
            seconds={"collect": perf_counter() - start},
            bytes_in=collected.bytes_in,
            bytes_out=self.exchange.bytes_out(kind),
            surplus=collected.surplus,
            warning=None if self.ledger.records else self.settings.warning,
        )

    def _save(self, q: Tensor) -> None:
        assert self.settings.checkpoint is not None
        flat = self.model.flat
        saved = Saved(
            run=self.exchange.run,
            round=self.round,
            parameters=flat.parameters,
            statistics=flat.statistics,
            server=self.model.server.state_dict(),
            q=q,
            knowledge=self.knowledge.state_dict(),
            lines=self.ledger.lines(),
        )
        save_checkpoint(
            self.settings.checkpoint, self.settings.identity(self.exchange.fingerprint), saved
        )
