"""The fenced blocks of a page of the manual: files to save, commands to run or not to run.

- A block of `sh` is run. One that is not has a line directly above it that says why:
  ``<!-- not run: it downloads 30 MB -->``.
- A block whose first line is a comment with a file's name, such as ``# mine.py``, is that file.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"( *)```(.*)")
_REASON = re.compile(r"\s*<!-- not run:(.*)-->\s*")
_FILE = re.compile(r"# ([\w-]+\.(?:py|toml|csv))\b")
_COMMAND = re.compile(r"(?:wola|make|pip|python|python3|ray|sbatch) \S")

#: Info strings that say nothing of what a block is.
_VAGUE = {"", "text", "bash", "console", "shell"}

#: Seconds that the commands of one block may take, on a busy machine.
PATIENCE = 600


@dataclass(frozen=True)
class Block:
    """A fenced block: where it starts, what it is said to be, and why it is not run, if so."""

    page: str
    line: int
    info: str
    text: str
    reason: str | None = None

    @property
    def place(self) -> str:
        """Where to find it."""
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        """Whether its commands are run."""
        return self.info == "sh" and self.reason is None

    @property
    def file(self) -> str | None:
        """The name of the file that it is, if it is one."""
        found = _FILE.match(self.text) if self.info in {"python", "toml", "csv"} else None
        return found and found[1]

    @property
    def hides_commands(self) -> bool:
        """Whether it holds commands that nobody would run, since it is no block of `sh`."""
        return self.info in _VAGUE and any(map(_COMMAND.match, self.text.splitlines()))


def blocks(text: str, page: str) -> Iterator[Block]:
    """All fenced blocks of a page, in order."""
    lines, inside = text.splitlines(), None
    for number, line in enumerate(lines, 1):
        fence = _FENCE.fullmatch(line)
        if fence and inside is None:
            inside, info, indent = number, fence[2].strip(), len(fence[1])
        elif fence and inside is not None:
            above = _REASON.fullmatch(lines[inside - 2]) if inside > 1 else None
            held = "".join(f"{each[indent:]}\n" for each in lines[inside : number - 1])
            yield Block(page, inside, info, held, above and above[1].strip())
            inside = None
    if inside is not None:
        raise AssertionError(f"{page}:{inside}: the block has no end")


def page_blocks(path: Path) -> list[Block]:
    """The blocks of a page of the manual."""
    return list(blocks(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))))


def follow(found: list[Block], folder: Path) -> None:
    """Saves the files and runs the commands of a page, in order, in one folder, as a reader would.

    The first command that fails is an `AssertionError` with its place and what it printed.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100"}
    for block in found:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        if block.runs:
            done = subprocess.run(
                ["bash", "-euxo", "pipefail", "-c", block.text],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            if done.returncode:
                said = f"{done.stdout[-2000:]}{done.stderr[-3000:]}"
                raise AssertionError(f"{block.place}: exit code {done.returncode}\n{said}")
