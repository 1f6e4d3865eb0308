"""For all tests: examples may take as long as they need, and a folder nobody may write to."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

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
