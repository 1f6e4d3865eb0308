import numpy as np
import pytest
from PIL import Image

from wola.data import DataError, load

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
