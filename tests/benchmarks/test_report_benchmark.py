from pathlib import Path

from benchmarks import report
from tests.report.browser.store import fill, scenarios
from wola.bench.store import Store


def test_every_work_is_measured_and_the_store_is_only_read(tmp_path: Path) -> None:
    store = fill(Store.open(tmp_path / "store"), scenarios()[:4])
    for name in report.GOALS:
        made = report.measured(name, store.path)
        assert made["runs"] == 4
        assert made["whole"] > made["seconds"] > 0
    assert not (store.path / "index.parquet").exists()


def test_the_page_tells_whether_the_goals_are_reached() -> None:
    quick = {"seconds": 1.0, "cpu": 0.9, "whole": 3.0, "megabytes": 400.0}
    more = {"runs": 5760, "index.html": 1_000_000, "curves": 9_000_000, "filter": 140.0}
    found = {
        "tables": [{**quick, **more}],
        "tables, no index": [{**quick, **more}],
        "page": [{**quick, **more, "seconds": 21.0}],
    }
    text = report.report_page({"date": "today"}, found, rounds=1)
    assert "| tables | 1.0 | 0.9 | 3.0 | 400 | under 2 s, 1000 MB: yes |" in text
    assert "| page | 21.0 | 0.9 | 3.0 | 400 | under 20 s, 1000 MB: no |" in text
    assert "of 5,760 runs" in text
    assert "together under 15 MB: yes" in text
    assert "follows a filter within 140 ms (the median of 12 presses); under 100 ms: no" in text


def test_a_larger_store_holds_copies_of_all_runs_under_other_seeds(tmp_path: Path) -> None:
    small = fill(Store.open(tmp_path / "store"), scenarios()[:4])
    large = Store.open(report.larger_store(small.path, 10, tmp_path / "large"), create=False)
    keys = list(large.keys())
    assert len(keys) == 12
    assert not any(map(large.damage, keys))
    given = [small.scenario(key).seed for key in list(small.keys())]
    seeds = [large.scenario(key).seed for key in keys]
    assert sorted(seeds) == sorted(seed + 1000 * turn for seed in given for turn in range(3))
