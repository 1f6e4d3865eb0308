from dataclasses import replace

import numpy as np
import pytest
import torch

from wola.data import Arrays, Dataset, load, make_dataset
from wola.data.embedded import Embedded
from wola.data.public import Public
from wola.data.registry import DATASETS

RNG = np.random.default_rng(0)
FOUND = [
    name
    for name, kind in DATASETS.items()
    if issubclass(kind, Embedded)
    or (issubclass(kind, Public) and kind.system and kind.system.is_dir())
]


def arrays(x):
    y = np.arange(len(x)) % 2
    return Arrays(x, y, x[:1], y[:1])


def test_inputs_are_scaled_then_standardised_per_channel():
    x = RNG.integers(0, 256, (50, 3, 4, 5)).astype(np.uint8)
    dataset = make_dataset("colour", arrays(x), scale=255)
    scaled = x / 255.0
    mean = [scaled[:, c].mean() for c in range(3)]
    std = [scaled[:, c].std() for c in range(3)]
    np.testing.assert_allclose(dataset.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(dataset.std, std, rtol=1e-6)
    expected = np.stack([(scaled[:, c] - mean[c]) / std[c] for c in range(3)], axis=1)
    np.testing.assert_allclose(dataset.train_inputs, expected, atol=1e-5)
    np.testing.assert_allclose(dataset.test_inputs, expected[:1], atol=1e-5)
    assert dataset.train_inputs.dtype == torch.float32


def test_stored_inputs_stay_small_and_the_standardised_ones_are_made_once():
    dataset = make_dataset("grey", arrays(np.full((3, 1, 2, 2), 7, dtype=np.uint8)), scale=255)
    assert dataset.x_train.dtype == torch.uint8
    assert dataset.train_inputs is dataset.train_inputs
    assert bool((dataset.x_train == 7).all())


def test_standardising_a_batch_equals_the_batch_of_the_standardised():
    dataset = load("digits")
    chosen = torch.tensor([5, 1, 5])
    batch = dataset.standardise(dataset.x_train[chosen])
    assert torch.equal(batch, dataset.train_inputs[chosen])


def test_standardising_floats_leaves_them_as_they_were():
    dataset = load("iris")
    before = dataset.x_train.clone()
    assert dataset.train_inputs is not dataset.x_train
    assert torch.equal(dataset.x_train, before)


def test_a_constant_channel_becomes_zero():
    x = np.stack([np.full(4, 9.0), np.arange(4.0)], axis=1).astype(np.float32)
    inputs = make_dataset("constant", arrays(x)).train_inputs
    assert bool((inputs[:, 0] == 0).all())
    assert bool(inputs.isfinite().all())


def test_one_channel_gives_all_features_one_mean():
    x = RNG.random((6, 5)).astype(np.float32)
    dataset = make_dataset("vector", arrays(x), one_channel=True)
    np.testing.assert_allclose(dataset.mean, [x.mean()], rtol=1e-6)
    np.testing.assert_allclose(dataset.train_inputs, (x - x.mean()) / x.std(), atol=1e-5)


def test_classes_without_names_are_numbered():
    dataset = make_dataset("unnamed", arrays(np.zeros((4, 2), dtype=np.float32)))
    assert dataset.classes == ("0", "1")
    assert dataset.sample_shape == (2,)


@pytest.mark.parametrize("name", FOUND)
def test_whatever_is_on_this_machine_loads_standardised(name, monkeypatch, tmp_path):
    monkeypatch.setenv("WOLA_DATA", str(tmp_path))
    dataset = load(name)
    assert abs(float(dataset.train_inputs.mean())) < 1e-4
    assert abs(float(dataset.train_inputs.std()) - 1) < 0.01
    assert len(dataset.y_train.unique()) == len(dataset.classes)
    assert len(dataset.x_train) == len(dataset.y_train)
    assert list(tmp_path.iterdir()) == []


class TestDigest:
    x = RNG.normal(size=(6, 2)).astype(np.float32)
    y = np.array([0, 1, 0, 1, 0, 1])

    def of(self, **changed):
        parts = {"x_train": self.x, "y_train": self.y, "x_test": self.x[:2], "y_test": self.y[:2]}
        return Dataset.from_arrays(**parts | changed)

    def test_the_same_content_has_the_same_digest_whatever_its_name(self):
        again = self.of(x_train=torch.from_numpy(self.x.copy()), name="other")
        assert again.digest() == self.of().digest()
        assert len(self.of().digest()) == 64

    def test_the_layout_in_memory_does_not_count(self):
        dataset = self.of()
        turned = replace(dataset, x_train=dataset.x_train.T.contiguous().T)
        assert turned.digest() == dataset.digest()

    @pytest.mark.parametrize(
        "changed",
        [
            {"x_train": x + 1},
            {"x_test": x[2:4]},
            {"y_train": y[::-1].copy()},
            {"y_test": np.array([1, 0])},
            {"classes": ("a", "b")},
            {"clients": [0, 0, 1, 1, 2, 2]},
            {"clients": ["a", "a", "b", "b", "c", "c"]},
            {"scale": 2.0},
            {"x_train": x.reshape(6, 1, 1, 2), "x_test": x[:2].reshape(2, 1, 1, 2)},
        ],
        ids=str,
    )
    def test_anything_that_changes_the_content_changes_the_digest(self, changed):
        assert self.of(**changed).digest() != self.of().digest()

    def test_the_type_of_the_inputs_counts(self):
        zeros = [np.zeros((6, 2), dtype=kind) for kind in (np.uint8, np.float32)]
        made = [self.of(x_train=z, x_test=z[:2], scale=1) for z in zeros]
        assert made[0].digest() != made[1].digest()

    @pytest.mark.parametrize("names", ["bbaacc", "aabbdd"])
    def test_clients_in_another_order_or_of_other_names_are_other_content(self, names):
        one, other = (self.of(clients=list(clients)) for clients in ("aabbcc", names))
        assert one.digest() != other.digest()


def test_arrays_become_the_dataset_that_a_file_of_them_would_be(tmp_path):
    parts = {"x_train": RNG.integers(0, 256, (6, 4, 4)).astype(np.uint8), "y_train": [3, 7] * 3}
    np.savez(tmp_path / "a.npz", **parts)
    one, other = Dataset.from_arrays(**parts), load("npz", tmp_path / "a.npz")
    assert one.digest() == other.digest()
    assert one.scale == 255
    assert one.classes == ("3", "7")


@pytest.mark.parametrize("scale", [0, -1.0, float("inf"), float("nan")])
def test_a_scale_that_cannot_divide_is_refused(scale):
    with pytest.raises(ValueError, match=r"scale = .*; allowed: a finite number > 0"):
        Dataset.from_arrays([[1.0], [2.0]], [0, 1], [[1.0]], [0], scale=scale)


def test_the_training_samples_know_their_clients():
    dataset = Dataset.from_arrays(np.eye(4), [0, 1] * 2, np.eye(4), [0, 1] * 2, clients=[*"babc"])
    assert dataset.client_names == ("a", "b", "c")
    assert dataset.clients.tolist() == [1, 0, 1, 2]
    assert load("iris").clients is None
