"""Words that explain themselves, to the pointer, the keyboard and a finger."""

from typing import Any

import pytest

from tests.report.browser.conftest import PHONE, Open
from tests.report.browser.test_browser_page import on_iris
from wola.aggregation import MultiKrum
from wola.attacks import FOE
from wola.mixing import NNM
from wola.report.page.glossary import WORDS
from wola.training import Scenario


def first_line(part: Any) -> str:
    return str(part.__doc__).splitlines()[0].replace("`", "")


ALPHA = str(Scenario.model_fields["alpha"].description)
LINES = {
    "#overview thead .term:text('alpha')": ALPHA,
    "#overview tbody .term:text-is('NNM')": first_line(NNM),
    "#matrix thead .term:text-is('FOE')": first_line(FOE),
    "#matrix tbody .term:text-is('MKrum')": first_line(MultiKrum),
    "#notes-title ~ p .term:text-is('†')": WORDS["dagger"],
    "#rank-by-dissimilarity": WORDS["dissimilarity"],
    "[id='column-0.3-2']": str(Scenario.model_fields["byzantine"].description),
}


@pytest.mark.parametrize("place", LINES)
def test_a_term_is_explained_on_hover_and_focus(look: Open, address: str, place: str) -> None:
    page = on_iris(look, address).page
    page.locator(place).first.hover()
    page.wait_for_selector("#tip:not([hidden])")
    assert page.inner_text("#tip") == LINES[place]
    page.mouse.move(5, 5)
    page.wait_for_selector("#tip", state="hidden")
    page.locator(place).first.focus()
    assert page.inner_text("#tip") == LINES[place]
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
    page.keyboard.press("Escape")
    assert not page.is_visible("#tip")
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") is None


def test_a_tap_explains_a_term_inside_the_screen(look: Open, address: str) -> None:
    page = on_iris(look, address, size=PHONE).page
    page.locator("#matrix tbody .term").last.click()
    box = page.locator("#tip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    page.locator("#matrix-about").click()
    assert not page.is_visible("#tip")


def test_terms_are_explained_in_an_open_run_as_well(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.locator("[id^=run-]").first.click()
    page.locator("#scenario .term:text-is('Macro-F1')").focus()
    assert page.inner_text("#tip") == WORDS["macro-f1"]
    tip, dialog = (page.locator(name).bounding_box() for name in ("#tip", "#scenario"))
    assert dialog["y"] <= tip["y"] <= dialog["y"] + dialog["height"]
    seen = page.evaluate(
        "(() => { const box = byId('tip').getBoundingClientRect();"
        " byId('tip').style.pointerEvents = 'auto';"
        " return document.elementFromPoint(box.left + 5, box.top + 5).id; })()"
    )
    assert seen == "tip"
