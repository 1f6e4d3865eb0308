import pytest

from wola.bench.coincidence import coinciding
from wola.bench.grid import GridError
from wola.bench.presets import FIGURES, PRESETS, preset
from wola.training import PAPER_STRATEGIES, Scenario

SIZES = {
    "paper/accuracy": 23_040,
    "paper/dissimilarity": 23_040,
    "paper/mean": 72,
    "paper/curves": 192,
    "paper/heatmap": 720,
    "quick": 160,
    "digits": 5_760,
}


@pytest.mark.parametrize("name", SIZES)
def test_a_preset_has_as_many_runs_as_the_result_it_stands_for(name: str) -> None:
    assert len(preset(name).scenarios()) == SIZES[name]


def test_all_presets_and_figures_are_counted_here() -> None:
    assert set(PRESETS) == set(SIZES)
    assert set(FIGURES) == {"paper/iris"}


def test_the_accuracy_grid_spans_the_axes_of_the_paper() -> None:
    axes = preset("paper/accuracy").axes
    assert {name: len(values) for name, values in axes.items()} == {
        "dataset": 4,
        "alpha": 3,
        "byzantine": 4,
        "strategy": 8,
        "aggregator": 4,
        "attack": 5,
        "seed": 3,
    }
    assert set(axes["strategy"]) == set(PAPER_STRATEGIES)
    assert set(axes["attack"]) == {"alie", "foe", "lf", "mimic", "sf"}


def test_accuracy_and_dissimilarity_are_the_same_runs() -> None:
    cut = {"dataset": "mnist", "alpha": 1, "byzantine": 2, "seed": 1}
    first, second = (preset(f"paper/{n}").cut(**cut) for n in ("accuracy", "dissimilarity"))
    assert first.scenarios() == second.scenarios()


def test_every_run_has_the_papers_settings_for_its_dataset() -> None:
    for scenario in preset("paper/accuracy").cut(seed=2, alpha=1, byzantine=4).scenarios():
        axes = {k: getattr(scenario, k) for k in ("alpha", "byzantine", "aggregator", "attack")}
        dataset, strategy = scenario.dataset, scenario.strategy
        assert scenario == Scenario.paper(dataset, strategy=strategy, seed=2, **axes)


def test_the_mean_grid_has_no_attackers() -> None:
    made = preset("paper/mean").scenarios()
    assert {(s.byzantine, s.aggregator, s.attack) for s in made} == {(0, "mean", "none")}
    assert {s.strategy for s in made} == {"WoLA", "-"}


def test_the_curves_are_tested_often_and_only_where_the_figure_shows_them() -> None:
    made = preset("paper/curves").scenarios()
    assert {(s.dataset, s.alpha, s.byzantine) for s in made} == {("fashion-mnist", 0.3, 6)}
    assert {s.attack for s in made} == {"alie", "lf"}
    assert {s.evaluate_every for s in made} == {5}


def test_the_heatmap_varies_batch_and_momentum_alone_within_a_panel() -> None:
    made = preset("paper/heatmap").scenarios()
    assert {(s.byzantine, s.attack, s.aggregator) for s in made} == {(5, "alie", "trimmed-mean")}
    assert {s.strategy for s in made} == {"WoLA", "NNM"}
    assert {(128, 0.9), (256, 0.99)} <= {(s.batch, s.beta) for s in made}


def test_digits_is_the_accuracy_grid_on_another_dataset() -> None:
    axes = dict(preset("paper/accuracy").axes)
    del axes["dataset"]
    assert preset("digits").axes == axes
    assert {s.dataset for s in preset("digits").cut(seed=1, alpha=1).scenarios()} == {"digits"}


def test_quick_is_a_part_of_digits() -> None:
    whole = {s.key() for s in preset("digits").cut(alpha=0.3, byzantine=6, seed=1).scenarios()}
    assert {s.key() for s in preset("quick").scenarios()} == whole


def test_quick_needs_twenty_runs_less_than_it_has_scenarios() -> None:
    assert len(coinciding(preset("quick").scenarios())) == 140


def test_an_unknown_preset_is_answered_with_the_nearest() -> None:
    with pytest.raises(GridError, match=r"grid = 'qiuck'; did you mean 'quick'\?"):
        preset("qiuck")
