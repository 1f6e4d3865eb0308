"""The test of the model, against a plain one sample by sample."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score
from torch import nn

from wola.models import FlatModel, mlp
from wola.training import evaluate as module
from wola.training.evaluate import class_accuracies, class_scores, confusion, evaluate
from wola.training.federation import HeldOut


def held_out(count=37):
    generator = torch.Generator().manual_seed(1)
    return HeldOut(
        torch.randn(count, 1, 8, 8, generator=generator),
        torch.randint(10, (count,), generator=generator),
        torch.randint(1, 4, (count,), generator=generator),
    )


def model():
    with torch.random.fork_rng():
        torch.manual_seed(2)
        return FlatModel(nn.Sequential(*mlp(), nn.Dropout(0.5)))


def test_a_sample_counts_as_often_as_it_has_copies(monkeypatch):
    monkeypatch.setattr(module, "BATCH", 10)
    test, flat = held_out(), model()
    inputs = test.inputs.repeat_interleave(test.copies, 0)
    labels = test.labels.repeat_interleave(test.copies)
    logits = flat.module.eval()(inputs).detach()
    flat.module.train()
    evaluation = evaluate(flat, test, step=7)
    assert evaluation.step == 7
    assert evaluation.accuracy == 100 * int((logits.argmax(1) == labels).sum()) / len(labels)
    loss = nn.functional.cross_entropy(logits.double(), labels)
    assert abs(evaluation.loss - float(loss)) < 1e-6


def test_confusion_counts_who_is_taken_for_whom():
    test, flat = held_out(), model()
    table = confusion(flat, test, 10)
    guessed = flat.module.eval()(test.inputs).argmax(1)
    expected = torch.zeros(10, 10, dtype=torch.int64)
    for label, guess, copies in zip(test.labels, guessed, test.copies, strict=True):
        expected[label, guess] += copies
    assert torch.equal(table, expected)
    accuracy = evaluate(flat, test, step=1).accuracy
    assert 100 * int(table.diagonal().sum()) / int(table.sum()) == accuracy


def test_a_class_without_samples_has_no_accuracy():
    assert class_accuracies(torch.tensor([[1, 1], [0, 0]])) == [50.0, None]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scores_of_classes_are_those_of_scikit_learn(pairs):
    table = [[pairs.count((i, j)) for j in range(4)] for i in range(4)]
    real, guessed = zip(*pairs, strict=True)
    found = class_scores(table)
    assert found["balanced_accuracy"] == pytest.approx(
        100 * balanced_accuracy_score(real, guessed), abs=1e-9
    )
    expected = 100 * f1_score(real, guessed, average="macro", zero_division=0)
    assert found["macro_f1"] == pytest.approx(expected, abs=1e-9)
    each = [100 * table[c][c] / real.count(c) for c in set(real)]
    assert found["worst_class"] == pytest.approx(min(each), abs=1e-9)


def test_no_samples_give_no_scores():
    assert class_scores([[0, 0], [0, 0]]) == {}
