import numpy as np
import pytest
from PIL import Image

from wola.data import DataError, Dataset, ImageFolder, Npz, load

RNG = np.random.default_rng(0)
PARTS = {
    "x_train": RNG.normal(size=(6, 3)),
    "y_train": np.array([0, 1, 2, 0, 1, 2]),
    "x_test": RNG.normal(size=(2, 3)),
    "y_test": np.array([1, 2]),
}


def test_the_users_arrays_load_standardised(tmp_path):
    np.savez(tmp_path / "mine.npz", **PARTS, classes=["a", "b", "c"])
    dataset = load("npz", tmp_path / "mine.npz")
    assert dataset.classes == ("a", "b", "c")
    x = PARTS["x_train"]
    np.testing.assert_allclose(dataset.train_inputs, (x - x.mean(0)) / x.std(0), atol=1e-5)


def test_the_users_bytes_are_scaled_by_255(tmp_path):
    images = RNG.integers(0, 256, (6, 4, 4)).astype(np.uint8)
    np.savez(tmp_path / "mine.npz", **PARTS | {"x_train": images, "x_test": images[:2]})
    dataset = load("npz", str(tmp_path / "mine.npz"))
    assert dataset.sample_shape == (1, 4, 4)
    np.testing.assert_allclose(dataset.mean, [images.mean() / 255], rtol=1e-6)


def test_missing_arrays_are_named_with_those_that_are_there(tmp_path):
    np.savez(tmp_path / "mine.npz", x_train=PARTS["x_train"], other=[1])
    with pytest.raises(DataError, match=r"lacks y_train \(it holds x_train, other"):
        load("npz", tmp_path / "mine.npz")


def without_test(**more):
    return {"x_train": np.arange(20.0).reshape(10, 2), "y_train": np.array([0, 1] * 5), **more}


def test_half_of_a_test_set_is_named(tmp_path):
    np.savez(tmp_path / "mine.npz", **without_test(x_test=np.zeros((2, 2))))
    with pytest.raises(DataError, match=r"lacks y_test .* and x_test with y_test or neither"):
        Npz(tmp_path / "mine.npz").load()


def test_arrays_without_a_test_set_are_split(tmp_path):
    parts = without_test()
    np.savez(tmp_path / "mine.npz", **parts)
    dataset = Npz(tmp_path / "mine.npz").load()
    assert (len(dataset.y_train), len(dataset.y_test)) == (8, 2)
    assert dataset.digest() == Dataset.from_arrays(parts["x_train"], parts["y_train"]).digest()


@pytest.mark.parametrize("array", ["client", "client_train"])
@pytest.mark.parametrize("parts", [PARTS, without_test()], ids=["given", "split"])
def test_the_clients_of_an_npz_are_those_of_its_training_samples(tmp_path, array, parts):
    owners = np.array([f"site {i % 2}" for i in range(len(parts["y_train"]))])
    np.savez(tmp_path / "mine.npz", **parts, **{array: owners})
    dataset = Npz(tmp_path / "mine.npz").load()
    rows = [int(np.abs(parts["x_train"] - x.numpy()).sum(1).argmin()) for x in dataset.x_train]
    assert [dataset.client_names[c] for c in dataset.clients] == owners[rows].tolist()


def test_two_arrays_of_clients_are_refused(tmp_path):
    np.savez(tmp_path / "mine.npz", **PARTS, client=np.arange(6), client_train=np.arange(6))
    with pytest.raises(DataError, match="holds both client and client_train; expected one"):
        Npz(tmp_path / "mine.npz").load()


def test_words_are_labels_in_an_npz(tmp_path):
    words = {"y_train": np.array(["b", "c", "a"] * 2), "y_test": np.array(["c", "a"])}
    np.savez(tmp_path / "mine.npz", **PARTS | words)
    dataset = Npz(tmp_path / "mine.npz").load()
    assert dataset.classes == ("a", "b", "c")
    assert dataset.y_test.tolist() == [2, 0]


@pytest.mark.parametrize("kind", [Npz, ImageFolder])
def test_own_data_name_the_path_they_read(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kind("~/mine").files() == [tmp_path / "mine"]
    assert kind(tmp_path) == kind(str(tmp_path))
    assert kind.own


@pytest.mark.parametrize("damage", ["truncated", "changed", "text", "absent", "array", "pickled"])
def test_a_damaged_npz_is_refused(tmp_path, damage):
    path = tmp_path / "mine.npz"
    if damage == "pickled":
        np.savez(path, **PARTS | {"x_train": np.array([{}, 1], dtype=object)})
    elif damage == "array":
        with path.open("wb") as stream:
            np.save(stream, PARTS["x_train"])
    elif damage != "absent":
        np.savez(path, **PARTS)
        content = path.read_bytes()
        flipped = content[:200] + bytes([content[200] ^ 255]) + content[201:]
        path.write_bytes({"truncated": content[:300], "changed": flipped, "text": b"a"}[damage])
    with pytest.raises(DataError, match=r"mine.npz.*expected an .npz with"):
        load("npz", path)


def images(folder, *, mode="L", sizes=((4, 3),), test_class="cat"):
    for number, (part, name) in enumerate(
        [("train", "cat"), ("train", "dog"), ("train", "dog"), ("test", test_class)]
    ):
        (folder / part / name).mkdir(parents=True, exist_ok=True)
        size = sizes[number % len(sizes)]
        Image.new(mode, size, number * 10 if mode == "L" else (number * 10, 1, 2)).save(
            folder / part / name / f"{number}.png"
        )
    (folder / "train" / "dog" / "notes.txt").write_text("not an image")
    return folder


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("RGB", 3)])
def test_a_folder_of_images_loads_with_its_subfolders_as_classes(tmp_path, mode, channels):
    dataset = load("folder", images(tmp_path, mode=mode))
    assert dataset.classes == ("cat", "dog")
    assert dataset.sample_shape == (channels, 3, 4)
    assert dataset.y_train.tolist() == [0, 1, 1]
    assert dataset.x_train[:, 0, 0, 0].tolist() == [0, 10, 20]
    assert dataset.y_test.tolist() == [0]


def test_images_of_two_sizes_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"5 x 3 pixels, .* 4 x 3; expected one size"):
        load("folder", images(tmp_path, sizes=((4, 3), (5, 3))))


def test_a_class_in_the_test_alone_is_refused(tmp_path):
    with pytest.raises(DataError, match="test also bird"):
        load("folder", images(tmp_path, test_class="bird"))


def test_a_folder_without_train_or_images_is_refused(tmp_path):
    with pytest.raises(DataError, match="train is not a folder"):
        load("folder", tmp_path)
    for part in ("train", "test"):
        (tmp_path / part / "cat").mkdir(parents=True)
    with pytest.raises(DataError, match="train holds no image"):
        load("folder", tmp_path)


def test_a_damaged_image_is_named(tmp_path):
    images(tmp_path)
    path = tmp_path / "train" / "dog" / "1.png"
    whole = path.read_bytes()
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"1.png is not a readable image"):
        load("folder", tmp_path)
    path.write_bytes(whole[:50])
    with pytest.raises(DataError, match=r"1.png is truncated or damaged"):
        load("folder", tmp_path)
