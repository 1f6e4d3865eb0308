"""Files that must not be there yet."""

import stat
from pathlib import Path

import pytest

from wola.flower.new_file import write_new


@pytest.mark.parametrize(("secret", "mode"), [(True, 0o600), (False, 0o644)])
def test_a_secret_file_is_its_owners_alone(tmp_path: Path, secret: bool, mode: int) -> None:
    path = tmp_path / "new" / "file"
    write_new(path, b"content", secret=secret)
    assert path.read_bytes() == b"content"
    assert stat.S_IMODE(path.stat().st_mode) & 0o700 == mode & 0o700
    assert bool(stat.S_IMODE(path.stat().st_mode) & 0o077) is not secret


def test_a_file_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"first")
    with pytest.raises(FileExistsError):
        write_new(path, b"second", secret=False)
    assert path.read_bytes() == b"first"
