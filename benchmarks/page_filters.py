"""How long a page takes to follow a filter, in a browser."""

import os
import shutil
import statistics
from pathlib import Path

#: Presses one choice of a menu and waits until the page has followed and is painted.
PRESS = """
async (place) => {
  const boxes = document.querySelectorAll("#menu-attack input, #menu-aggregator input");
  const box = boxes[place % boxes.length];
  const start = performance.now();
  box.click();
  document.body.getBoundingClientRect();
  const followed = performance.now() - start;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return followed;
}
"""


def filter_milliseconds(page: Path, presses: int = 12) -> float | None:
    """The median time that a page takes to follow a filter; None without chromium."""
    program = os.environ.get("WOLA_CHROMIUM") or shutil.which("chromium")
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1440, "height": 900})
        opened.goto(page.resolve().as_uri(), timeout=120_000)
        opened.wait_for_selector("#overview tbody tr", timeout=120_000)
        # A menu has its choices once it is open.
        for name in ("attack", "aggregator"):
            opened.click(f"#summary-{name}")
            opened.keyboard.press("Escape")
        taken = [float(opened.evaluate(PRESS, place)) for place in range(presses)]
        browser.close()
    return statistics.median(taken)
