import importlib
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from flwr.app import Context, RecordDict

from wola.flower import LoopbackGrid
from wola.flower.deployment import Credentials, FederationPlan, Proxy, example_app, make_credentials

EXAMPLE = Path(__file__).parents[2] / "examples" / "flower"
CLIENTS = 5


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Credentials:
    return make_credentials(tmp_path_factory.mktemp("deployment") / "keys", clients=CLIENTS)


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, ModuleType]]:
    """The example's modules, found as Flower finds them."""
    names = [path.stem for path in example_app().glob("*.py")]
    monkeypatch.setenv("WOLA_STATE", str(tmp_path / "state"))
    monkeypatch.syspath_prepend(str(example_app()))
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        del sys.modules[name]


def settings() -> dict[str, Any]:
    text = (example_app() / "pyproject.toml").read_text()
    found: dict[str, Any] = tomllib.loads(text)["tool"]["flwr"]["app"]["config"]
    return found


def train(
    app: dict[str, ModuleType], keys: Credentials, folder: Path, **changes: Any
) -> list[dict[str, Any]]:
    """Runs the app in one process; its records."""
    plan = FederationPlan(clients=CLIENTS, rounds=2)
    config = settings() | plan.run_config(changes.pop("strategy"), folder, keys)
    config |= {"local-steps": 20, **changes}
    grid = LoopbackGrid([app["client_app"].app] * CLIENTS, run_config=config)
    for client, context in enumerate(grid.contexts.values()):
        context.node_config.update(plan.node_config(client, keys))
    app["server_app"].app(grid=grid, context=Context(1, 1, {}, RecordDict(), config))
    lines = Path(config["records"]).read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_the_example_trains_with_signatures(
    app: dict[str, ModuleType], keys: Credentials, tmp_path: Path
) -> None:
    records = train(app, keys, tmp_path, strategy="wola")
    assert [record["round"] for record in records] == [0, 1, 2]
    assert all(len(record["replied"]) == CLIENTS for record in records)
    assert records[-1]["accuracy"] > 40


def test_the_example_takes_a_rule_and_data_of_the_servers_own_by_name(
    app: dict[str, ModuleType], keys: Credentials, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {"rule": "fltrust", "server-data": "equal(samples=50)"}
    records = train(app, keys, tmp_path, strategy="wola", **changes)
    assert [record["skipped"] for record in records] == [None] * 3
    assert records[-1]["accuracy"] > 40
    assert records[-1]["seconds"]["reference"] > 0
    with pytest.raises(ValueError, match=r"rule = FLTrust\(\) needs data of the server's own"):
        train(app, keys, tmp_path, strategy="wola", rule="fltrust")


def test_clients_of_the_example_hold_nothing_that_the_server_holds(
    app: dict[str, ModuleType],
) -> None:
    whole = app["digits"].federation(CLIENTS, 1, 1, "equal(samples=50)")
    held = {tuple(row.flatten().tolist()) for row in whole.server.inputs}
    assert len(held) == 50
    for shard in whole.shards:
        assert not held & {tuple(row.flatten().tolist()) for row in whole.inputs[shard]}


def test_the_example_drops_a_client_whose_key_is_not_allowed(
    app: dict[str, ModuleType], keys: Credentials, tmp_path: Path
) -> None:
    fewer = tmp_path / "signing"
    fewer.mkdir()
    for client in range(1, CLIENTS):
        shutil.copy(keys.allowed / f"client-{client}.pub", fewer)
    allowed: dict[str, Any] = {"allowed-keys": str(fewer), "quorum": 0}
    records = train(app, keys, tmp_path, strategy="wola", **allowed)
    assert all("key that is not allowed" in record["dropped"]["1001"] for record in records)
    assert all(len(record["replied"]) == CLIENTS - 1 for record in records)


def test_the_example_compares_with_fedavg_under_the_same_lie(
    app: dict[str, ModuleType], keys: Credentials, tmp_path: Path
) -> None:
    records = train(app, keys, tmp_path, strategy="fedavg")
    assert [record["round"] for record in records] == [1, 2]
    assert 0 < records[-1]["accuracy"] < 90


def test_every_setting_of_the_demonstration_is_one_of_the_app(keys: Credentials) -> None:
    assert set(FederationPlan().run_config("wola", keys.folder, keys)) <= set(settings())


def test_the_examples_proxy_is_the_one_that_is_checked() -> None:
    keys = Path("keys/server")
    proxy = Proxy(
        listen="9443",
        superlink="127.0.0.1:8000",
        certificate=keys / "server.pem",
        key=keys / "server.key",
        authority=keys / "ca.crt",
        name="localhost",
        folder=Path(),
    )
    assert (EXAMPLE / "nginx.conf").read_text() == proxy.configuration()


SCRIPTS = {
    "superlink.sh": ("flower-superlink", ["--enable-supernode-auth", "--isolation process"]),
    "superexec.sh": ("flower-superexec", ["--superexec-auth-secret-file"]),
    "proxy.sh": ("nginx", ["-c", "nginx.conf"]),
    "register.sh": ("flwr", ["supernode register", "client-0.pub digits --name client-0"]),
    "supernode.sh": ("flower-supernode", ["localhost:9443", 'misbehave="nan"', "--port 9101"]),
    "run.sh": ("flwr", ["run", "digits --stream", 'num-rounds=2 strategy="fedavg"']),
}
ARGUMENTS = {"supernode.sh": ["1", "nan"], "run.sh": ["num-rounds=2", 'strategy="fedavg"']}


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_a_start_script_calls_its_program(script: str, tmp_path: Path, keys: Credentials) -> None:
    program, words = SCRIPTS[script]
    fake = tmp_path / "bin" / program
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$0 $*"\n')
    fake.chmod(0o755)
    paths = {"PATH": f"{fake.parent}:/usr/bin:/bin", "STATE": str(tmp_path / "state")}
    done = subprocess.run(
        ["sh", str(EXAMPLE / script), *ARGUMENTS.get(script, [])],
        env={**paths, "KEYS": str(keys.folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(fake) in done.stdout
    assert [word for word in words if word not in done.stdout] == []
