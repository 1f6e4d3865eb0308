"""The manual: every page is in the menu, every public name in the reference, no link is dead."""

import importlib
import re
from pathlib import Path
from pkgutil import iter_modules

import griffe
import pytest
import yaml
from pymdownx.slugs import slugify

import wola
from tools.site_docstrings import MarkdownDocstrings

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

#: Rooms that users import nothing from.
INNER = {"cli", "ground", "parts"}
ROOMS = sorted({room.name for room in iter_modules(wola.__path__) if room.ispkg} - INNER)
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in [*DOCS.rglob("*.md"), ROOT / "README.md"]
)
LINK = re.compile(r"\[(?:[^\[\]`]|`[^`\n]*`)*\]\((?P<file>[^()\s#:]*)(?:#(?P<anchor>[^()\s]*))?\)")


class Settings(yaml.SafeLoader):
    """Reads mkdocs.yml without calling what it names."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def entries(menu):
    for entry in menu:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from entries(value) if isinstance(value, list) else [value]


@pytest.fixture(scope="module")
def package():
    extensions = griffe.load_extensions(MarkdownDocstrings())
    return griffe.load("wola", search_paths=[ROOT / "src"], extensions=extensions)


def without_code(text):
    return re.sub(r"^```.*?^```|(?<!\[)`[^`\n]+`(?!\])", "", text, flags=re.M | re.S)


def anchors(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    slug = slugify(case="lower")
    return {slug(title.replace("`", ""), "-") for title in titles} | set(
        re.findall(r'<a id="([^"]+)">', text)
    )


def test_the_menu_lists_every_page_once():
    menu = list(entries(yaml.load((ROOT / "mkdocs.yml").read_text(), Settings)["nav"]))
    assert sorted(menu) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_the_reference_has_a_page_for_every_room():
    assert sorted(path.stem for path in (DOCS / "api").glob("*.md")) == sorted([*ROOMS, "index"])
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    for room in ROOMS:
        assert f"::: wola.{room}\n" in (DOCS / "api" / f"{room}.md").read_text(encoding="utf-8")
        assert f"[`wola.{room}`]({room}.md)" in index


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_of_a_room_is_in_the_reference(package, room):
    found = package[room]
    for name in importlib.import_module(f"wola.{room}").__all__:
        member = found.members[name]
        assert member.is_public, f"wola.{room}.{name} is not shown"
        assert not member.is_module, f"wola.{room}.{name} is hidden by its module"
        assert member.has_docstring, f"wola.{room}.{name} has no docstring, and is not shown"


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_and_a_place_in_it(page):
    source = ROOT / page
    for found in LINK.finditer(without_code(source.read_text(encoding="utf-8"))):
        target = (source.parent / found["file"]).resolve() if found["file"] else source
        assert target.exists(), f"{page} links to {found['file']}"
        if found["anchor"] and target.suffix == ".md":
            assert found["anchor"] in anchors(target), f"{page} links to {found[0]}"
