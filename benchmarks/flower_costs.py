"""What the parts of a round cost that Flower's strategies do not have: CPU time of each alone."""

import copy
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from flwr.app import Context, RecordDict

from benchmarks.flower_rounds import CLASSES, Setting
from benchmarks.timing import timed
from wola.flower import generate_keypair, wire
from wola.flower.checkpoint import KINDS_OF_KNOWLEDGE, Kept, Saved, save_checkpoint
from wola.flower.client_models import ClientModels
from wola.flower.fingerprint import fingerprint
from wola.flower.local_training import local_update, loss_terms
from wola.flower.momentum_memory import MomentumMemory
from wola.flower.reply_fetch import ReplyFetches
from wola.flower.samples import as_samples
from wola.flower.signing import load_private_key, sign_content, verify
from wola.labels import WoLA
from wola.models import FlatModel

#: The parts that are not in every round's extra: every client trains, and two are optional.
TRAINING = "training: one batch"
SIGNED = "signature: hash twice, sign, verify"
ONCE = "checkpoint (once a round)"


def costs(size: str, *, calls: int) -> dict[str, float]:
    """Median CPU seconds of each part, per client and round."""
    setting = Setting(size, 5, 1, 1)
    module, (inputs, labels) = setting.module(), setting.data(0)
    orders = setting.recipe.orders(1)
    q = torch.full((CLASSES,), 1 / CLASSES, dtype=torch.float64)
    flat = FlatModel(copy.deepcopy(module))
    samples, terms = as_samples((inputs, labels)), loss_terms(WoLA(), labels, q)
    update = torch.randn(flat.size, generator=torch.Generator().manual_seed(1))
    header = wire.Header("lab", "0" * 32, 1, wire.TRAIN)
    rounds, fetches = iter(range(1, 10**9)), ReplyFetches()
    models, context = ClientModels(module, torch.device("cpu")), Context(1, 1, {}, RecordDict(), {})
    with TemporaryDirectory() as name:
        folder = Path(name)
        memory = MomentumMemory(folder / "clients", header.federation, header.run, worker=0)
        private, _ = generate_keypair(folder, "client")

        def remember() -> None:
            step = next(rounds)
            memory.before(step, flat.size)
            memory.keep(step, update)

        def borrow() -> None:
            with models.borrowed(context):
                pass

        def signed() -> None:
            content = RecordDict(
                {wire.RECORD: header.record(), wire.UPDATE: wire.update_record(update, q[:0])}
            )
            sign_content(content, load_private_key(private), 1001)
            record = wire.config(content)
            key, signature = record[wire.PUBLIC_KEY], record[wire.SIGNATURE]
            assert isinstance(key, bytes)
            assert isinstance(signature, bytes)
            about = (header.federation, header.run, 1, header.kind, 1001, wire.digest(content))
            assert verify(key, signature, *about)

        def fetched() -> None:
            fetch = fetches.start(1001, list)
            assert fetch is not None
            fetches.wait([fetch], 5.0)
            fetch.replies()

        nothing: Kept = {kind: {} for kind in KINDS_OF_KNOWLEDGE}
        saved = Saved(header.run, 1, update, q[:0], {}, q, nothing, ["{}"] * 100)
        works: dict[str, Callable[[], object]] = {
            TRAINING: lambda: local_update(
                flat, samples, labels, orders, terms=terms, worker=0, step=1
            ),
            "momentum: in memory, and written": remember,
            "the model that is there already": borrow,
            "label counts and WoLA weights": lambda: loss_terms(WoLA(), labels, q),
            "a look for a reply, in another thread": fetched,
            "fingerprint": lambda: fingerprint(module),
            SIGNED: signed,
            ONCE: lambda: save_checkpoint(folder / "checkpoint.pt", {}, saved),
        }
        return {what: _seconds(work, calls) for what, work in works.items()}


def _seconds(work: Callable[[], object], calls: int) -> float:
    work()
    return median(timed(work)[0] for _ in range(calls))
