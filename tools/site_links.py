"""Where links between files of the repository lead in the site.

A page or picture of docs/ is at the site's top, any other file at its path in the repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from os.path import normpath
from pathlib import Path
from posixpath import dirname, join, relpath

#: Files outside docs/ that are pages of the site.
OUTSIDE = (
    "CHANGELOG.md",
    "examples/*.md",
    "examples/*/README.md",
    "results/*.md",
    "results/*/README.md",
)

#: Pages of the repository that the site has in another form.
INSTEAD = {"README.md": "docs/index.md"}

#: A link to a file; or code, in fences or in a line: what looks like a link there is none.
_LINK = re.compile(
    r"^```.*?^```"
    r"|\[(?P<text>(?:[^\[\]`]|`[^`\n]*`)*)\]\((?P<target>[^()\s#:]+)(?P<anchor>#[^()\s]*)?\)"
    r"|`[^`\n]+`",
    re.M | re.S,
)


def outside_pages(root: Path) -> list[str]:
    """The pages of the site that are not in docs/, as paths in the repository."""
    return [
        path.relative_to(root).as_posix()
        for pattern in OUTSIDE
        for path in sorted(root.glob(pattern))
    ]


def site_path(path: str) -> str:
    """Where a file of the repository is in the site.

    >>> site_path("docs/images/page.png"), site_path("results/grid.md"), site_path("README.md")
    ('images/page.png', 'results/grid.md', 'index.md')
    """
    return INSTEAD.get(path, path).removeprefix("docs/")


def repository_path(root: Path, uri: str) -> str:
    """Which file of the repository a page of the site is made of."""
    return f"docs/{uri}" if (root / "docs" / uri).exists() else uri


def linked_files(root: Path, pages: Iterable[str]) -> list[str]:
    """The files that pages link to and that are neither pages nor in docs/."""
    known = set(outside_pages(root))
    found = {
        target
        for page in pages
        for target in _targets(root, page)
        if not target.startswith("docs/") and target not in known and target not in INSTEAD
    }
    return sorted(path for path in found if (root / path).is_file())


def relinked(root: Path, page: str, text: str) -> str:
    """The text of a page with its links as they are in the site.

    A link to a folder leads to its README.md; to one without, only its text is left.

    >>> text = "[`Grids`](../results/grid.md#grids), `[not](../this.md)`, [home](../README.md)"
    >>> relinked(Path("."), "docs/bench.md", text)
    '[`Grids`](results/grid.md#grids), `[not](../this.md)`, [home](index.md)'
    """

    def moved(found: re.Match[str]) -> str:
        if found["target"] is None:
            return found[0]
        target = _target(root, page, found["target"])
        if (root / target).is_dir():
            return found["text"]
        path = relpath(site_path(target), dirname(site_path(page)) or ".")
        return f"[{found['text']}]({path}{found['anchor'] or ''})"

    return _LINK.sub(moved, text)


def _targets(root: Path, page: str) -> Iterator[str]:
    for found in _LINK.finditer((root / page).read_text(encoding="utf-8")):
        if found["target"] is not None:
            yield _target(root, page, found["target"])


def _target(root: Path, page: str, link: str) -> str:
    """The file of the repository, or the folder without a README.md, that a link means."""
    path = normpath(join(dirname(page), link))
    readme = join(path, "README.md")
    return readme if (root / readme).is_file() else path
