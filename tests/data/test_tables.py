import numpy as np
import polars as pl
import pytest

from wola.data import Csv, DataError, Dataset, Parquet

FRAME = pl.DataFrame(
    {
        "width": [1.5, 2.0, 3.25, 4.0, 5.0, 6.0, 7.0, 8.0],
        "species": ["iris", "aster"] * 4,
        "site": [12, 3, 3, 12, 12, 3, 3, 12],
        "petals": [3, 5, 3, 5, 3, 5, 3, 5],
    }
)
KINDS = {Csv: pl.DataFrame.write_csv, Parquet: pl.DataFrame.write_parquet}


@pytest.fixture(params=KINDS, ids=["csv", "parquet"])
def kind(request):
    return request.param


@pytest.fixture
def write(kind, tmp_path):
    def written(frame, name="data"):
        path = tmp_path / name
        KINDS[kind](frame, path)
        return path

    return written


def test_a_table_becomes_the_dataset_of_its_columns(kind, write):
    path = write(FRAME)
    dataset = kind(path, label="species", client="site").load()
    x = np.stack([FRAME["width"], FRAME["petals"]], axis=1)
    expected = Dataset.from_arrays(x, FRAME["species"].to_list(), clients=FRAME["site"].to_list())
    assert dataset.digest() == expected.digest()
    assert dataset.classes == ("aster", "iris")
    assert dataset.client_names == ("3", "12")
    assert dataset.name == kind.name


def test_a_test_file_may_have_its_columns_in_another_order_and_no_client(kind, write):
    test = FRAME.select("petals", "species", "width")[:2]
    paths = write(FRAME), write(test, "test")
    source = kind(paths[0], label="species", client="site", test=paths[1])
    dataset = source.load()
    assert dataset.x_test.tolist() == [[1.5, 3], [2, 5]]
    assert dataset.y_test.tolist() == [1, 0]
    assert len(dataset.y_train) == len(dataset.clients) == 8
    assert source.files() == list(paths)


def test_a_client_column_that_is_not_named_is_a_feature(kind, write):
    assert kind(write(FRAME), label="species").load().sample_shape == (3,)


def test_truth_values_are_numbers_and_may_be_labels(kind, write):
    frame = pl.DataFrame({"wet": [True, False] * 4, "label": [False, True] * 4})
    dataset = kind(write(frame)).load()
    assert dataset.classes == ("False", "True")
    assert set(dataset.x_train.flatten().tolist()) == {0.0, 1.0}


def test_a_column_that_turns_out_fractional_late_is_read(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("a,label\n" + "1,0\n1,1\n" * 300 + "1.5,0\n")
    assert Csv(path).load().x_train.max() == 1.5


def test_categories_are_labels(tmp_path):
    path = tmp_path / "a.parquet"
    FRAME.with_columns(pl.col("species").cast(pl.Categorical)).write_parquet(path)
    assert Parquet(path, label="species").load().classes == ("aster", "iris")


def columns(**changed):
    return FRAME.with_columns(**{name: pl.Series(values) for name, values in changed.items()})


@pytest.mark.parametrize(
    ("frame", "arguments", "message"),
    [
        (FRAME, {}, "label = 'label'; expected a column of .*data: width, species, site, petals"),
        (FRAME, {"label": "species", "client": "who"}, "client = 'who'; expected a column"),
        (FRAME, {"label": "site"}, "column 'species' holds String; expected numbers: encode it"),
        (
            FRAME.drop("species"),
            {"label": "width"},
            "'width' holds Float64; expected whole numbers or text",
        ),
        (FRAME[:0], {"label": "species"}, "has no rows; expected one per sample"),
        (FRAME.select("species"), {"label": "species"}, "no columns beside species; expected"),
        (columns(width=[None, 1.0] * 4), {"label": "species"}, "'width' lacks 4 of 8 values"),
        (columns(species=[None, "a"] * 4), {"label": "species"}, "'species' lacks 4 of 8"),
        (columns(width=[float("nan"), 1] * 4), {"label": "species"}, "'width' holds values that"),
        (columns(width=[1e300, 1] * 4), {"label": "species"}, "not finite in float32"),
        (
            columns(site=[None, 1] * 4),
            {"label": "species", "client": "site"},
            "'site' lacks 4 of 8 values; expected none missing: fill",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused_with_the_column_and_the_remedy(
    kind, write, frame, arguments, message
):
    with pytest.raises(DataError, match=message):
        kind(write(frame), **arguments).load()


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (FRAME.drop("petals"), "lacks the columns petals and has none more; expected those of"),
        (FRAME.with_columns(new=1), "lacks the columns none and has new more"),
        (columns(species=["iris", "rose"] * 4), "y_test of .* holds 'rose'; expected"),
    ],
)
def test_a_test_file_with_other_columns_or_labels_is_refused(kind, write, test, message):
    source = kind(write(FRAME), "species", "site", write(test, "test"))
    with pytest.raises(DataError, match=message):
        source.load()


def test_a_file_that_is_missing_or_of_another_kind_is_refused(kind, tmp_path):
    with pytest.raises(DataError, match=r"nowhere cannot be read .*; expected a table as \."):
        kind(tmp_path / "nowhere").load()
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    with pytest.raises(DataError, match="bytes"):
        kind(tmp_path / "bytes").load()
    with pytest.raises(DataError, match="cannot be read"):
        kind(tmp_path).load()


def test_one_column_cannot_be_label_and_client(kind):
    with pytest.raises(ValueError, match="client = 'a'; allowed: another column than label = 'a'"):
        kind("x", label="a", client="a")


def test_a_home_folder_is_expanded_and_paths_compare_as_text(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    source = kind("~/x", test="~/y")
    assert source.files() == [tmp_path / "x", tmp_path / "y"]
    assert kind(tmp_path / "x") == kind(str(tmp_path / "x"))
