"""Pages in a real browser: what is opened, what goes wrong there, and a store to look at."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.report.browser.store import fill, keep_harm, scenarios
from wola.bench.store import Store
from wola.report import Runs, read_runs
from wola.report.page import write_page

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 780}

_FOLDER = Path(__file__).parents[3] / "build" / "screenshots"


@dataclass
class Opened:
    """A page in the browser, what went wrong on it, and the requests it made."""

    page: Any
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def shot(self, name: str, *, whole: bool = True) -> None:
        """Keeps a picture of the page."""
        folder = Path(os.environ.get("WOLA_SCREENSHOTS", _FOLDER))
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.png", full_page=whole)


Open = Callable[..., Opened]


@pytest.fixture
def look(browser: Any) -> Iterator[Open]:
    """Opens an address; the test fails if anything goes wrong on the page or leaves the machine."""
    contexts, opened = [], []

    def look_at(url: str, *, size: dict[str, int] = DESKTOP, scheme: str = "light") -> Opened:
        context = browser.new_context(
            viewport=size, color_scheme=scheme, permissions=["clipboard-read", "clipboard-write"]
        )
        made = Opened(context.new_page())
        made.page.on("pageerror", lambda error: made.faults.append(str(error)))
        made.page.on("console", lambda said: made.faults.append(f"{said.type}: {said.text}"))
        made.page.on("request", lambda request: made.requests.append(request.url))
        made.page.set_default_timeout(20_000)
        contexts.append(context)
        opened.append(made)
        made.page.goto(url)
        return made

    yield look_at
    for one in opened:
        assert one.faults == []
        near = ("file:", "data:", "http://localhost:")
        assert [url for url in one.requests if not url.startswith(near)] == []
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """All of iris but for one run that failed and one that is missing; harmful texts elsewhere."""
    made = Store.open(tmp_path_factory.mktemp("browser") / "store")
    wanted = scenarios()
    last = [s for s in wanted if s.byzantine == 6 and s.strategy == "-"]
    fill(made, [s for s in wanted if s not in last[-2:]])
    made.fail(made.key(last[-1]), last[-1], "no memory")
    keep_harm(made)
    return made


@pytest.fixture(scope="session")
def runs(store: Store) -> Runs:
    return read_runs(store)


@pytest.fixture(scope="session")
def address(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the page of the store is."""
    return write_page(runs, tmp_path_factory.mktemp("page")).as_uri()
