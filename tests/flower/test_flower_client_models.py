"""A client's model is made once in a process, and no message leaves a trace in it."""

from threading import Barrier, Thread

import pytest
import torch
from flwr.app import Context, RecordDict
from torch import nn

from wola.flower.client_models import ClientModels
from wola.flower.fingerprint import fingerprint

CPU = torch.device("cpu")


def context(node: int = 1, run: int = 1, **run_config: int) -> Context:
    return Context(run, node, {"partition-id": node}, RecordDict(), dict(run_config))


def test_the_same_model_is_used_again() -> None:
    models = ClientModels(nn.Linear(2, 2), CPU)
    with models.borrowed(context()) as first:
        pass
    with models.borrowed(context(node=2)) as second:
        assert second is first


def test_the_module_that_was_given_is_never_changed() -> None:
    module = nn.Linear(2, 2)
    before = module.weight.detach().clone()
    with ClientModels(module, CPU).borrowed(context()) as ready:
        ready.flat.parameters.fill_(7.0)
        assert ready.fingerprint == fingerprint(module)
    assert torch.equal(module.weight, before)


def test_messages_answered_at_the_same_time_have_models_of_their_own() -> None:
    models, meeting, seen = ClientModels(nn.Linear(2, 2), CPU), Barrier(3), []

    def work() -> None:
        with models.borrowed(context()) as ready:
            seen.append(ready)
            meeting.wait(30)

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(ready) for ready in seen}) == 3


def test_a_function_is_called_again_for_another_node_run_or_configuration() -> None:
    calls = []

    def make(given: Context) -> nn.Module:
        calls.append((given.node_id, given.run_id, given.run_config.get("width", 1)))
        return nn.Linear(2, int(given.run_config.get("width", 1)))

    models = ClientModels(make, CPU)
    for each in (context(), context(), context(2), context(2), context(2, 5), context(width=3)):
        with models.borrowed(each) as ready:
            assert len(ready.flat.parameters) == 3 * each.run_config.get("width", 1)
    assert calls == [(1, 1, 1), (2, 1, 1), (2, 5, 1), (1, 1, 3)]


def test_counters_are_put_back_and_a_model_is_not_used_again_after_an_error() -> None:
    models = ClientModels(nn.BatchNorm1d(2), CPU)
    with models.borrowed(context()) as first:
        first.flat.module(torch.randn(4, 2))
    with models.borrowed(context()) as again:
        assert again is first
        assert again.flat.module.num_batches_tracked == 0
    with pytest.raises(ZeroDivisionError), models.borrowed(context()):
        raise ZeroDivisionError
    with models.borrowed(context()) as other:
        assert other is not first


def test_what_makes_no_module_is_refused() -> None:
    models = ClientModels(lambda context: 3, CPU)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="model made a int; allowed"), models.borrowed(context()):
        pass
