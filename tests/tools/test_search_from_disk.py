"""docs/iframe-worker.js: what lets the search of the site run in a page opened as a file."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "iframe-worker.js"

PAGE = """<!doctype html><body><script src="iframe-worker.js"></script><script>
const heard = [];
const worker = new Worker(new URL("echo.js", location));
worker.addEventListener("message", (event) => heard.push(event.data));
worker.postMessage(1);
worker.postMessage({ text: "two" });
</script></body>"""

ECHO = (
    'addEventListener("message", (event) => postMessage({ got: event.data, of: location.href }));'
)


@pytest.fixture
def opened(browser, tmp_path):
    (tmp_path / "iframe-worker.js").write_text(SCRIPT.read_text(encoding="utf-8"))
    (tmp_path / "echo.js").write_text(ECHO)
    (tmp_path / "index.html").write_text(PAGE)
    page = browser.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto((tmp_path / "index.html").as_uri())
    yield page
    page.close()


def test_messages_reach_the_worker_in_their_order_and_come_back(opened):
    opened.wait_for_function("heard.length === 2")
    heard = opened.evaluate("heard")
    assert [each["got"] for each in heard] == [1, {"text": "two"}]
    assert opened.faults == []


def test_the_worker_is_not_the_page_itself(opened):
    opened.wait_for_function("heard.length === 2")
    assert {each["of"] for each in opened.evaluate("heard")} == {"about:blank"}


def test_a_script_that_is_not_there_is_an_error_that_names_it(opened):
    opened.evaluate(
        'new Worker(new URL("gone.js", location)).ready.catch((e) => heard.push(`${e}`))'
    )
    opened.wait_for_function("heard.length === 3")
    assert "gone.js cannot be loaded" in opened.evaluate("heard")[-1]
