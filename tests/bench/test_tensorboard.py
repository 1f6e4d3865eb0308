import sys

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.bench.small import iris
from wola.bench.tensorboard import TensorBoardCurves, check_tensorboard
from wola.ground.extras import MissingExtra
from wola.training import simulate


def written(folder):
    """What TensorBoard itself reads in a folder."""
    return EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()


def test_tensorboard_reads_the_curves_of_a_run(tmp_path):
    scenario = iris(strategy="WoLA")

    result = simulate(scenario, callbacks=[TensorBoardCurves(tmp_path)])

    found = written(tmp_path)
    accuracies = [(point.step, point.value) for point in found.Scalars("accuracy")]
    assert accuracies == [(e.step, pytest.approx(e.accuracy)) for e in result.evaluations]
    rates = [(point.step, point.value) for point in found.Scalars("lr")]
    assert rates == [(record.step, pytest.approx(record.lr)) for record in result.steps]
    (text,) = found.Tensors("scenario/text_summary")
    assert scenario.to_toml() in text.tensor_proto.string_val[0].decode()


def test_a_run_that_starts_again_replaces_what_it_had_written(tmp_path):
    for _ in range(2):
        simulate(iris(), callbacks=[TensorBoardCurves(tmp_path)])

    steps = [point.step for point in written(tmp_path).Scalars("lr")]
    assert steps == [1, 2, 3, 4, 5, 6]


def test_without_tensorboard_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)

    with pytest.raises(MissingExtra, match=r"--tensorboard needs tensorboard: pip install 'wola"):
        check_tensorboard()
