"""Models by name and by import path, initialised from a generator of their own."""

import pytest
import torch
from torch import nn

from wola.models import build, model_for
from wola.parts import PartError
from wola.training import PARTS

FACTORIES = "tests.models.factories"


def built(name, *, shape=(1, 8, 8), classes=10, seed=1):
    generator = torch.Generator().manual_seed(seed)
    factory = PARTS.make("model", PARTS.settle("model", name))
    return build(factory, name=name, shape=shape, classes=classes, generator=generator)


def flat(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ("mnist", "convnet-mnist"),
        ("fashion-mnist", "convnet-mnist"),
        ("cifar10", "convnet-cifar10"),
        ("purchase100", "mlp-purchase100"),
        ("digits", "mlp"),
        ("iris", "mlp"),
        ("npz", "mlp"),
    ],
)
def test_auto_is_the_papers_network_for_its_datasets(dataset, name):
    assert model_for(dataset) == name


def test_the_same_generator_gives_the_same_model_and_another_one_another():
    assert torch.equal(flat(built("mlp")), flat(built("mlp")))
    assert not torch.equal(flat(built("mlp")), flat(built("mlp", seed=2)))


def test_global_random_state_is_left_as_it_was():
    before = torch.random.get_rng_state()
    built("mlp")
    assert torch.equal(torch.random.get_rng_state(), before)


def test_initialisation_does_not_depend_on_global_random_state():
    first = flat(built("mlp"))
    with torch.random.fork_rng():
        torch.rand(7)
        assert torch.equal(flat(built("mlp")), first)


def test_a_factory_is_found_by_its_import_path():
    model = built(f"{FACTORIES}:tiny_convnet")
    assert isinstance(model[0], nn.Conv2d)
    assert model.training


def test_a_factory_takes_parameters_of_its_own():
    assert built("mlp(hidden=(5, 3))")[1].out_features == 5
    assert built(f"{FACTORIES}:wide(width=7)")[1].out_features == 7


def test_a_class_that_takes_no_shape_is_called_without_one():
    assert isinstance(built(f"{FACTORIES}:Plain"), nn.Module)
    assert built(f"{FACTORIES}:Plain(width=9)").inner[1].out_features == 9


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("convnet-mnits", "did you mean 'convnet-mnist'"),
        ("zzzzzz", "allowed: auto, convnet-mnist"),
        ("no.such.module:factory", "module 'no.such.module' cannot be found"),
        (f"{FACTORIES}:missing", "factories.py defines no 'missing'"),
        (":factory", "does not begin with a name"),
        (f"{FACTORIES}:number", "is a int, no model"),
        (f"{FACTORIES}:NoModel", "is no model; allowed: a Module"),
        ("mlp(hiden=3)", "mlp has no parameter 'hiden'; did you mean 'hidden'?"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(name, message):
    with pytest.raises(PartError, match=message):
        built(name)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("no_model", TypeError, "made a list; allowed: a torch.nn.Module"),
        ("without_parameters", ValueError, "no parameters"),
        ("wrong_outputs", ValueError, r"gives outputs \(2, 11\).*allowed: \(2, 10\)"),
    ],
)
def test_a_factory_must_make_a_classifier(name, error, message):
    with pytest.raises(error, match=message):
        built(f"{FACTORIES}:{name}")


@pytest.mark.parametrize("name", ["convnet-mnist", f"{FACTORIES}:for_vectors_of_three"])
def test_a_model_that_does_not_fit_the_inputs_is_refused(name):
    with pytest.raises(ValueError, match=r"shape.*\(600,\)"):
        built(name, shape=(600,))


@pytest.mark.parametrize("name", ["mlp", "convnet-mnist"])
def test_the_default_dtype_of_torch_changes_nothing_and_comes_back(name):
    shape = (1, 28, 28)
    expected = flat(built(name, shape=shape))
    torch.set_default_dtype(torch.float64)
    try:
        found = flat(built(name, shape=shape))
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)
