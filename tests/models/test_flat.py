"""A model as one vector: what is read and written there is the model."""

import copy

import pytest
import torch
from torch import nn

from tests.models.factories import normalised_convnet, tiny_convnet
from wola.models import FlatModel, mlp

SHAPE = (2, 6, 5)


def make(factory):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return factory(SHAPE, 4)


def inputs(count=7):
    return torch.randn(count, *SHAPE, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("factory", [mlp, tiny_convnet, normalised_convnet])
def test_a_flat_model_computes_what_the_model_did(factory):
    module = make(factory).eval()
    expected = copy.deepcopy(module)(inputs())
    flat = FlatModel(module)
    torch.testing.assert_close(flat.module(inputs()), expected)
    assert flat.size == sum(p.numel() for p in module.parameters())


def test_parameters_are_views_into_one_vector():
    flat = FlatModel(make(tiny_convnet))
    flat.load(torch.zeros(flat.size))
    assert all(not p.any() for p in flat.module.parameters())
    next(flat.module.parameters()).data.fill_(2.0)
    assert float(flat.parameters.sum()) == 2.0 * 3 * 2 * 9


@pytest.mark.parametrize("factory", [mlp, tiny_convnet])
def test_stored_gradients_are_those_of_autograd(factory):
    module = make(factory)
    plain = copy.deepcopy(module)
    plain(inputs()).square().sum().backward()
    flat = FlatModel(module)
    row = torch.full((flat.size,), float("nan"))
    flat.store_gradients(flat.module(inputs()).square().sum(), row)
    # Where a gradient lies is where its parameter lies: a step along one is a step along both.
    flat.parameters.sub_(row)
    for p, q in zip(flat.module.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(p, q - q.grad)


@pytest.mark.parametrize("factory", [mlp, tiny_convnet])
def test_the_views_of_its_own_vector_are_the_parameters(factory):
    flat = FlatModel(make(factory))
    views = flat.views(flat.parameters)
    for name, parameter in flat.module.named_parameters():
        assert torch.equal(views.pop(name), parameter)
    assert not views


def test_a_parameter_without_a_gradient_gets_zero():
    module = nn.Linear(2, 2)
    flat = FlatModel(module)
    row = torch.full((flat.size,), float("nan"))
    flat.store_gradients(module.weight.sum(), row)
    assert row.tolist() == [1.0] * 4 + [0.0] * 2


def test_running_statistics_are_a_block_of_their_own_and_counters_are_not_in_it():
    flat = FlatModel(make(normalised_convnet))
    assert flat.statistics.tolist() == [0.0] * 3 + [1.0] * 3
    flat.module.train()(inputs())
    assert flat.statistics[:3].any()
    assert int(flat.module[1].num_batches_tracked) == 1
    flat.reset_counters()
    assert int(flat.module[1].num_batches_tracked) == 0
    flat.load(flat.parameters, torch.arange(6.0))
    assert flat.module[1].running_var.tolist() == [3.0, 4.0, 5.0]


def test_the_state_by_name_loads_into_a_fresh_model():
    flat = FlatModel(make(normalised_convnet))
    flat.module.train()(inputs())
    fresh = normalised_convnet(SHAPE, 4)
    fresh.load_state_dict(flat.state_dict())
    torch.testing.assert_close(fresh.eval()(inputs()), flat.module.eval()(inputs()))
    assert all(tensor.is_contiguous() for tensor in flat.state_dict().values())


def test_the_state_by_name_is_a_copy():
    flat = FlatModel(make(mlp))
    state = flat.state_dict()
    flat.parameters.zero_()
    assert all(tensor.any() for tensor in state.values())
