import hashlib
import os

import pytest

from wola.data.arrays import DataError
from wola.data.download import Remote, download

CONTENT = bytes(range(256)) * 300
CHECKSUM = "md5:" + hashlib.md5(CONTENT).hexdigest()


def remote(site, *, checksum=CHECKSUM, names=("x.bin",)):
    return Remote("x.bin", tuple(f"{site.url}/{name}" for name in names), checksum)


def test_a_file_arrives_whole_and_alone(site, tmp_path):
    site.files["x.bin"] = CONTENT
    assert download(remote(site), tmp_path).read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["x.bin"]


def test_a_file_that_is_there_is_not_downloaded_again(site, tmp_path):
    site.files["x.bin"] = CONTENT
    for _ in range(2):
        download(remote(site), tmp_path)
    assert site.ranges == [None]


def test_an_interrupted_download_goes_on_where_it_stopped(site, tmp_path):
    site.files["x.bin"] = CONTENT
    site.break_after = 50_000
    with pytest.raises(DataError, match=r"cannot download x.bin"):
        download(remote(site), tmp_path)
    have = (tmp_path / "x.bin.part").read_bytes()
    assert 0 < len(have) <= 50_000
    assert have == CONTENT[: len(have)]
    site.break_after = None
    assert download(remote(site), tmp_path).read_bytes() == CONTENT
    assert site.ranges == [None, f"bytes={len(have)}-"]


def test_a_server_that_cannot_resume_sends_everything_again(site, tmp_path):
    site.files["x.bin"] = CONTENT
    site.resumes = False
    (tmp_path / "x.bin.part").write_bytes(CONTENT[:1000])
    assert download(remote(site), tmp_path).read_bytes() == CONTENT


def test_a_partial_file_longer_than_the_whole_is_started_anew(site, tmp_path):
    site.files["x.bin"] = CONTENT
    (tmp_path / "x.bin.part").write_bytes(CONTENT * 2)
    assert download(remote(site), tmp_path).read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing(site, tmp_path):
    site.files["x.bin"] = b"something else"
    with pytest.raises(DataError, match="hash"):
        download(remote(site), tmp_path)
    assert os.listdir(tmp_path) == []


def test_the_next_mirror_is_tried(site, tmp_path):
    site.files["b.bin"] = CONTENT
    found = download(remote(site, names=("a.bin", "b.bin")), tmp_path)
    assert found.read_bytes() == CONTENT


def test_every_mirror_that_failed_is_named(site, tmp_path):
    gone = Remote("x.bin", (f"{site.url}/a", "http://127.0.0.1:9/b"), CHECKSUM)
    with pytest.raises(DataError, match=r"404.*127.0.0.1:9/b cannot be reached"):
        download(gone, tmp_path)
