from tests.bench.small import iris
from wola.bench import notes as notes_module
from wola.bench.events import Evaluated
from wola.bench.notes import Note, NoteWriter, announce, announced, live_folder, notes


def test_a_note_is_there_while_the_run_is_under_way(store, monkeypatch):
    monkeypatch.setattr(notes_module, "NOTE_EVERY", 0.0)
    with NoteWriter(store.path, "a", iris()) as note:
        (first,) = notes(store.path)
        note(Evaluated("a", 3, 61.5))
        (second,) = notes(store.path)

    assert first == Note("a", "iris alpha 0.3 f 6 - trimmed-mean alie seed 1", 0, 6, None)
    assert (second.step, second.accuracy) == (3, 61.5)
    assert list(live_folder(store.path).iterdir()) == []


def test_tests_in_quick_succession_do_not_each_replace_the_note(store):
    with NoteWriter(store.path, "a", iris()) as note:
        note(Evaluated("a", 3, 61.5))

        assert [one.step for one in notes(store.path)] == [0]


def test_the_last_grid_announced_counts(store):
    announce(store.path, "first", ["a"])
    announce(store.path, "second", ["b", "c"])

    found = announced(store.path)
    assert (found.title, found.keys) == ("second", ("b", "c"))


def test_notes_that_cannot_be_read_are_left_out(store):
    live_folder(store.path).mkdir()
    (live_folder(store.path) / "a.note").write_text("{half")
    (live_folder(store.path) / "grid.json").write_text("[]")

    assert list(notes(store.path)) == []
    assert announced(store.path) is None


def test_a_note_that_cannot_be_written_harms_nobody(store):
    live_folder(store.path).write_text("a file where the folder should be")

    with NoteWriter(store.path, "a", iris()):
        pass
