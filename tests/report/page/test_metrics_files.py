from pathlib import Path

import numpy as np
import polars as pl
import pytest

from wola.report.page import metrics_files
from wola.report.page.metrics_files import read_curves


def written(path: Path, **columns: object) -> Path:
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_each_file_gives_its_own_curves(tmp_path: Path) -> None:
    paths = [
        written(
            tmp_path / f"{n} [*].parquet",
            step=range(1, n + 1),
            accuracy=[float(n)] * n,
            weights=[[0.5, 0.5], *[None] * (n - 1)],
        )
        for n in (2, 3, 5)
    ]
    found = read_curves(paths)
    assert list(found) == paths
    for path, n in zip(paths, (2, 3, 5), strict=True):
        assert found[path].steps.tolist() == list(range(1, n + 1))
        assert found[path].numbers["accuracy"].tolist() == [float(n)] * n
        assert found[path].weights.tolist() == [0.5, 0.5]
        assert found[path].lengths.tolist() == [2, *[0] * (n - 1)]


def test_files_with_other_columns_are_read_all_the_same(tmp_path: Path) -> None:
    one = written(tmp_path / "one.parquet", step=[1, 2], accuracy=[None, 50])
    two = written(tmp_path / "two.parquet", step=[1.0], cosine=[0.5], more=["text"])
    found = read_curves([one, two])
    np.testing.assert_array_equal(found[one].numbers["accuracy"], [np.nan, 50.0])
    assert found[two].numbers["cosine"].tolist() == [0.5]
    assert len(found[two].weights) == 0


@pytest.mark.parametrize("content", [b"", b"no table", b"PAR1"])
def test_what_cannot_be_read_is_left_out(tmp_path: Path, content: bytes) -> None:
    good = written(tmp_path / "good.parquet", step=[1], accuracy=[50.0])
    (bad := tmp_path / "bad.parquet").write_bytes(content)
    without = written(tmp_path / "without.parquet", accuracy=[1.0])
    assert list(read_curves([bad, good, without, tmp_path / "none"])) == [good]


def test_more_files_than_are_read_at_once_are_all_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_files, "AT_ONCE", 3)
    paths = [written(tmp_path / f"{n}.parquet", step=[n]) for n in range(8)]
    assert [curves.steps.tolist() for curves in read_curves(paths).values()] == [
        [n] for n in range(8)
    ]
