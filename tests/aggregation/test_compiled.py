"""Compiled code is kept only where nobody else can put any, and rules work without any place."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import wola
from wola.aggregation import compiled as module
from wola.aggregation.compiled import UnsafeCache, cache_place, compiled, usable_kernel_folder

SCRIPT = """
import torch, wola
from wola import Krum, TrimmedMean
updates = torch.randn(9, 50, generator=torch.Generator().manual_seed(1))
print(wola.__file__)
print(Krum()(updates, f=2).shape, TrimmedMean()(updates, f=2).shape)
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    module._warn_once.cache_clear()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)


def source_in(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.py").write_text("")
    return folder / "kernel.py"


def test_compiled_code_lies_beside_a_source_of_ones_own(tmp_path: Path) -> None:
    assert cache_place(source_in(tmp_path / "package")) == ""


def test_a_folder_that_others_may_write_to_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WOLA_CACHE", str(tmp_path / "cache"))
    source = source_in(tmp_path / "package")
    beside = source.parent / "__pycache__"
    beside.mkdir()
    beside.chmod(0o777)
    assert cache_place(source) == str(tmp_path / "cache" / "kernels" / "package")
    assert (tmp_path / "cache" / "kernels").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_an_unsafe_kernel_folder_is_named_once_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    monkeypatch.setenv("WOLA_CACHE", str(tmp_path))
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(mode)
    with pytest.warns(UnsafeCache, match="may be written to by others"):
        assert usable_kernel_folder() is None
    assert usable_kernel_folder() is None


def test_another_users_folder_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WOLA_CACHE", str(tmp_path))
    assert usable_kernel_folder() is not None
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.warns(UnsafeCache):
        assert usable_kernel_folder() is None


def test_an_unsafe_folder_of_numbas_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_in(tmp_path / "package")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert cache_place(source) == str(tmp_path / "numba")
    (tmp_path / "numba").chmod(0o777)
    with pytest.warns(UnsafeCache):
        assert cache_place(source) is None


def test_without_a_home_there_is_no_kernel_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(module, "kernel_folder", homeless)
    assert usable_kernel_folder() is None


@pytest.mark.parametrize("kept", [True, False])
def test_a_kernel_is_compiled_wherever_it_is_kept(
    monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    monkeypatch.setattr(module, "cache_place", lambda source: "/proc/nowhere")
    assert compiled(lambda x: x.sum(), kept=kept)(np.ones(3)) == 3.0


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can read."""
    with TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_a_read_only_package_and_no_home_are_enough(open_folder: Path) -> None:
    # Permissions do not bind the superuser, unless its privileges are taken from it.
    bound = ["setpriv", "--bounding-set", "-all", "--"] if os.getuid() == 0 else []
    package = open_folder / "wola"
    shutil.copytree(
        Path(wola.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    inside = [package, *package.rglob("*")]
    for path in inside:
        path.chmod(0o555 if path.is_dir() else 0o444)
    nowhere = {"HOME": str(package / "home"), "TMPDIR": str(package / "tmp")}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(open_folder), **nowhere}
    command = [*bound, sys.executable, "-W", "error::UserWarning", "-c", SCRIPT]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/")
        assert not (package / "home").exists()
    finally:
        for path in inside:
            path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert str(package) in done.stdout
    assert "torch.Size([50]) torch.Size([50])" in done.stdout
