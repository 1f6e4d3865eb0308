"""Which scenarios another one's run answers: written down where the runs are."""

import json
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from wola.bench.same import reasons, representative
from wola.ground.files import write_whole
from wola.training import Scenario


def write_shared(folder: Path, scenarios: Iterable[Scenario]) -> None:
    """Writes down those of the scenarios that coincide with another: key, run, reasons, fields."""
    rows = []
    for scenario in scenarios:
        run = representative(scenario)
        if run != scenario:
            row = {"key": scenario.key(), "run": run.key(), "reasons": reasons(scenario)}
            rows.append({**row, "scenario": scenario.model_dump()})
    if rows:
        content = json.dumps(rows).encode() + b"\n"
        # Named by what it says: two processes with one grid write the same file.
        path = folder / f"{sha256(content).hexdigest()}.json"
        if not path.exists():
            write_whole(path, content)


def read_shared(folder: Path) -> dict[str, dict[str, Any]]:
    """All that was written down, by the scenario's own key; what cannot be read is left out."""
    made: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            made |= {row["key"]: row for row in json.loads(path.read_bytes())}
    return made
