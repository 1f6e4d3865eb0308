"""How commands are found, helped with and kept from importing what they should not."""

import sys

import click
import pytest
import typer
from typer.testing import CliRunner

from wola.cli.app import Wola
from wola.cli.commands import Command, Commands, Entry, group

ALL = [
    ("train",), ("bench",), ("report",), ("serve",), ("list",), ("doctor",), ("demo",), ("runs",),
    ("runs", "ls"), ("runs", "show"), ("runs", "diff"), ("runs", "rm"), ("runs", "gc"),
    ("runs", "export"), ("runs", "import"), ("data",), ("data", "list"), ("data", "get"),
    ("data", "show"), ("data", "partition"), ("flower",),
]  # fmt: skip


def test_the_overview_of_train_fits_a_screen_of_24_lines(wola):
    assert len(wola("train", "--help").stdout.splitlines()) < 24


@pytest.mark.parametrize("words", ALL)
@pytest.mark.parametrize("flag", ["--help", "--help-all"])
def test_no_line_of_help_is_wider_than_80_and_none_ends_in_mid_word(wola, words, flag):
    result = wola(*words, flag)
    if flag == "--help-all" and result.exit_code == 2:
        assert "No such option" in result.stderr
        return

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line.endswith("-")]


def test_topics_name_every_flag_in_the_overview_and_explain_it_in_full(wola):
    overview, whole = wola("train", "--help").stdout, wola("train", "--help-all").stdout

    for topic in ("data", "federation", "loss and objective", "server", "attack", "optimiser"):
        assert f"\n  {topic}" in overview
        assert f"\n{topic.capitalize()}:\n" in whole
    assert "What Byzantine workers send." not in overview
    assert "--attack PART            What Byzantine workers send. (default: alie)" in whole


def test_a_command_without_topics_has_no_second_page():
    app = typer.Typer(rich_markup_mode=None)

    @app.command(cls=Command)
    def brew(minutes: int = 3) -> None:
        """Make tea."""

    assert "--help-all" not in CliRunner().invoke(app, ["--help"]).output


def test_a_word_with_a_hyphen_is_never_broken():
    app = typer.Typer(rich_markup_mode=None)

    @app.command(cls=Command)
    def brew(kind: str = typer.Option("a", help="x" * 45 + " half-and-half")) -> None:
        """Make tea with milk, or something that is hardly tea any more, such as half-and-half."""

    shown = CliRunner().invoke(app, ["--help"]).output

    assert shown.count("half-and-half") == 2


def test_only_commands_that_run_the_users_code_import_from_the_current_folder(wola, tmp_path):
    before = list(sys.path)
    wola("list", "loss")
    assert sys.path == before

    wola("train", "--help")
    assert sys.path[0] == str(tmp_path)
    assert {name for name, entry in Wola.entries.items() if entry.own_code} == {
        "train",
        "bench",
        "data",
    }


def test_a_command_is_imported_when_it_is_called_and_not_before(tmp_path, monkeypatch):
    (tmp_path / "teahouse.py").write_text("def brew():\n    'Make tea.'\n    print('tea')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    class House(Commands):
        entries = {"brew": Entry("teahouse:brew", "Make tea.")}  # noqa: RUF012

    app = group("A house.", House)
    app.callback()(lambda: None)

    assert "brew  Make tea." in CliRunner().invoke(app, ["--help"]).output
    assert "teahouse" not in sys.modules
    assert CliRunner().invoke(app, ["brew"]).output == "tea\n"
    assert sys.modules.pop("teahouse")


def test_completion_names_commands_and_flags_without_importing_any():
    group_of_all = Wola(name="wola")

    found = group_of_all.shell_complete(click.Context(group_of_all), "d")

    assert [(item.value, item.help) for item in found] == [
        (name, Wola.entries[name].help) for name in ("demo", "data", "doctor")
    ]
    assert group_of_all.commands == {}


def test_an_unexpected_error_keeps_its_traceback():
    app = group("A house.")

    @app.command("burn", cls=Command)
    def burn() -> None:
        raise KeyError("a bug")

    app.callback()(lambda: None)

    assert isinstance(CliRunner().invoke(app, ["burn"]).exception, KeyError)


def test_a_click_error_is_one_line():
    app = group("A house.")

    @app.command("burn", cls=Command)
    def burn() -> None:
        raise click.UsageError("no fire")

    app.callback()(lambda: None)
    result = CliRunner().invoke(app, ["burn"])

    assert (result.exit_code, result.stderr) == (2, "wola: no fire\n")
