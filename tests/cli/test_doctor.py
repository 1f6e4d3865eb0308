"""`wola doctor`."""

import json
from importlib.metadata import version

from wola.bench.executors.local import cores
from wola.cli.doctor import devices, facts, installed
from wola.ground import cache_folder


def test_the_doctor_tells_versions_data_machine_and_folders(wola):
    text = wola("doctor").stdout

    for part in (version("torch"), "embedded", "not here: wola data get mnist", "cpu"):
        assert part in text
    assert "".join(f"{cache_folder()} (made when needed)".split()) in "".join(text.split())


def test_a_folder_of_kernels_is_named_and_one_that_cannot_be_written_is_told(
    wola, tmp_path, monkeypatch
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)

    text = wola("doctor").stdout

    assert "(cannot be written)" in text


def test_a_missing_package_is_told():
    assert installed("no-such-package") == "not installed"


def test_there_is_a_device_and_a_core_at_least():
    assert devices()[0] == "cpu"
    assert cores() >= 1


def test_json_holds_the_same_facts_and_nothing_else(wola):
    result = wola("doctor", "--json")

    told = json.loads(result.stdout)
    assert told == facts()
    assert told["versions"]["torch"] == version("torch")
