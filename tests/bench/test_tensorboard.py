import sys

import pytest

from tests.bench.small import iris
from wola.bench.extras import MissingExtra
from wola.bench.task import Task, no_callbacks
from wola.bench.tensorboard import Curves, curves_in
from wola.training import Evaluation, Scenario


class Writer:
    """Takes the place of TensorBoard's."""

    def __init__(self, folder, purge_step):
        self.folder, self.purge_step = folder, purge_step
        self.points, self.texts, self.closed = [], [], False

    def add_scalar(self, name, value, step):
        self.points.append((name, value, step))

    def add_text(self, name, text, step):
        self.texts.append(text)

    def close(self):
        self.closed = True


@pytest.fixture
def written(monkeypatch):
    """What a run hands to the writer."""
    import types

    writers = []

    def make(folder, purge_step):
        writers.append(Writer(folder, purge_step))
        return writers[-1]

    module = types.ModuleType("torch.utils.tensorboard.writer")
    module.SummaryWriter = make
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", module)
    return writers


def test_a_run_writes_its_curves_into_a_folder_of_its_own(written, tmp_path):
    from wola.training import simulate

    scenario = iris(strategy="WoLA")
    callbacks = curves_in(tmp_path)(Task("0123456789", scenario))

    result = simulate(scenario, callbacks=callbacks)

    (writer,) = written
    expected = tmp_path / "iris-alpha-0.3-f-6-WoLA-trimmed-mean-alie-seed-1-01234567"
    assert writer.folder == str(expected)
    assert writer.purge_step == 1
    accuracies = [(v, s) for name, v, s in writer.points if name == "accuracy"]
    assert accuracies == [(e.accuracy, e.step) for e in result.evaluations]
    assert sum(name == "dissimilarity/momenta" for name, _, _ in writer.points) == 6
    assert scenario.to_toml() in writer.texts[0]
    assert writer.closed


def test_what_is_not_finite_is_left_out(written, tmp_path):
    curves = Curves(tmp_path)
    curves.on_start(Scenario(), None, 0)

    curves.on_evaluation(Evaluation(1, 50.0, float("inf"), 0.0))

    assert written[0].points == [("accuracy", 50.0, 1)]


def test_without_a_folder_nobody_watches():
    assert curves_in(None) is no_callbacks


def test_without_tensorboard_the_message_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)

    with pytest.raises(MissingExtra, match=r"--tensorboard needs tensorboard: pip install 'wola"):
        curves_in(tmp_path)
