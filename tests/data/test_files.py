import gzip
import random
import zipfile

import pytest

from tests.data.small_files import write_folder, write_tar
from wola.data.arrays import DataError
from wola.data.files import check_content, find_files, require_files

FILES = {"a": b"first", "b": b"second"}


def test_files_are_found_in_folders_archives_and_beside_one_of_them(tmp_path):
    plain = write_folder(tmp_path / "plain", FILES)
    packed = write_folder(tmp_path / "packed" / "deep", FILES, compress=gzip.compress)
    tar = write_tar(tmp_path / "x.tar.gz", FILES)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("inner/a.gz", gzip.compress(b"first"))
        archive.writestr("b", b"second")
    sources = (plain, packed.parent, tar, tmp_path / "x.zip", plain / "a", packed / "b.gz")
    for source in sources:
        assert find_files(source, ("a", "b", "c")) == FILES


def test_the_nearest_of_two_files_wins(tmp_path):
    write_folder(tmp_path, {"a": b"near"})
    write_folder(tmp_path / "below", {"a": b"far"})
    assert find_files(tmp_path, ["a"]) == {"a": b"near"}


def test_missing_files_are_named(tmp_path):
    write_folder(tmp_path, {"a": b""})
    with pytest.raises(DataError, match="lacks b, c"):
        require_files(tmp_path, ("a", "b", "c"))


def test_a_source_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere does not exist"):
        find_files(tmp_path / "nowhere", ["a"])


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "page.html").write_text("<html>")
    with pytest.raises(DataError, match="not a tar or zip archive"):
        find_files(tmp_path / "page.html", ["a"])


@pytest.mark.parametrize("kept", [10, 40, 60])
def test_truncated_compressed_files_say_so(tmp_path, kept):
    whole = gzip.compress(bytes(range(256)))
    (tmp_path / "a.gz").write_bytes(whole[:kept])
    with pytest.raises(DataError, match="truncated or damaged"):
        find_files(tmp_path, ["a"])


@pytest.mark.parametrize("lost", [1, 60, 3000])
def test_a_truncated_archive_says_so(tmp_path, lost):
    path = write_tar(tmp_path / "x.tar.gz", {"a": random.Random(0).randbytes(10_000)})
    path.write_bytes(path.read_bytes()[:-lost])
    with pytest.raises(DataError, match="truncated or damaged"):
        find_files(path, ["a"])


def test_a_changed_checksum_at_the_end_of_an_archive_is_noticed(tmp_path):
    path = write_tar(tmp_path / "x.tar.gz", FILES)
    content = bytearray(path.read_bytes())
    content[-8] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="truncated or damaged"):
        find_files(path, ["a"])


def test_the_right_checksum_passes_in_silence():
    check_content("a", b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
