import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report.browser.conftest import PHONE, Open
from tests.report.browser.store import fill, keep, scenarios
from tests.report.serving import serving
from wola.bench.events import Evaluated
from wola.bench.notes import NoteWriter, announce
from wola.bench.store import Store
from wola.report.serve import PageServer


@pytest.fixture
def growing(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


@pytest.fixture
def server(growing: Store) -> Iterator[PageServer]:
    with serving(growing, fresh=0.1) as made:
        yield made


def test_runs_appear_without_reloading(look: Open, server: PageServer, growing: Store) -> None:
    opened = look(server.url, size=PHONE)
    page = opened.page
    page.wait_for_selector("#empty:has-text('no runs yet')")
    page.evaluate("window.stayed = true")
    wanted = [s for s in scenarios() if s.byzantine == 2]
    fill(growing, wanted[:-1])
    page.wait_for_selector("#status:text('31 runs')")
    assert page.locator("#overview :text('7/8')").count() == 1
    page.wait_for_selector("#chart-accuracy")
    page.focus("#rank-by-worst")
    keep(growing, wanted[-1])
    page.wait_for_selector("#status:text('32 runs')")
    page.wait_for_selector("#overview:not(:has-text('7/8'))")
    assert page.evaluate("window.stayed")
    assert page.evaluate("document.activeElement.id") == "rank-by-worst"
    opened.shot("serve-phone")


def test_only_what_is_new_is_asked_for(look: Open, server: PageServer, growing: Store) -> None:
    fill(growing, scenarios()[:8])
    opened = look(server.url)
    opened.page.wait_for_selector("#chart-accuracy")
    with opened.page.expect_response("**/rows?since=*") as found:
        pass
    news = found.value.json()
    assert (news["rows"], news["whole"]) == ([], False)


def test_a_grid_under_way_is_shown_with_its_total_what_runs_and_what_failed(
    look: Open, server: PageServer, growing: Store
) -> None:
    wanted = scenarios()[:20]
    announce(growing.path, "my grid", [growing.key(s) for s in wanted])
    fill(growing, wanted[:3])
    opened = look(server.url)
    page = opened.page
    page.wait_for_selector("#live:has-text('3 of 20 runs done')")
    assert page.get_attribute("#live progress", "max") == "20"
    assert not page.is_visible("#live .now")
    now = wanted[4]
    claim = growing.claim(growing.key(now))
    assert claim
    with claim, NoteWriter(growing.path, growing.key(now), now) as note:
        note._written = 0.0
        note(Evaluated(growing.key(now), 20, 61.5))
        page.wait_for_selector("#live .now li:has-text('20/150 · 61.5 %')")
        growing.fail(growing.key(wanted[5]), wanted[5], "Traceback\nMemoryError: <b>no room</b>")
        page.wait_for_selector("#live .failed li:has-text('MemoryError: <b>no room</b>')")
        page.wait_for_selector("#live:has-text('3 of 20 runs done · 1 failed')")
        opened.shot("serve-live")
    fill(growing, [s for s in wanted if s != wanted[5]])
    page.wait_for_selector("#live .grid", state="detached")
    assert page.is_visible("#live .failed")


def test_the_time_left_is_shown(look: Open, server: PageServer, growing: Store) -> None:
    wanted = scenarios()[:10]
    keys = tuple(growing.key(s) for s in wanted)
    announce(growing.path, "my grid", keys)
    claim = growing.claim(keys[-1])
    assert claim
    with claim:
        page = look(server.url).page
        page.wait_for_selector("#live:has-text('time left not known yet')")
        pace = server.watched._under_way._paces[keys]
        pace.clock, pace.start = (lambda: 4000.0), 0.0
        fill(growing, wanted[:5])
        page.wait_for_selector("#live:has-text('5 of 10 runs done · 1:06:40 left')")


def test_the_page_says_that_the_server_has_ended(
    look: Open, growing: Store, tmp_path: Path
) -> None:
    fill(growing, scenarios()[:8])
    with PageServer([growing], port=0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        opened = look(made.url)
        opened.page.wait_for_selector("#chart-accuracy")
        made.shutdown()
        thread.join()
    opened.page.route("**/rows*", lambda route: route.abort())
    opened.page.wait_for_selector("#status:text('the server has ended')")
    assert opened.page.locator("#ranking tbody tr").count() > 0
    # The browser notes on its own that an address could not be reached.
    opened.faults[:] = [fault for fault in opened.faults if "ERR_" not in fault]
