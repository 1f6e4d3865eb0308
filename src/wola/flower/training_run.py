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
from wola.flower.conversation import Conversation
from wola.flower.fingerprint import fingerprint
from wola.flower.global_model import GlobalModel
from wola.flower.ledger import Ledger, RoundRecord
from wola.flower.settings import Settings
from wola.flower.validate import Report, Score, Update, medians, report_of, score_of, update_of
from wola.training.streams import stream

log = logging.getLogger("flwr.wola")

FINISHED = "finished"


class TrainingRun:
    """The model, q, the records and the talk with the clients of one run.

    `round` is the last round that is over, `ending` why the run ended or would end now.
    """

    def __init__(self, settings: Settings, module: nn.Module) -> None:
        self.settings = settings
        self.model = GlobalModel(module, settings.recipe)
        self.ledger = Ledger(settings.records)
        flat = self.model.flat
        sizes = (flat.size, len(flat.statistics))
        self.talk = Conversation(settings, secrets.token_hex(16), fingerprint(flat.module), sizes)
        self.round, self.ending = 0, FINISHED
        self.q: Tensor | None = None
        if not settings.objective.needs_reports:
            self.q = settings.objective(torch.ones(1, settings.classes), 0)

    def resume(self) -> None:
        """Goes on from the checkpoint, if there is one; else the records start anew."""
        path, saved = self.settings.checkpoint, None
        if path is not None:
            saved = load_checkpoint(path, self.settings.identity(self.talk.fingerprint))
        if saved is None:
            self.ledger.begin()
            return
        self.model.load(saved.parameters, saved.statistics, saved.server)
        self.talk.run, self.round, self.q = saved.run, saved.round, saved.q
        self.ledger.begin(saved.lines)
        log.info("%s: going on after round %d", path, self.round)

    def settle(self, grid: Grid) -> None:
        """Asks the clients for their label distributions until q is settled.

        After `empty_rounds` times without success `ending` says why, and q is None still.
        """
        settings, skipped = self.settings, None
        for _ in range(settings.empty_rounds):
            start = perf_counter()
            classes, known = settings.classes, self.talk.fingerprint
            asked = self.talk.ask(grid, wire.QUERY, 0, classes=classes, fingerprint=known)
            heard = self.talk.hear(grid, wire.QUERY, 0, report_of, enough=len(asked))
            n, f = self.told(heard)
            try:
                settings.rule.check(n, f)
                rows = torch.stack([each.distribution for each in heard.accepted.values()])
                generator = stream(settings.recipe.seed, "objective")
                self.q, skipped = settings.objective(rows, f, generator=generator), None
            except ValueError as error:
                skipped = str(error)
            self.enter(replace(self._record(heard, wire.QUERY, 0, start), skipped=skipped))
            if skipped is None:
                return
        self.ending = f"q could not be settled: {skipped}"

    def messages(
        self, grid: Grid, kind: str, round_number: int, config: ConfigRecord | None
    ) -> list[Message]:
        """The messages of a round of training or evaluation; none to train without q."""
        flat = self.model.flat
        model = wire.model_record(flat.parameters, flat.statistics)
        if kind == wire.EVALUATE:
            return self.talk.ask(grid, kind, round_number, model=model, config=config)
        if self.q is None:
            self.talk.asked[kind] = []
            return []
        return self.talk.ask(
            grid,
            kind,
            round_number,
            model=model,
            config=config,
            q=self.q.tolist(),
            fingerprint=self.talk.fingerprint,
            **self.settings.recipe.orders(round_number).fields(),
        )

    def train(self, grid: Grid, round_number: int, config: ConfigRecord | None) -> RoundRecord:
        """One round of training: the model moves, or is kept and the record says why."""
        start = perf_counter()
        self.messages(grid, wire.TRAIN, round_number, config)
        heard = self.talk.hear(
            grid, wire.TRAIN, round_number, update_of, enough=self.settings.quorum
        )
        return self.step(round_number, heard, start)

    def step(self, round_number: int, heard: Collected[Update], start: float) -> RoundRecord:
        """What the rule and the server make of a round's updates."""
        record = self._record(heard, wire.TRAIN, round_number, start)
        before = perf_counter()
        rule, updates = self.settings.rule, list(heard.accepted.values())
        step = self.model.step(updates, record.f, rule, round_number)
        weights = None
        if step.weights is not None:
            weights = dict(zip(heard.accepted, step.weights, strict=True))
        return replace(
            record,
            skipped=step.skipped,
            weights=weights,
            dissimilarity=step.dissimilarity,
            norm=step.norm,
            seconds={**record.seconds, "rule": perf_counter() - before},
        )

    def score(
        self, grid: Grid, record: RoundRecord, config: ConfigRecord | None
    ) -> tuple[MetricRecord | None, RoundRecord]:
        """The medians of what the clients measured, None if nobody did, and who is not in them."""
        start, number = perf_counter(), record.round
        self.messages(grid, wire.EVALUATE, number, config)
        quorum = self.settings.quorum
        heard = self.talk.hear(grid, wire.EVALUATE, number, score_of, enough=quorum)
        metrics = medians(heard)
        record = replace(
            record,
            unscored=dict(sorted((heard.dropped | heard.refused | heard.missing).items())),
            bytes_in=record.bytes_in + heard.bytes_in,
            bytes_out=record.bytes_out + self.talk.bytes_out(wire.EVALUATE),
        )
        return metrics, record.evaluated(metrics, perf_counter() - start)

    def enter(self, record: RoundRecord) -> None:
        """Ends a round: its record, the checkpoint, and whether the run goes on."""
        self.ledger.add(record)
        self.round = record.round
        if self.settings.checkpoint is not None and self.q is not None:
            self._save(self.q)
        if record.skipped is None:
            log.info("%s", record)
        else:
            log.warning("%s", record)
        recent = self.ledger.records[-self.settings.empty_rounds :]
        empty = [each for each in recent if each.round > 0 and each.skipped is not None]
        if len(empty) == self.settings.empty_rounds:
            self.ending = f"{len(empty)} rounds in a row without a step: {record.skipped}"

    def told(
        self, heard: Collected[Update] | Collected[Report] | Collected[Score]
    ) -> tuple[int, int]:
        """The n and f that a rule is told: each reply dropped as invalid was one of the f."""
        return len(heard.accepted), max(0, self.settings.f - len(heard.dropped))

    def _record(
        self,
        heard: Collected[Update] | Collected[Report],
        kind: str,
        round_number: int,
        start: float,
    ) -> RoundRecord:
        n, f = self.told(heard)
        return RoundRecord(
            round=round_number,
            kind=kind,
            replied=tuple(heard.accepted),
            dropped=heard.dropped,
            refused=heard.refused,
            missing=heard.missing,
            n=n,
            f=f,
            seconds={"collect": perf_counter() - start},
            bytes_in=heard.bytes_in,
            bytes_out=self.talk.bytes_out(kind),
            surplus=heard.surplus,
        )

    def _save(self, q: Tensor) -> None:
        assert self.settings.checkpoint is not None
        flat = self.model.flat
        saved = Saved(
            run=self.talk.run,
            round=self.round,
            parameters=flat.parameters,
            statistics=flat.statistics,
            server=self.model.server.state_dict(),
            q=q,
            lines=self.ledger.lines(),
        )
        save_checkpoint(
            self.settings.checkpoint, self.settings.identity(self.talk.fingerprint), saved
        )
