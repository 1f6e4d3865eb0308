import os
import time
from dataclasses import replace

from tests.bench.made_up import put
from wola.bench.claims import Owner
from wola.bench.cleanup import clean_up
from wola.bench.notes import live_folder
from wola.bench.store import Store
from wola.ground.sealed import sealed_bytes
from wola.training import Scenario


def test_a_tidy_store_is_left_as_it_is(store: Store) -> None:
    put(store, Scenario())
    before = sorted(store.path.rglob("*"))
    cleaned = clean_up(store)
    assert (cleaned.damaged, cleaned.claims, cleaned.drafts, cleaned.live, cleaned.corrupt) == (
        {},
        0,
        0,
        0,
        0,
    )
    assert sorted(store.path.rglob("*")) == before


def test_damaged_runs_are_set_aside_and_later_deleted(store: Store) -> None:
    key = put(store, Scenario())
    (store.folder(key) / "metrics.parquet").write_bytes(b"")
    assert list(clean_up(store).damaged) == [key]
    assert store.state(key) == "missing"
    assert clean_up(store).corrupt == 0
    assert clean_up(store, corrupt=True).corrupt == 1
    assert list((store.path / "corrupt").iterdir()) == []


def test_dead_claims_go_and_living_ones_stay(store: Store) -> None:
    dead = store.claim("ab" * 32, replace(Owner.here(), started="1"))
    living = store.claim("cd" * 32)
    assert dead is not None
    assert living is not None
    assert clean_up(store).claims == 1
    assert list((store.path / "claims").iterdir()) == [living.path]


def test_what_is_left_of_a_killed_takeover_goes_when_it_is_old(store: Store) -> None:
    folder = store.path / "claims"
    folder.mkdir()
    for name, age in ((".old", 7200), (".new", 0)):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - age,) * 2)
    assert clean_up(store).drafts == 1
    assert [path.name for path in folder.iterdir()] == [".new"]


def test_only_old_drafts_go(store: Store) -> None:
    for name, age in (("old", 7200), ("new", 0)):
        draft = store.path / "drafts" / name
        draft.mkdir(parents=True)
        os.utime(draft, (time.time() - age,) * 2)
    assert clean_up(store).drafts == 1
    assert [p.name for p in (store.path / "drafts").iterdir()] == ["new"]


def test_notes_and_checkpoints_of_done_runs_go(store: Store) -> None:
    key = put(store, Scenario())
    live = live_folder(store.path)
    live.mkdir()
    for name in (f"{key}.pt", f"{'ab' * 32}.pt", "grid.json"):
        (live / name).write_bytes(sealed_bytes(b""))
    cleaned = clean_up(store)
    assert (cleaned.live, cleaned.damaged_files) == (1, {})
    assert not (live / f"{key}.pt").exists()
    assert (live / f"{'ab' * 32}.pt").exists()


def test_a_damaged_checkpoint_of_a_done_run_goes_and_that_of_another_is_set_aside(
    store: Store,
) -> None:
    live = live_folder(store.path)
    live.mkdir()
    done, other = live / f"{put(store, Scenario())}.pt", live / f"{'ab' * 32}.pt"
    for path in (done, other):
        path.write_bytes(b"not one")
    cleaned = clean_up(store)
    assert (cleaned.live, list(cleaned.damaged_files)) == (1, [str(other)])
    assert not done.exists()
    assert not other.exists()
