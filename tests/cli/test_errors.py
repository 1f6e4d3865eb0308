"""Errors as the user sees them: one message, an exit code, no traceback."""

from importlib import import_module

import pytest

from wola.cli.errors import (
    EXPECTED,
    OwnCodeFailed,
    Refused,
    exit_code,
    is_expected,
    message,
    place_in,
)
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
        (OwnCodeFailed("no"), 1),
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


@pytest.mark.parametrize("path", sorted(EXPECTED))
def test_every_expected_error_is_where_it_is_said_to_be(path):
    module, _, name = path.rpartition(".")
    kind = getattr(import_module(module), name)

    assert kind.__module__ == module
    assert is_expected(kind("no"))
    assert is_expected(type("Narrower", (kind,), {})("no"))


def test_a_bug_is_not_expected():
    assert not is_expected(ValueError("a bug"))
    assert not is_expected(KeyError("a bug"))


def test_the_place_of_an_error_is_the_innermost_line_of_the_users_own_modules(tmp_path):
    outer = {"__name__": "mine"}
    code = "def half(x):\n    return int(x) / 2\n\n\ndef twice(call):\n    return call('x')\n"
    exec(compile(code, str(tmp_path / "mine.py"), "exec"), outer)

    def fails() -> ValueError:
        try:
            outer["twice"](outer["half"])
        except ValueError as error:
            return error
        raise AssertionError

    told = place_in(["mine"], fails())
    assert told is not None
    assert f"{tmp_path / 'mine.py'}, line 2: ValueError: invalid literal" in told
    assert place_in(["other"], fails()) is None
    wrapped = caused(RuntimeError("it failed"), fails())
    assert place_in(["mine"], wrapped) == told


def test_a_file_in_the_current_folder_is_named_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "mine"}
    exec(compile("def burn():\n    1 / 0\n", str(tmp_path / "mine.py"), "exec"), names)
    with pytest.raises(ZeroDivisionError) as caught:
        names["burn"]()

    told = place_in(["mine"], caught.value)
    assert told == "mine.py, line 2: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("trian",), ["command = 'trian'", "did you mean 'train'?"]),
        (("data", "shwo", "iris"), ["command = 'shwo'", "did you mean 'show'?"]),
        (("train", "--alhpa", "3"), ["--alhpa", "--alpha"]),
        (("list", "atacks"), ["KIND = 'atacks'", "did you mean 'attack'?"]),
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
