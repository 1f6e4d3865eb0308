"""All figures by name, and drawing those that the runs at hand allow."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.style import context as plain_style

from wola.report.figure_files import save
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.breaking_point import breaking_point_cases, breaking_point_figure
from wola.report.figures.classes import by_place, classes_figure
from wola.report.figures.gains import gains_cases, gains_figure
from wola.report.figures.heatmaps import heatmaps_cases, heatmaps_figure
from wola.report.figures.iris import iris_cases, iris_figure
from wola.report.figures.label_counts import label_counts_cases, label_counts_figure
from wola.report.figures.matrix import matrix_cases, matrix_figure
from wola.report.figures.selection import CannotDraw
from wola.report.figures.training import by_attack, training_figure
from wola.report.figures.weights import weights_figure
from wola.report.figures.without_attackers import without_attackers_cases, without_attackers_figure
from wola.report.names import file_word, part_word
from wola.report.runs import Runs


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure: `draw` makes one out of runs and the choices of a case.

    `cases` lists the choices that the runs allow, each a figure of its own; `needs` says which
    runs there must be, `about` what one sees.
    """

    draw: Callable[..., Figure]
    cases: Callable[[Runs], list[dict[str, Any]]]
    needs: str
    about: str


FIGURE_KINDS: Mapping[str, FigureKind] = MappingProxyType(
    {
        "gains": FigureKind(
            gains_figure,
            gains_cases,
            "runs under attack with WoLA and without it, of the same dataset, alpha and f",
            "accuracy gains over the best strategy without WoLA, by f",
        ),
        "training": FigureKind(
            training_figure,
            by_attack,
            "runs under attack",
            "accuracy and dissimilarity over training, with a band over seeds",
        ),
        "without-attackers": FigureKind(
            without_attackers_figure,
            without_attackers_cases,
            "runs with f = 0, such as those of `wola bench paper/mean`",
            "accuracy over training without Byzantine workers, by dataset and alpha",
        ),
        "heatmaps": FigureKind(
            heatmaps_figure,
            heatmaps_cases,
            "runs of WoLA and NNM with two or more batch sizes and momenta, such as those of "
            "`wola bench paper/heatmap`",
            "accuracy by batch size and momentum for WoLA, NNM and the difference",
        ),
        "iris": FigureKind(
            iris_figure,
            iris_cases,
            "the numbers that `wola bench paper/iris` writes into a store",
            "cosines of the gradients of the three classes of iris, with loss and accuracy",
        ),
        "label-counts": FigureKind(
            label_counts_figure,
            label_counts_cases,
            "runs under attack",
            "how many samples of each class each worker holds, by alpha",
        ),
        "weights": FigureKind(
            weights_figure,
            by_attack,
            "runs under attack with a rule that weighs workers, such as the geometric median",
            "the weight each worker received over training, honest and Byzantine told apart",
        ),
        "breaking-point": FigureKind(
            breaking_point_figure,
            breaking_point_cases,
            "runs under attack with two or more values of f",
            "accuracy against the number of attackers, with a band over seeds",
        ),
        "matrix": FigureKind(
            matrix_figure,
            matrix_cases,
            "runs under two or more attacks, of two or more rules or strategies",
            "which attack breaks which rule, and which strategy: the worst marked",
        ),
        "classes": FigureKind(
            classes_figure,
            by_place,
            "runs under attack",
            "accuracy of each class at the end of training under each attack",
        ),
    }
)


class Undrawn(NamedTuple):
    """A figure that could not be drawn, and why."""

    name: str
    reason: str


class Drawn(NamedTuple):
    """The files of the figures that were drawn, and the figures that were not."""

    files: list[Path]
    undrawn: list[Undrawn]


def draw_all(
    runs: Runs,
    folder: Path,
    forms: Sequence[str] = ("pdf", "png"),
    *,
    names: Sequence[str] | None = None,
    style: FigureStyle = SCREEN,
) -> Drawn:
    """Draws every figure that the runs allow into files of a folder, named by what they show.

    A figure for which runs are missing is not drawn; it is listed with the reason. `names` takes
    some of `FIGURE_KINDS` alone. `style` says how large they are and whether they have a title;
    those without get their caption as a text beside them. Settings of matplotlib in the process
    change nothing, and are left as they are.

    >>> from tempfile import TemporaryDirectory
    >>> from wola.report.runs import read_runs
    >>> with TemporaryDirectory() as folder:
    ...     draw_all(read_runs(), Path(folder), names=["iris"]).undrawn[0].name
    'iris'
    """
    files: list[Path] = []
    undrawn: list[Undrawn] = []
    for name in FIGURE_KINDS if names is None else names:
        if name not in FIGURE_KINDS:
            raise ValueError(f"figure = {name!r}; allowed: {', '.join(FIGURE_KINDS)}")
        kind = FIGURE_KINDS[name]
        cases = kind.cases(runs)
        if not cases:
            undrawn.append(Undrawn(name, f"there are no such runs; it needs {kind.needs}"))
        for case in cases:
            stem = file_name(name, case)
            try:
                with plain_style("default"):
                    files += save(kind.draw(runs, **case, style=style), folder, stem, forms)
            except CannotDraw as reason:
                undrawn.append(Undrawn(stem, str(reason)))
    return Drawn(files, undrawn)


def file_name(name: str, case: Mapping[str, Any]) -> str:
    """The name of a figure's file, without its ending: the figure and its choices.

    >>> file_name("training", {"dataset": "digits", "setting": "", "alpha": 0.3, "byzantine": 6})
    'training-digits-alpha-0.3-f-6'
    """
    words = [
        part_word(v) if k in ("dataset", "attack", "aggregator") else _word(k, v)
        for k, v in case.items()
        if v not in ("", None)
    ]
    return "-".join([name, *words])


def _word(axis: str, value: Any) -> str:
    told = {"alpha": "alpha-{:g}", "byzantine": "f-{}", "seed": "seed-{}"}
    return file_word(told.get(axis, "{}").format(value))
