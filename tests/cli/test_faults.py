"""Errors as the user sees them: one message, an exit code, no traceback."""

import pytest

from wola.cli.errors import Refused, exit_code, message
from wola.data import DataError
from wola.ground import WriteError
from wola.training import CheckpointError


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Refused("no"), 2),
        (DataError("no"), 2),
        (CheckpointError("no"), 2),
        (caused(DataError("no"), FileNotFoundError()), 2),
        (caused(DataError("no"), PermissionError()), 1),
        (WriteError(28, "cannot write", "runs/x"), 1),
        (FileNotFoundError(2, "gone", "x"), 1),
    ],
)
def test_bad_input_ends_in_2_and_a_fault_of_the_system_in_1(error, code):
    assert exit_code(error) == code


def test_an_error_of_the_system_names_the_file():
    assert message(WriteError(28, "cannot write (disk full)", "a/b")) == (
        "a/b: cannot write (disk full)"
    )
    assert message(OSError("odd")) == "odd"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("trian",), ["command = 'trian'", "did you mean 'train'?"]),
        (("data", "shwo", "iris"), ["command = 'shwo'", "did you mean 'show'?"]),
        (("train", "--alhpa", "3"), ["--alhpa", "--alpha"]),
        (("list", "atacks"), ["kind = 'atacks'", "did you mean 'attacks'?"]),
        (("demo", "--processes", "0"), ["--processes", "0", "x>=1"]),
    ],
)
def test_words_that_are_unknown_suggest_the_nearest(wola, tmp_path, words, parts):
    result = wola(*words)

    assert result.exit_code == 2
    assert result.stderr.startswith("wola: ")
    assert result.stderr.count("\n") == 1
    assert all(part in result.stderr for part in parts)
    assert not any(tmp_path.iterdir())


def test_no_words_show_the_help(wola):
    result = wola()

    assert result.exit_code == 2
    assert "Commands:" in result.stderr


def test_the_version_is_told(wola):
    result = wola("--version")

    assert result.exit_code == 0
    assert result.stdout.startswith("wola ")
