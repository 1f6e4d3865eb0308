import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from tests.report.browser.store import HARM
from wola.report.page.document import Place, embedded, joined, page_document, policy


def between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0]


@pytest.mark.parametrize("text", [HARM, "<!--<script>", "\u2028\u2029", "{{script}}", "a\\u003cb"])
def test_texts_of_runs_come_through_whole_and_cannot_end_the_script(text: str) -> None:
    page = page_document({"rows": [[text]]}, {"k": text}, place="inside")
    data = json.loads(between(page, 'id="data">', "</script>"))
    assert data["rows"] == [[text]]
    assert json.loads(between(page, 'id="details">', "</script>")) == {"k": text}
    assert page.count("</script>") == 3


@pytest.mark.parametrize("place", ["inside", "beside", "server"])
def test_the_policy_allows_this_script_and_this_style(place: Place) -> None:
    page = page_document({}, {}, place=place)
    for tag in ("<script>", "<style>"):
        inside = between(page, tag, tag.replace("<", "</"))
        digest = b64encode(sha256(inside.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy(place)
    assert "unsafe" not in policy(place)
    assert "http" not in policy(place)


def test_only_the_served_page_may_ask_for_anything() -> None:
    assert "connect-src 'none'" in policy("inside")
    assert "connect-src 'none'" in policy("beside")
    assert "connect-src 'self'" in policy("server")


def test_the_page_names_no_address_outside() -> None:
    page = page_document({}, {}, place="inside")
    assert set(re.findall(r"https?://[\w./]+", page)) == {"http://www.w3.org/2000/svg"}


def test_the_script_makes_no_markup_out_of_text() -> None:
    script = joined("script")
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)


def test_numbers_that_json_does_not_know_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        embedded(float("nan"))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colours(selector: str) -> dict[str, str]:
    """The colours that one rule of the style sets, by name."""
    (found,) = re.findall(rf"(?m)^{re.escape(selector)} \{{\n(.*?)\n\}}", joined("style"), re.S)
    return dict(re.findall(r"--([\w-]+): (#\w{6});", found))


def themes() -> list[dict[str, str]]:
    """The colours of the light and of the dark theme by name."""
    return [colours(":root"), colours(':root[data-theme="dark"]')]


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_lines_and_texts_stand_out(theme: dict[str, str]) -> None:
    for place in range(13):
        assert contrast(theme[f"s{place}"], theme["card"]) >= 3, place
    for back in ("card", "paper", "tint", "first", "second", "third"):
        assert contrast(theme["ink"], theme[back]) >= 4.5
        assert contrast(theme["soft"], theme[back]) >= 4.5, back
    assert contrast(theme["accent"], theme["on-accent"]) >= 4.5
    assert contrast(theme["live"], theme["card"]) >= 4.5
    assert contrast(theme["alarm"], theme["card"]) >= 4.5


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_numbers_can_be_read_on_every_shade(theme: dict[str, str]) -> None:
    shades = [name for name in theme if re.fullmatch(r"[hge]\d", name)]
    assert len(shades) == 19
    for name in shades:
        assert contrast(theme["ink"], theme[name]) >= 4.5, name


def test_both_themes_have_the_same_colours_in_every_browser() -> None:
    light, dark = themes()
    assert light.keys() == dark.keys()
    assert "light-dark(" not in joined("style")
