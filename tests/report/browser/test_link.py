"""The address of a view: another browser shows the same."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.report.browser.conftest import Open
from tests.report.browser.test_browser_page import choose, on_iris
from tests.report.serving import serving
from wola.bench.store import Store


def seen(page: Any) -> dict[str, Any]:
    """What somebody sees of the page: its words, its choices and what is open."""
    page.wait_for_function("drawing > 0 && !byId('curves-about').textContent.includes('Loading')")
    page.wait_for_timeout(150)
    return dict(
        page.evaluate(
            "({title: document.title, words: byId('main').innerText,"
            " chosen: [...document.querySelectorAll('input, select')].map(one =>"
            "   [one.id, ['checkbox', 'radio'].includes(one.type) ? one.checked : one.value]),"
            " run: byId('scenario').open ? byId('scenario').innerText : null})"
        )
    )


def make_choices(page: Any) -> None:
    choose(page, "attack", "FOE")
    page.click("[id='column-0.3-2']")
    page.check("[id='pick-WoLA']")
    page.check("#measure-dissimilarity", force=True)
    page.locator("#overview tbody button").nth(3).click()
    page.click("#sort-accuracy")
    page.fill("#search", "mkrum")


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (800, "dark"), (1440, "light")])
def test_a_link_shows_another_browser_what_the_sender_saw(
    look: Open, address: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    page = on_iris(look, address, size=size, scheme=scheme).page
    make_choices(page)
    assert page.evaluate("location.protocol") == "file:"
    other = look(page.evaluate("location.href"), size=size, scheme=scheme).page
    assert seen(other) == seen(page)


def test_a_link_to_a_run_opens_it(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.locator("[id^=run-]").nth(5).click()
    page.wait_for_selector("#scenario[open]")
    other = look(page.evaluate("location.href")).page
    other.wait_for_selector("#scenario[open]")
    assert seen(other)["run"] == seen(page)["run"]
    other.keyboard.press("Escape")
    other.wait_for_selector("#scenario", state="hidden")
    assert "run=" not in other.evaluate("location.href")


def test_rows_columns_and_the_matrix_are_part_of_the_link(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.select_option("#axis-rows", "aggregator")
    page.select_option("#axis-columns", "attack")
    page.select_option("#axis-within", "")
    page.check("#across-strategy", force=True)
    other = look(page.evaluate("location.href")).page
    assert seen(other) == seen(page)
    assert other.input_value("#axis-rows") == "aggregator"


def test_going_back_undoes_a_choice(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    before = seen(page)
    page.check("#measure-worst", force=True)
    choose(page, "strategy", "WoLA")
    after = seen(page)
    page.go_back()
    page.go_back()
    assert seen(page)["words"] == before["words"]
    page.go_forward()
    page.go_forward()
    assert seen(page)["words"] == after["words"]


def test_the_button_copies_a_link_that_says_all(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.click("#link")
    page.wait_for_selector("#link:text('Copied')")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"#data=iris,.*rows=strategy&columns=alpha,f&at=0.3,\d&curves=", link)
    other = look(link).page
    assert seen(other)["words"] == seen(page)["words"]


@pytest.mark.parametrize(
    "link",
    [
        "#main",
        "#rows=nosuch&columns=neither,nor&measure=none&at=9,9,9&sort=x,y&pages=-3&run=0",
        "#data=%E0%A4%A&no-=&cell=a&cell=a,b&=&&no-attack=%ZZ",
        "#no-__proto__=a&cell=__proto__,b&rows=constructor&across=toString",
        "#find=<img src=x onerror=alert(1)>",
    ],
)
def test_a_link_that_means_nothing_does_no_harm(look: Open, address: str, link: str) -> None:
    page = look(address + link).page
    page.wait_for_selector("#overview tbody tr, #empty:not([hidden])", state="attached")
    assert page.title() != "harm"
    assert page.locator("img").count() == 0


def test_a_link_to_a_server_works_as_well(look: Open, store: Store, tmp_path: Path) -> None:
    with serving(store, fresh=1000) as server:
        page = on_iris(look, server.url).page
        make_choices(page)
        other = look(page.evaluate("location.href")).page
        other.wait_for_selector("#chart-accuracy")
        assert seen(other)["words"] == seen(page)["words"]
