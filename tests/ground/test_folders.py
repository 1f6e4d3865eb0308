"""The three folders: the environment first, then what the platform's users expect."""

import os
import sys
from pathlib import Path

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from wola.ground import cache_folder, kernel_folder, state_folder

FOLDERS = [
    ("WOLA_DATA", cache_folder, Path()),
    ("WOLA_CACHE", kernel_folder, Path("kernels")),
    ("WOLA_STATE", state_folder, Path()),
]


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A home of one's own, and no variable that leads elsewhere."""
    for name in ("WOLA_DATA", "WOLA_CACHE", "WOLA_STATE", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("variable", "folder", "inside"), FOLDERS)
def test_the_environment_names_the_folder(home, monkeypatch, variable, folder, inside):
    monkeypatch.setenv(variable, str(home / "here"))
    assert folder() == home / "here" / inside
    monkeypatch.setenv(variable, "~/there")
    assert folder() == home / "there" / inside


@pytest.mark.parametrize(("variable", "folder", "inside"), FOLDERS)
def test_an_empty_variable_names_nothing(home, monkeypatch, variable, folder, inside):
    usual = folder()
    monkeypatch.setenv(variable, "")
    assert folder() == usual


@pytest.mark.parametrize(("platform", "platforms_own"), [("linux", Unix), ("darwin", MacOS)])
def test_without_it_they_are_where_the_platforms_programs_keep_theirs(
    home, monkeypatch, platform, platforms_own
):
    custom = platforms_own("wola")
    cache, state = Path(custom.user_cache_dir), Path(custom.user_state_dir)
    monkeypatch.setattr(sys, "platform", platform)
    assert (cache_folder(), kernel_folder()) == (cache, cache / "kernels")
    assert state_folder() == state


def test_on_windows_they_are_in_the_local_data_of_the_user(home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    local = home / "AppData" / "Local" / "wola" / "wola"
    assert (cache_folder(), state_folder()) == (local / "Cache", local)
    monkeypatch.setenv("LOCALAPPDATA", str(home / "elsewhere"))
    assert kernel_folder() == home / "elsewhere" / "wola" / "wola" / "Cache" / "kernels"


def test_on_linux_the_folders_of_the_desktop_are_respected(home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "a"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "b"))
    assert cache_folder() == home / "a" / "wola"
    assert kernel_folder() == home / "a" / "wola" / "kernels"
    assert state_folder() == home / "b" / "wola"


def test_a_state_folder_that_is_given_counts_before_the_environment(home, monkeypatch):
    monkeypatch.setenv("WOLA_STATE", str(home / "a"))
    assert state_folder("b") == Path("b")
    assert state_folder(home / "c") == home / "c"
    assert state_folder(os.fspath("~/d")) == home / "d"
