"""For all tests: time for examples, a folder nobody may write to, and a real browser."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from playwright.sync_api import sync_playwright

# How long an example takes says how busy the machine is.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def read_only_folder(tmp_path):
    """A folder without write permission; where permissions do not bind, one of the kernel's."""
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o500)
    yield Path("/proc/self") if os.access(folder, os.W_OK) else folder
    folder.chmod(0o700)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright; without it the test is skipped."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = os.environ.get("WOLA_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("chromium is not installed: pages are not tried in a browser")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield made
        made.close()
