"""Downloads: checked against a checksum, with a progress bar, resumed where they stopped."""

from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pooch
import requests
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from wola.data.arrays import DataError

TIMEOUT = (10.0, 60.0)
CHUNK = 1 << 15
PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416


@dataclass(frozen=True)
class Remote:
    """A file on the network: its name, its addresses in order, and its checksum.

    ``checksum`` is written ``algorithm:hex``; None where none has been published.

    >>> Remote("a.gz", ("https://example.org/a.gz",), "md5:00").mirrors
    ('https://example.org/a.gz',)
    """

    name: str
    mirrors: tuple[str, ...]
    checksum: str | None


def download(remote: Remote, folder: Path) -> Path:
    """The path of the file in ``folder``, downloaded from the first mirror that gives it.

    An interrupted download leaves ``NAME.part`` and goes on from there next time (what came after
    the last whole chunk of 32 KiB is asked for again). A file with the
    wrong checksum is deleted.
    """
    reasons = []
    for url in remote.mirrors:
        try:
            return Path(
                pooch.retrieve(
                    url,
                    known_hash=remote.checksum,
                    fname=remote.name,
                    path=folder,
                    downloader=ResumingDownloader(folder / f"{remote.name}.part"),
                )
            )
        except requests.ConnectionError:
            reasons.append(f"{url} cannot be reached")
        except (OSError, ValueError) as error:
            reasons.append(f"{url}: {error}")
    raise DataError(f"cannot download {remote.name}: " + "; ".join(reasons))


@dataclass(frozen=True)
class ResumingDownloader:
    """A downloader for pooch that keeps what it has in ``partial`` until the file is complete."""

    partial: Path

    def __call__(self, url: str, output_file: Any, _: object = None) -> None:
        """Downloads ``url`` to the path ``output_file``, going on where ``partial`` ends."""
        have = self.partial.stat().st_size if self.partial.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code == RANGE_NOT_SATISFIABLE:
                self.partial.unlink()
                return self(url, output_file)
            response.raise_for_status()
            resumed = response.status_code == PARTIAL_CONTENT
            with self.partial.open("ab" if resumed else "wb") as stream:
                _copy(response, stream, already=have if resumed else 0, title=self.partial.stem)
        self.partial.replace(output_file)
        return None


def _copy(response: requests.Response, stream: IO[bytes], *, already: int, title: str) -> None:
    length = response.headers.get("Content-Length")
    total = already + int(length) if length else None
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(title, total=total, completed=already)
        for chunk in response.iter_content(CHUNK):
            stream.write(chunk)
            progress.advance(task, len(chunk))
