"""A file of JSON lines, read as it grows."""

import json
from pathlib import Path
from typing import Any


class RecordFollower:
    r"""Gives the records of a file once each; a line counts when it is whole.

    A file that is not there yet holds nothing. One that was replaced is read on from the number
    of records already given, so a run that continues from its checkpoint repeats none.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "records"
    ...     follower = RecordFollower(path)
    ...     written = path.write_text('{"round": 1}\n{"rou')
    ...     follower.new(), follower.new()
    ([{'round': 1}], [])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.given = 0

    def new(self) -> list[dict[str, Any]]:
        """The records that came since the last call."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
        fresh = [json.loads(line) for line in lines[self.given :]]
        self.given = max(self.given, len(lines))
        return fresh
