"""Models by name and by import path, initialised from a generator of their own."""

import pytest
import torch
from torch import nn

from wola.models import build, find_factory, model_for

FACTORIES = "tests.models.factories"


def built(name, *, dataset="digits", shape=(1, 8, 8), classes=10, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return build(name, dataset=dataset, shape=shape, classes=classes, generator=generator)


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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("convnet-mnits", "did you mean 'convnet-mnist'"),
        ("zzzzzz", "allowed: auto, convnet-mnist"),
        ("no.such.module:factory", "cannot be imported: No module named"),
        (f"{FACTORIES}:missing", "cannot be imported: .*missing"),
        (":factory", "cannot be imported"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        find_factory(name)


def test_an_import_path_must_lead_to_a_function():
    with pytest.raises(TypeError, match="is a int; allowed: a function"):
        find_factory(f"{FACTORIES}:number")


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
