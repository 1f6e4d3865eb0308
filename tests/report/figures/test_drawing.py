"""All figures at once: files in every form, reasons for those not drawn, and their looks."""

from pathlib import Path

import matplotlib
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from tests.report.figures.made_up import made_up
from tests.report.invented import invented, scattered
from wola.bench.iris import class_gradient_cosines
from wola.bench.store import Store
from wola.ground.sealed import sealed, unsealed
from wola.ground.tables import sealed_table
from wola.report.figure_files import save
from wola.report.figure_style import SCREEN, FigureStyle, Paper, Slides
from wola.report.figures import FIGURE_KINDS, draw_all, file_name
from wola.report.figures.panels import panel_grid
from wola.report.figures.strategy_styles import line_styles, strategy_labels
from wola.report.runs import Runs, read_runs
from wola.training import STRATEGIES, Scenario


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A small grid with two values of f, and the numbers of the iris figure."""

    def accuracy(run: Scenario) -> float:
        return 60.0 - 5 * run.byzantine + 10 * (run.strategy == "WoLA")

    axes = {"workers": [17], "byzantine": [2, 4], "strategy": ["NNM", "WoLA"]}
    axes |= {"attack": ["alie", "sf"]}
    folder = tmp_path_factory.mktemp("figures")
    found = made_up(folder, axes, accuracy, weights=[1 / 17] * 17)
    (folder / "store" / "figures").mkdir()
    numbers = folder / "store" / "figures" / "iris.parquet"
    numbers.write_bytes(sealed_table(class_gradient_cosines(steps=3)))
    return found


def test_every_figure_is_drawn_in_every_form_or_has_a_reason(runs: Runs, tmp_path: Path) -> None:
    files, undrawn = draw_all(runs, tmp_path, ("svg", "png"))
    kinds = {name for name in FIGURE_KINDS for file in files if file.name.startswith(name)}
    assert kinds | {figure.name for figure in undrawn} == set(FIGURE_KINDS)
    reasons = {figure.name: figure.reason for figure in undrawn}
    assert set(reasons) == {"without-attackers", "heatmaps"}
    assert "wola bench paper/mean" in reasons["without-attackers"]
    assert "wola bench paper/heatmap" in reasons["heatmaps"]
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in files}
    for file in files:
        assert file.with_suffix(".svg" if file.suffix == ".png" else ".png") in files
    with Image.open(next(file for file in files if file.suffix == ".png")) as picture:
        assert picture.width > 700
    assert "<text" in next(f for f in files if f.name == "iris.svg").read_text()


def test_an_empty_store_gives_no_file_and_a_reason_for_each(tmp_path: Path) -> None:
    files, undrawn = draw_all(read_runs(Store.open(tmp_path / "store")), tmp_path / "figures")
    assert files == []
    assert [figure.name for figure in undrawn] == list(FIGURE_KINDS)
    assert not (tmp_path / "figures").exists()


def test_a_figure_that_its_runs_do_not_allow_is_named_with_the_reason(
    runs: Runs, tmp_path: Path
) -> None:
    few = runs.where(byzantine=[2])
    (undrawn,) = draw_all(few, tmp_path, names=["breaking-point"]).undrawn
    assert undrawn.name == "breaking-point-iris-steps-4-evaluate-every-2"
    assert "needs two values of f" in undrawn.reason


def test_a_summary_that_cannot_be_read_is_a_reason(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {"strategy": ["WoLA"]}, lambda run: 50.0)
    for path in (tmp_path / "store").glob("runs/*/*/summary.json"):
        summary = unsealed(path.read_bytes())
        del summary["counts"]
        path.write_bytes(sealed(summary))
    (undrawn,) = draw_all(runs, tmp_path / "figures", names=["label-counts"]).undrawn
    assert "counts" in undrawn.reason


def test_figures_for_a_paper_have_its_width_no_title_a_caption_and_fonts(
    runs: Runs, tmp_path: Path
) -> None:
    files, _ = draw_all(runs, tmp_path, ("pdf", "png"), style=Paper(width=3.4))
    stems = {file.name.removesuffix(file.suffix) for file in files}
    assert len(files) == 3 * len(stems) > 20
    for name in stems:
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert picture.width == 3.4 * 300
        pdf = (tmp_path / f"{name}.pdf").read_bytes()
        assert b"/FontFile2" in pdf
        assert b"/Type3" not in pdf
    (caption,) = tmp_path.glob("training-*-alie.txt")
    assert caption.read_text().startswith("iris (steps 4, evaluate_every 2) under ALIE, alpha")


def test_slides_are_sixteen_by_nine(runs: Runs, tmp_path: Path) -> None:
    files, _ = draw_all(runs, tmp_path, ("png",), style=Slides())
    assert {file.suffix for file in files} == {".png"}
    for file in files:
        with Image.open(file) as picture:
            assert picture.size == (1920, 1080)


@pytest.mark.parametrize("style", [SCREEN, Paper(), Paper(width=6.9), Slides()])
def test_nothing_is_cut_off_at_the_edge_of_a_figure(style: FigureStyle, runs: Runs) -> None:
    for name, kind in FIGURE_KINDS.items():
        for case in kind.cases(runs):
            figure = kind.draw(runs, **case, style=style)
            figure.draw_without_rendering()
            drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
            assert drawn.x0 >= -0.01, (name, case)
            assert drawn.y0 >= -0.01, (name, case)
            assert drawn.x1 <= width + 0.01, (name, case)
            assert drawn.y1 <= height + 0.01, (name, case)


def test_settings_of_matplotlib_change_nothing_and_stay(runs: Runs, tmp_path: Path) -> None:
    (plain,) = draw_all(runs, tmp_path / "a", ("svg",), names=["iris"]).files
    with matplotlib.rc_context({"font.size": 31, "axes.facecolor": "red", "pdf.fonttype": 3}):
        before = dict(matplotlib.rcParams)
        (other,) = draw_all(runs, tmp_path / "b", ("svg",), names=["iris"]).files
        assert dict(matplotlib.rcParams) == before
    assert plain.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("form", ["pdf", "svg", "png"])
def test_the_same_figure_has_the_same_bytes(form: str, tmp_path: Path) -> None:
    made = []
    for folder in ("a", "b"):
        figure, panels = panel_grid(SCREEN, 1, 1, panel=(2.0, 2.0))
        panels[0, 0].plot([1, 2], [3, 4], marker="o")
        (path,) = save(figure, tmp_path / folder, "same", [form])
        made.append(path.read_bytes())
    assert made[0] == made[1]


def test_an_unknown_form_or_figure_is_refused(runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="form = 'gif'; allowed: pdf, svg, png"):
        draw_all(runs, tmp_path, ("gif",), names=["iris"])
    with pytest.raises(ValueError, match="figure = 'pie'; allowed: gains, training"):
        draw_all(runs, tmp_path, names=["pie"])


def test_no_two_strategies_share_a_colour_a_marker_or_a_line_style() -> None:
    found = line_styles([*STRATEGIES, "one", "two", "three"]).values()
    for what in ("color", "marker", "linestyle"):
        shown = [str(look[what]) for look in found]
        assert len(set(shown)) == len(shown)
    for look in found:
        red, green, blue = to_rgb(look["color"])
        assert 0.299 * red + 0.587 * green + 0.114 * blue < 0.7


def test_a_strategy_looks_the_same_whoever_stands_beside_it() -> None:
    assert line_styles(["WoLA", "NNM"])["NNM"] == line_styles(STRATEGIES)["NNM"]
    assert strategy_labels(invented(scattered, strategy=["WoLA-dagger"])) == {
        "WoLA-dagger": "WoLA†"
    }


def test_a_long_setting_makes_a_short_file_name() -> None:
    setting = ", ".join(f"field{number} {number}" for number in range(20))
    name = file_name("gains", {"setting": setting, "summary": "global"})
    assert len(name) < 100
    assert name != file_name("gains", {"setting": setting + "1", "summary": "global"})
