"""What is saved from the page: tables as CSV and LaTeX, charts as SVG and PNG."""

import csv
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.report.browser.conftest import Open
from tests.report.browser.test_browser_page import on_iris
from wola.report import Runs
from wola.report.scores import scores


def saved(page: Any, pressed: str) -> tuple[str, bytes]:
    """The name and content of what a button saves."""
    with page.expect_download() as found:
        page.click(pressed)
    return found.value.suggested_filename, Path(found.value.path()).read_bytes()


def test_the_overview_as_csv_has_unrounded_numbers(look: Open, address: str, runs: Runs) -> None:
    page = on_iris(look, address).page
    name, content = saved(page, "#csv-accuracy-overview")
    assert name == "iris-accuracy-overview.csv"
    table = list(csv.DictReader(io.StringIO(content.decode())))
    assert [row["Strategy"] for row in table] == [
        "\N{EN DASH} (rule alone)",
        "NNM",
        "WoLA",
        "WoLA+NNM",
    ]
    for row in scores(runs.where(dataset=["iris"])).iter_rows(named=True):
        place = ["-", "NNM", "WoLA", "WoLA+NNM"].index(row["strategy"])
        head = f"alpha = {row['alpha']:g} f = {row['byzantine']}"
        if row["mean"] is None:
            assert table[place][head] == f"{row['runs']}/{row['expected']}"
        else:
            assert float(table[place][head]) == pytest.approx(row["mean"], abs=1e-9)
            assert float(table[place][f"{head} sd"]) == pytest.approx(row["sd"], abs=1e-9)


def test_all_runs_are_saved_and_not_only_those_in_sight(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    assert page.locator("#runs tbody tr").count() == 60
    _, content = saved(page, "#csv-runs")
    table = list(csv.DictReader(io.StringIO(content.decode())))
    assert len(table) == 63
    assert len({row["Key"] for row in table}) == 63


def test_tables_as_latex_can_be_set(look: Open, address: str, tmp_path: Path) -> None:
    page = on_iris(look, address).page
    page.click("#chart-accuracy-table")
    pressed = ["#tex-accuracy-overview", "#tex-ranking", "#tex-matrix", "#tex-runs"]
    pressed.append("[id^='tex-accuracy-chart']")
    texts = [saved(page, button)[1].decode() for button in pressed]
    assert r"\multicolumn{2}{c}{alpha = 0.3}" in texts[0]
    assert r"\textbf{" in texts[0]
    for text in texts:
        lines = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert len({line.replace(r"\&", "").count("&") for line in lines[1:]}) == 1
    if shutil.which("pdflatex") is None:
        return
    body = "\n\n".join(texts)
    whole = (
        "\\documentclass{article}\\usepackage[a1paper]{geometry}\\usepackage{booktabs}"
        f"\\begin{{document}}{body}\\end{{document}}"
    )
    (tmp_path / "all.tex").write_text(whole, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_chart_as_svg_stands_alone(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    name, content = saved(page, "#svg-chart-accuracy")
    assert name == "iris-chart-accuracy-accuracy.svg"
    root = ElementTree.fromstring(content)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = content.decode()
    assert "class=" not in text
    assert "var(" not in text
    words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "WoLA+NNM" in words
    assert any("in % of the test set" in (word or "") for word in words)


def test_a_chart_as_png_is_a_picture_of_it(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    _, content = saved(page, "#png-chart-dissimilarity")
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width = int.from_bytes(content[16:20], "big")
    assert width == pytest.approx(
        2 * page.locator("#chart-dissimilarity").bounding_box()["width"], abs=3
    )
    assert len(content) > 5000


def test_every_table_and_every_chart_can_be_saved(look: Open, address: str) -> None:
    page = on_iris(look, address).page
    page.locator("[id^=run-]").first.click()
    page.wait_for_selector("#scenario .confusion")
    assert page.evaluate(
        "[...document.querySelectorAll('figure:has(.chart)')].every(one =>"
        " one.querySelectorAll('figcaption .files button').length === 2)"
    )
    for name in ("csv-confusion", "tex-confusion", "csv-classes", "tex-classes"):
        assert page.locator(f"#{name}").count() == 1
    _, content = saved(page, "#csv-confusion")
    table = list(csv.reader(io.StringIO(content.decode())))
    assert table[2] == ["versicolor", "25", "50", "25", "8"]
    assert saved(page, "#svg-run-chart-accuracy")[0].startswith("run-")
