import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.report.browser.conftest import Open
from tests.report.browser.store import fill, scenarios
from tests.report.test_any_store import own_strategies
from wola.bench.store import Store
from wola.report import Runs, read_runs
from wola.report.page import write, write_page
from wola.report.page.command import command_line
from wola.report.paper_tables import make_tables
from wola.report.scores import gains, ranked, scores

NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
TITLES = {f"{NONE} (rule alone)": "-"}
MEASURES = (
    "accuracy",
    "worst",
    "balanced",
    "macro-f1",
    "worst-class",
    "dissimilarity",
    "gain",
)


def choose(page: Any, name: str, *labels: str) -> None:
    """Opens a filter and presses some of its choices."""
    page.click(f"#summary-{name}")
    for label in labels:
        page.locator(f"#menu-{name} label", has_text=re.compile(f"^{re.escape(label)}$")).click()
    page.keyboard.press("Escape")


def on_iris(look: Open, address: str, **options: Any) -> Any:
    opened = look(address, **options)
    choose(opened.page, "part", "iris")
    opened.page.wait_for_selector("#chart-accuracy")
    return opened


def overview(page: Any, measure: str) -> dict[tuple[float, int, str], str]:
    """What the overview shows, by alpha, f and strategy."""
    page.check(f"#measure-{measure}", force=True)
    columns = page.eval_on_selector_all(
        "#overview thead button", "all => all.map(one => one.id.split('-').slice(1).map(Number))"
    )
    body = page.eval_on_selector_all(
        "#overview tbody tr",
        "all => all.map(row => [...row.children].map(cell => {"
        " const copy = cell.cloneNode(true);"
        " copy.querySelectorAll('sup').forEach(mark => mark.remove());"
        " return copy.textContent; }))",
    )
    return {
        (alpha, f, TITLES.get(name, name)): text
        for name, *texts in body
        for (alpha, f), text in zip(columns, texts, strict=True)
    }


def expected(runs: Runs, measure: str) -> dict[tuple[float, int, str], str]:
    """What the tables of the report say."""
    if measure == "gain":
        cells = scores(runs)
        return {
            (row["alpha"], row["byzantine"], row["strategy"]): (
                NONE if row["gain"] is None else f"{row['gain']:+.1f}".replace("-", MINUS)
            )
            for row in gains(cells).iter_rows(named=True)
        }
    metric, summary, digits = {
        "accuracy": ("accuracy", "global", 1),
        "worst": ("accuracy", "worst", 1),
        "balanced": ("balanced-accuracy", "global", 1),
        "macro-f1": ("macro-f1", "global", 1),
        "worst-class": ("worst-class", "global", 1),
        "dissimilarity": ("dissimilarity", "global", 2),
    }[measure]
    made = {}
    for row in scores(runs, metric=metric, summary=summary).iter_rows(named=True):  # type: ignore[arg-type]
        text = f"{row['runs']}/{row['expected']}"
        if row["mean"] is not None:
            sd = "" if row["sd"] is None else f"({row['sd']:.{digits}f})"
            text = f"{row['mean']:.{digits}f}{sd}"
        made[row["alpha"], row["byzantine"], row["strategy"]] = text
    return made


def test_the_numbers_are_those_of_the_tables(look: Open, address: str, runs: Runs) -> None:
    page = on_iris(look, address).page
    iris = runs.where(dataset=["iris"])
    for measure in MEASURES:
        assert overview(page, measure) == expected(iris, measure)
    choose(page, "attack", "FOE")
    for measure in MEASURES:
        assert overview(page, measure) == expected(iris.where(attack=["alie"]), measure)
    choose(page, "aggregator", "CwTM")
    part = iris.where(attack=["alie"], aggregator=["multi-krum"])
    for measure in MEASURES:
        assert overview(page, measure) == expected(part, measure)


def test_the_ranking_follows_the_filters(look: Open, address: str, runs: Runs) -> None:
    page = on_iris(look, address).page
    page.click("[id='column-0.3-2']")

    def places() -> list[tuple[str, str]]:
        return [
            (row.locator(".place").inner_text(), row.locator("th").inner_text().strip())
            for row in page.locator("#ranking tbody tr").all()
        ]

    def wanted(part: Runs) -> set[tuple[str, str]]:
        cells = ranked(scores(part)).filter(byzantine=2)
        return {(str(r["rank"]), r["strategy"]) for r in cells.iter_rows(named=True)}

    iris = runs.where(dataset=["iris"])
    found = places()
    assert {(p, TITLES.get(n, n)) for p, n in found} == wanted(iris)
    assert [p for p, _ in found] == ["1", "2", "3", "4"]
    choose(page, "strategy", "WoLA+NNM")
    assert {(p, TITLES.get(n, n)) for p, n in places()} == wanted(
        iris.where(strategy=["-", "NNM", "WoLA"])
    )
    page.click("#reset")
    assert places() == found


def test_a_cell_with_missing_runs_shows_how_many_there_are(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    assert overview(page, "accuracy")[0.3, 6, "-"] == "6/8"
    page.click("[id='column-0.3-6']")
    assert "1 of 4 strategies lacks runs" in page.inner_text("#sentence")
    page.check("#pick--")
    page.wait_for_selector("#charts .legend :text('6 of 8 runs')")
    assert "cannot be compared" in page.inner_text("#charts")


def test_the_sentence_says_what_one_sees(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.click("[id='column-0.3-2']")
    said = page.inner_text("#sentence")
    assert said.startswith("On iris at alpha = 0.3, with 2 of 17 workers Byzantine, WoLA+NNM is")
    assert "over 2 aggregators, 2 attacks and 2 seeds" in said
    assert "above the best method without WoLA (NNM)" in said


def test_curves_are_drawn_with_a_band_and_a_line_per_worker(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.click("[id='column-0.3-2']")
    for strategy in ("-", "WoLA"):
        page.check(f"[id='pick-{strategy}']")
    page.wait_for_selector("#charts .legend li:nth-child(5)")
    for name in ("accuracy", "dissimilarity"):
        assert page.locator(f"#chart-{name} .line").count() == 4
        assert page.locator(f"#chart-{name} .band").count() == 4
    assert page.locator("#weights .chart").count() == 5
    assert page.locator("#chart-cosine .line").count() == 4
    assert page.locator("#weights-0 .c5 .line").count() == 15
    assert page.locator("#weights-0 .c4 .line").count() == 2
    said = page.inner_text("#weights")
    assert "got 2.0 % of all weight, below the 11.8 % of an equal share" in said
    assert "And the aggregate's cosine to the honest mean is 0.90." in said
    assert "Little of the honest direction is left" in said
    for strategy in ("-", "NNM", "WoLA", "WoLA+NNM"):
        page.uncheck(f"[id='pick-{strategy}']")
    page.wait_for_selector("#curves-about:text('Tick boxes')")
    assert page.locator(".chart").count() == 0


def test_the_pointer_and_the_arrow_keys_read_the_curves(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.focus("#chart-accuracy")
    page.keyboard.press("Home")
    first = page.inner_text("#announce")
    assert first.startswith("step 10: ")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#announce").startswith("step 20: ")
    assert page.get_attribute("#chart-accuracy .cursor", "visibility") == "visible"
    box = page.locator("#chart-dissimilarity").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    assert re.search(r"at step (9|10|11)\b", page.inner_text("#charts figure:nth-child(2)"))


def test_charts_have_words_and_a_table_for_who_cannot_see_them(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    for chart in page.locator(".chart").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 60
    page.click("#chart-accuracy-table")
    page.wait_for_selector("#charts figure:first-child tbody tr")
    assert page.locator("#charts figure:first-child tbody tr").count() == 2
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select, summary')].filter(one =>"
        " !(one.ariaLabel || one.labels?.[0]?.textContent.trim() || one.textContent.trim()))"
        ".length"
    )
    assert unnamed == 0


def test_the_command_of_a_run_can_be_copied_and_gives_its_scenario(
    look: Open, address: str, runs: Runs
) -> None:
    page = on_iris(look, address).page
    button = page.locator("[id^=run-]").first
    key = button.get_attribute("id").removeprefix("run-")
    button.click()
    page.wait_for_selector("#scenario[open]")
    page.click("#copy")
    page.wait_for_selector("#copy:text('Copied')")
    command = page.evaluate("navigator.clipboard.readText()")
    assert command == page.inner_text("#command")
    (scenario,) = [s for s in scenarios() if s.key().startswith(key)]
    assert command == command_line(scenario.model_dump())
    page.keyboard.press("Escape")
    assert not page.is_visible("#scenario")
    assert page.evaluate("document.activeElement.id") == f"run-{key}"


def test_all_can_be_done_with_the_keyboard(look: Open, address: str) -> None:
    page = look(address).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#summary-part")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("#title:not(:text-is('iris'))")
    page.keyboard.press("ArrowUp")
    page.wait_for_selector("#title:text-is('iris')")
    assert page.evaluate("document.activeElement.type") == "radio"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "summary-part"
    page.focus("#summary-strategy")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.id") == "filter-strategy-0"
    assert page.locator("#ranking tbody tr").count() == 3
    page.focus("[id='column-0.3-2']")
    page.keyboard.press("Enter")
    assert "f\xa0=\xa02" in page.inner_text("#ranking-title")
    assert page.evaluate("document.activeElement.id") == "column-0.3-2"


def test_no_choice_at_all_is_said_plainly(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.click("#summary-attack")
    page.click("#none-attack")
    assert page.inner_text("#empty p") == "No run passes these filters."
    assert not page.is_visible("#results")
    page.keyboard.press("Escape")
    page.click("#empty button")
    assert page.is_visible("#results")


def test_harmful_texts_are_shown_as_texts(look: Open, address: str) -> None:
    page = look(address).page
    page.click("#summary-part")
    page.click("#filter-part-1")
    page.wait_for_selector("#title:not(:text-is('iris'))")
    page.wait_for_selector("#chart-accuracy")
    assert "<img src=x" in page.inner_text("#title")
    assert page.locator("img").count() == 0
    assert page.title() != "harm"


def test_colours_follow_the_system_and_the_button(look: Open, address: str) -> None:
    page = on_iris(look, address, scheme="dark").page
    back = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(back)
    assert page.inner_text("#theme") == "Light"
    page.click("#theme")
    assert page.evaluate(back) != dark
    page.reload()
    assert page.inner_text("#theme") == "Dark"


def test_split_curves_are_loaded_from_the_disk_when_asked_for(
    look: Open, runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MOST_RUNS", 10)
    opened = on_iris(look, write_page(runs, tmp_path).as_uri())
    before = [url for url in opened.requests if "/curves/" in url]
    assert 0 < len(before) < 8
    opened.page.check("[id='pick-WoLA']")
    opened.page.wait_for_selector("#charts .legend :text-is('WoLA')")
    assert len([url for url in opened.requests if "/curves/" in url]) == len(before) + 1


def test_a_curve_that_lacks_a_damaged_run_says_so(look: Open, tmp_path: Path) -> None:
    wanted = [s for s in scenarios() if s.byzantine == 2]
    store = fill(Store.open(tmp_path / "store"), wanted)
    (store.folder(store.key(wanted[-1])) / "metrics.parquet").write_bytes(b"")
    page = look(write_page(read_runs(store), tmp_path / "report").as_uri()).page
    page.wait_for_selector("#charts .legend :text('WoLA+NNM (7 of 8 runs)')")
    assert "Runs are missing for WoLA+NNM" in page.inner_text("#charts")


def test_a_page_without_runs_says_so(look: Open, runs: Runs, tmp_path: Path) -> None:
    page = look(write_page(runs.where(seed=[99]), tmp_path).as_uri()).page
    assert page.inner_text("#empty") == "There are no runs to show."


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1440])
def test_the_page_fits_the_screen(look: Open, address: str, width: int, scheme: str) -> None:
    opened = on_iris(look, address, size={"width": width, "height": 900}, scheme=scheme)
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator("#chart-accuracy").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    # What is wider than its frame says so at the edge.
    page.wait_for_timeout(100)
    cues = page.eval_on_selector_all(
        ".frame > .scroll",
        "all => all.map(box => [box.scrollLeft + box.clientWidth < box.scrollWidth - 8,"
        " box.parentElement.classList.contains('more-right')])",
    )
    assert all(clipped == cue for clipped, cue in cues)
    opened.shot(f"page-{width}-{scheme}")
    page.click("#summary-strategy")
    sheet = page.locator("#menu-strategy .sheet").bounding_box()
    assert sheet["x"] >= 0
    assert sheet["x"] + sheet["width"] <= width
    opened.shot(f"page-{width}-{scheme}-filter", whole=False)
    page.keyboard.press("Escape")
    page.locator("[id^=run-]").first.click()
    page.wait_for_selector("#scenario .confusion")
    box = page.locator("#scenario").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("byId('scenario').scrollWidth <= byId('scenario').clientWidth")
    opened.shot(f"run-{width}-{scheme}", whole=False)


def test_the_pages_data_is_plain_json(address: str) -> None:
    text = Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text)
    assert found
    assert set(json.loads(found[1])) >= {"fields", "rows", "notes", "titles", "orders", "place"}


def test_strategies_of_ones_own_stand_beside_the_papers_with_all_their_runs(
    look: Open, tmp_path: Path
) -> None:
    runs = own_strategies(Store.open(tmp_path / "store"))
    page = look(write_page(runs, tmp_path / "page").as_uri()).page
    page.wait_for_selector("#overview tbody tr")
    (table,) = make_tables(runs, ["accuracy"])
    names = page.locator("#overview tbody th").all_inner_texts()
    assert names == [f"{NONE} (rule alone)", *list(table.blocks[0].rows)[1:]]
    page.click("label:has(#measure-gain)")
    assert page.locator("#overview tbody th").all_inner_texts() == ["WoLA", "Slow"]
    shown = page.locator("#overview tbody td:not(.tool)").all_inner_texts()
    assert [text.split() for text in shown] == [["+5.0", "place", "2"], ["+15.0", "place", "1"]]
