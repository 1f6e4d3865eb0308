"""A user's modules: found, blamed by file and line, and known by their source."""

import sys

import pytest

from wola.parts.importing import OwnPartError, importable, imported, source_digests


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_an_error_inside_a_users_module_says_file_and_line(folder):
    (folder / "broken_part.py").write_text("x = 1\n\ny = x + unknown\n")
    with pytest.raises(OwnPartError, match=r"^broken_part.py, line 3: NameError: name 'unknown'"):
        imported("broken_part:Rule")


def test_a_syntax_error_says_file_and_line(folder):
    (folder / "unclosed_part.py").write_text("x = 1\ny = (\n")
    with pytest.raises(OwnPartError, match=r"^unclosed_part.py, line 2: SyntaxError"):
        imported("unclosed_part:Rule")


def test_a_module_that_a_users_module_lacks_is_told_with_the_line(folder):
    (folder / "lacking_part.py").write_text("\nimport no_such_library\n")
    with pytest.raises(OwnPartError, match=r"lacking_part.py, line 2: ModuleNotFoundError"):
        imported("lacking_part:Rule")


def test_a_name_that_is_not_there_is_told_with_the_file(folder):
    (folder / "empty_part.py").write_text("")
    with pytest.raises(OwnPartError, match=r"^empty_part.py defines no 'Rule'"):
        imported("empty_part:Rule")


def test_a_module_that_is_not_there_is_told():
    with pytest.raises(OwnPartError, match="there is no module 'nowhere_part'"):
        imported("nowhere_part:Rule")


def test_what_other_processes_cannot_import_is_known():
    class Local:
        pass

    assert importable("tests.parts.own:NearestHalf")
    assert not importable(f"{Local.__module__}:{Local.__qualname__}")
    assert not importable("__main__:Rule")
    assert not importable("nowhere_part:Rule")


def test_the_source_of_a_part_and_of_what_it_imports_of_the_users_own_counts(folder):
    (folder / "outer_part.py").write_text(
        "import numpy\nimport inner_part\nfrom pkg_part import a\n"
    )
    (folder / "inner_part.py").write_text("x = 1\n")
    (folder / "pkg_part").mkdir()
    (folder / "pkg_part" / "__init__.py").write_text("")
    (folder / "pkg_part" / "a.py").write_text("from . import b\n")
    (folder / "pkg_part" / "b.py").write_text("y = 1\n")
    imported("outer_part:inner_part")
    before = source_digests("outer_part:X")
    assert set(before) == {"outer_part", "inner_part", "pkg_part", "pkg_part.a", "pkg_part.b"}
    (folder / "pkg_part" / "b.py").write_text("y = 22\n")
    after = source_digests("outer_part:X")
    assert {name for name in before if before[name] != after[name]} == {"pkg_part.b"}
