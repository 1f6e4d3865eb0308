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
from wola.training import AGGREGATORS, ATTACKS

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


def cells(row):
    return [cell.strip() for cell in row.strip("| ").split("|")]


def test_speeds_of_the_comparison_are_those_measured():
    work = {
        "trimmed mean": "trimmed-mean",
        "Multi-Krum": "multi-krum",
        "geometric median, 3 steps": "geometric-median",
        "centred clipping": "centered-clipping",
        "NNM, then Multi-Krum": "nnm+multi-krum",
        "NNM, then trimmed mean": "nnm+trimmed-mean",
        "ALIE": "alie",
        "optimised ALIE, 20 evaluations": "optimal-alie",
        "sign flip": "sign-flip",
    }
    kernels = (ROOT / "results" / "kernels.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## n = 17, f = 6, d = 431,080$(.*?)^## ", kernels, re.M | re.S)
    rows = [cells(row) for row in section.partition("CPU time")[0].splitlines() if row[:1] == "|"]
    measured = {row[0].partition(" [")[0]: row[1:5] for row in rows}
    text = (DOCS / "comparison.md").read_text(encoding="utf-8").partition("## Speed")[2]
    shown = [cells(row) for row in text.splitlines() if row.startswith("| ")][1:]
    assert len(shown) == 1 + len(work)
    for name, *speeds in shown:
        assert speeds == measured[work.get(name, name)], name


def test_ratios_of_rounds_and_grids_are_those_measured():
    text = (DOCS / "comparison.md").read_text(encoding="utf-8")
    step = (ROOT / "results" / "step.md").read_text(encoding="utf-8")
    grid = (ROOT / "results" / "grid.md").read_text(encoding="utf-8")
    ratio = {row[0]: row[3] for row in map(cells, step.splitlines()) if len(row) == 7}
    alone, attacked, run = (
        ratio[name].rstrip("x") for name in ("round, ALIE", "round, optimised ALIE", "whole run")
    )
    one, two = (re.search(rf"^\| {n} \| .* \| (\S+) \|$", grid, re.M)[1] for n in (1, 2))
    sentence = " ".join(text.split())
    assert f"setting is {alone} times as fast as ByzFL's" in sentence
    assert f"under an optimised attack {attacked} times, a whole run {run} times" in sentence
    assert f"a small grid {one} times on one core and {two} on two" in sentence


def test_the_comparison_counts_the_rules_and_attacks_that_are_there():
    text = (DOCS / "comparison.md").read_text(encoding="utf-8")
    assert f"| wola | {len(AGGREGATORS)}, the mean among them" in text
    assert f"| {len(ATTACKS)}, among them optimised ones" in text
