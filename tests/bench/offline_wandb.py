"""Reads what W&B has written offline: a log of LevelDB's form, with W&B's own records in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

from wandb.proto.wandb_internal_pb2 import Record

BLOCK, FILE_HEAD, HEAD = 32768, 7, 7
FULL, LAST = 1, 4

#: Seconds that W&B may take to write, on a busy machine.
PATIENCE = 60.0


def records(path: Path) -> Iterator[Record]:
    """The records of a `.wandb` file, in their order."""
    data, place, whole = path.read_bytes(), FILE_HEAD, b""
    while place + HEAD <= len(data):
        left = BLOCK - place % BLOCK
        if left < HEAD:
            place += left
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        if place + HEAD + length > len(data):
            return
        whole += data[place + HEAD : place + HEAD + length]
        place += HEAD + length
        if kind in (FULL, LAST):
            yield Record.FromString(whole)
            whole = b""


def offline_run(folder: Path) -> list[Record]:
    """The records of the one run in a folder, once W&B's own process has written the last one."""
    (path,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    end = monotonic() + PATIENCE
    while "exit" not in map(kind, found := list(records(path))):
        assert monotonic() < end, f"W&B has not finished {path}"
        sleep(0.1)
    return found


def kind(record: Record) -> str | None:
    """What a record tells of."""
    return record.WhichOneof("record_type")


def curve(found: list[Record], name: str) -> list[tuple[int, float]]:
    """The points of a curve: (step, value)."""
    points = []
    for record in found:
        if kind(record) == "history":
            items = {
                item.key or "/".join(item.nested_key): json.loads(item.value_json)
                for item in record.history.item
            }
            if name in items:
                points.append((record.history.step.num, items[name]))
    return points
