"""Every example runs as it stands, and shows what it says."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOK = EXAMPLES / "from_data_to_figure.ipynb"

#: Read by what stands elsewhere: tests/test_package.py and tests/flower.
ELSEWHERE = {"one_round.py", "flower"}


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Calls the `main` of an example in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(name: str) -> Any:
        monkeypatch.setattr(sys, "argv", [name])
        return runpy.run_path(str(EXAMPLES / name))["main"]()

    return call


def test_wola_in_a_plain_loop_learns_rare_classes(example):
    found = example("loss_in_a_loop.py")
    assert found["WoLA"][1] > found["cross-entropy"][1] + 10
    assert found["WoLA"][0] > 85


def test_robust_training_survives_what_breaks_the_mean(example, capsys):
    found = example("robust_training.py")
    assert found["mean"] < 50
    assert min(value for name, value in found.items() if name != "mean") > 80
    assert capsys.readouterr().out.endswith("0.0, 0.0, 0.0]\n")


def test_the_new_attack_hurts_and_wola_helps_against_it(example, capsys):
    found = example("new_attack.py")
    assert "keeps what an attack promises" in capsys.readouterr().out
    assert found["NNM", "Wave"] < found["NNM", "ALIE"]
    assert found["WoLA+NNM", "Wave"] > found["NNM", "Wave"] + 10


def test_the_new_attack_goes_on_from_a_checkpoint():
    wave = runpy.run_path(str(EXAMPLES / "new_attack.py"))["Wave"]
    honest = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    first, second = wave().fresh(), wave().fresh()
    for _ in range(7):
        first.observe(honest[0], 0.1)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(honest, f=2), second(honest, f=2))
    assert not torch.equal(first(honest, f=2), wave()(honest, f=2))


def test_the_study_makes_a_table_and_a_figure(example, tmp_path, capsys):
    frame = example("study.py")
    assert len(frame) == 4 * 2 * 2 * 2
    assert "WoLA+NNM" in capsys.readouterr().out
    assert (tmp_path / "study.pdf").read_bytes().startswith(b"%PDF")


def outputs(notebook: Any, kind: str) -> list[Any]:
    """What the cells show, of one MIME type."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [output.get("data", {}) for cell in cells for output in cell.outputs]
    return [data[kind] for data in shown if kind in data]


def test_the_notebook_shows_what_it_gives_when_it_is_run(tmp_path):
    stored = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(stored)
    again = nbformat.read(NOTEBOOK, as_version=4)
    for cell in again.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(again, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert len(outputs(stored, "image/png")) == len(outputs(again, "image/png")) == 1
    assert len(outputs(stored, "text/html")) == len(outputs(again, "text/html")) >= 2
    assert outputs(stored, "text/plain")[0] == outputs(again, "text/plain")[0]


def test_the_notebook_is_stored_as_it_was_run_from_top_to_bottom():
    cells = [cell for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [
        output for cell in cells for output in cell.outputs if output.output_type == "error"
    ]


def test_the_index_names_every_example():
    here = {path.name for path in EXAMPLES.iterdir()} - {"README.md", "__pycache__"}
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert {name for name in here if f"({name}" in index} == here
    tested = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in here - ELSEWHERE if f'"{name}"' in tested} == here - ELSEWHERE
