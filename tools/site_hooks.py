"""The manual as a site: pages from outside docs/, links between them, formulas without scripts.

Hooks of MkDocs, named in mkdocs.yml.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.site_links import linked_files, outside_pages, relinked, repository_path

ROOT = Path(__file__).parent.parent

LOG = get_plugin_logger("site")

#: What arithmatex leaves of a formula: inline in a span, on lines of its own in a div.
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.S
)

#: What a page would load from elsewhere, and cannot where there is no network.
REMOTE = re.compile(
    r'<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="?(?P<url>(?:https?:)?//[^"> ]+)'
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add what was measured, and what changed, to the navigation."""
    results = [page for page in outside_pages(ROOT) if page.startswith("results/")]
    others = [page for page in outside_pages(ROOT) if page not in results]
    config.nav = [*(config.nav or []), {"Results": results}, {"Repository": others}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/, and every file that a page links to."""
    for path in outside_pages(ROOT):
        files.append(_file(path, config))
    pages = [repository_path(ROOT, file.src_uri) for file in files.documentation_pages()]
    for path in linked_files(ROOT, pages):
        files.append(_file(path, config))
    return files


def _file(path: str, config: MkDocsConfig) -> File:
    return File(path, str(ROOT), config.site_dir, config.use_directory_urls)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at where files are in the site, and write what GitHub reads in another way."""
    text = relinked(ROOT, repository_path(ROOT, page.file.src_uri), markdown)
    text = re.sub(r"^```python\n(?=>>> )", "```pycon\n", text, flags=re.M)
    return re.sub(r"^\|.*$", _bars_in_code, text, flags=re.M)


def on_page_content(html: str, **_: Any) -> str:
    """Write formulas as MathML, which browsers show without a script."""
    return FORMULA.sub(_mathml, html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Warn of what a page would load from elsewhere."""
    for found in REMOTE.finditer(output):
        LOG.warning(
            "%s loads %s; allowed: files of the site, so that it opens from the disk",
            page.file.src_uri,
            found["url"],
        )
    return output


def _bars_in_code(row: re.Match[str]) -> str:
    """A row of a table whose code has plain bars: GitHub wants them escaped, MkDocs does not."""
    return re.sub(r"`[^`]+`", lambda code: code[0].replace(r"\|", "|"), row[0])


def _mathml(found: re.Match[str]) -> str:
    latex = " ".join(unescape(found["latex"]).split())
    inline = found["tag"] == "span"
    known = re.sub(r"\\arg\b", r"\\mathrm{arg}\\,", latex)
    formula = convert(known, display="inline" if inline else "block")
    formula = formula.replace(r">\|<", ">\N{DOUBLE VERTICAL LINE}<")
    if "\\" in formula:
        LOG.warning(
            "%s has a command that cannot be shown; allowed: what latex2mathml knows", latex
        )
    return formula if inline else f'<div class="formula">{formula}</div>'
