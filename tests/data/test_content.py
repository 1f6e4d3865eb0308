import json
import os

import pytest

from wola.data import DataError, content, content_digest


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Nothing is known yet, and a file is settled as soon as it is written."""
    monkeypatch.setattr(content, "_known", {})
    monkeypatch.setattr(content, "SETTLED_NS", -(10**9))


@pytest.fixture
def computed(monkeypatch):
    """The paths whose content has been read."""
    read, compute = [], content._computed

    def spy(path):
        read.append(path.name)
        return compute(path)

    monkeypatch.setattr(content, "_computed", spy)
    return read


def tree(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def forget():
    content._known.clear()


def test_only_the_content_of_a_file_counts(tmp_path):
    a, b, c = (tmp_path / name for name in "abc")
    for path, text in ((a, "same"), (b, "same"), (c, "other")):
        path.write_text(text)
    assert content_digest([a]) == content_digest([b]) != content_digest([c])
    assert content_digest([a, c]) != content_digest([c, a])
    assert len(content_digest([a])) == 64


def test_a_folder_is_its_files_with_their_names_wherever_it_is(tmp_path):
    one = tree(tmp_path / "one", train__cat__1="x", train__dog__1="y")
    two = tree(tmp_path / "two", train__dog__1="y", train__cat__1="x")
    swapped = tree(tmp_path / "three", train__cat__1="y", train__dog__1="x")
    more = tree(tmp_path / "four", train__cat__1="x", train__dog__1="y", train__dog__2="")
    assert content_digest([one]) == content_digest([two])
    assert len({content_digest([folder]) for folder in (one, swapped, more)}) == 3


def test_where_one_file_ends_and_the_next_begins_counts(tmp_path):
    one, two = tree(tmp_path / "1", a="xy", b="z"), tree(tmp_path / "2", a="x", b="yz")
    assert content_digest([one]) != content_digest([two])
    assert content_digest([one / "a", one / "b"]) != content_digest([two / "a", two / "b"])


def test_content_is_read_once_in_a_process_and_once_for_all(tmp_path, computed, cache):
    path = tree(tmp_path, a="text") / "a"
    first = content_digest([path])
    assert content_digest([path]) == first
    forget()
    assert content_digest([path]) == first
    assert computed == ["a"]
    assert [entry.name for entry in cache.iterdir()] == ["content.json"]


@pytest.mark.parametrize("known", [True, False], ids=["in memory", "on disk"])
def test_a_changed_file_is_read_again_even_if_size_and_date_are_the_same(tmp_path, computed, known):
    path = tree(tmp_path, a="text") / "a"
    before, times = content_digest([path]), path.stat()
    path.write_text("TEXT")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    if not known:
        forget()
    assert content_digest([path]) != before
    assert computed == ["a", "a"]


def test_a_change_deep_in_a_folder_is_noticed(tmp_path):
    folder = tree(tmp_path / "data", train__cat__1="x", train__dog__1="y")
    before = content_digest([folder])
    (folder / "train" / "cat" / "1").replace(folder / "train" / "cat" / "2")
    renamed = content_digest([folder])
    (folder / "train" / "cat" / "2").replace(folder / "train" / "cat" / "1")
    assert renamed != before == content_digest([folder])


def test_a_file_that_is_still_young_is_not_remembered(tmp_path, computed, cache, monkeypatch):
    monkeypatch.setattr(content, "SETTLED_NS", 10**12)
    path = tree(tmp_path, a="text") / "a"
    assert content_digest([path]) == content_digest([path])
    assert computed == ["a", "a"]
    assert list(cache.iterdir()) == []


def changed_digest(stored):
    (entry,) = stored["digests"].values()
    entry[1] = "0" * 64
    return json.dumps(stored)


@pytest.mark.parametrize(
    "damage",
    [
        lambda stored: "",
        lambda stored: "[1, 2]",
        lambda stored: json.dumps(stored)[:-5],
        lambda stored: json.dumps({"digests": stored["digests"]}),
        lambda stored: json.dumps({"check": content._check([1]), "digests": [1]}),
        changed_digest,
    ],
    ids=["empty", "list", "truncated", "unchecked", "other form", "changed"],
)
def test_a_damaged_cache_is_ignored_and_mended(tmp_path, computed, cache, damage):
    path = tree(tmp_path, a="text") / "a"
    right = content_digest([path])
    file = cache / "content.json"
    file.write_text(damage(json.loads(file.read_text())))
    forget()
    assert content_digest([path]) == right
    forget()
    assert content_digest([path]) == right
    assert computed == ["a", "a"]


def test_a_cache_that_is_no_text_is_ignored(tmp_path, cache):
    (cache / "content.json").write_bytes(b"\xff\xfe\x00")
    assert content_digest([tree(tmp_path, a="text") / "a"])


def test_a_cache_folder_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WOLA_DATA", str(tmp_path / "file" / "cache"))
    assert content_digest([tmp_path / "file"])


def test_the_cache_keeps_the_latest_alone(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(content, "ENTRIES", 2)
    folder = tree(tmp_path, a="1", b="2", c="3")
    for name in "abca":
        content_digest([folder / name])
        forget()
    kept = json.loads((cache / "content.json").read_text())["digests"]
    assert list(kept) == [str(folder / "c"), str(folder / "a")]


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, cache):
    path = tree(tmp_path, a="text") / "a"
    compute = content._computed

    def slow(file):
        digest = compute(file)
        file.write_text("longer text")
        return digest

    monkeypatch.setattr(content, "_computed", slow)
    with pytest.raises(DataError, match="a changed while it was read"):
        content_digest([path])
    assert list(cache.iterdir()) == []


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere cannot be read"):
        content_digest([tmp_path / "nowhere"])


def test_links_are_followed_and_a_circle_of_them_ends(tmp_path):
    plain = tree(tmp_path / "plain", cat__1="x")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "cat").symlink_to(plain / "cat", target_is_directory=True)
    assert content_digest([linked]) == content_digest([plain])
    (linked / "circle").symlink_to(linked, target_is_directory=True)
    assert content_digest([linked]) == content_digest([plain])
