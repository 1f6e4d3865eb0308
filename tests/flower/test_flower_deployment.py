import socket
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from wola.flower.deployment import (
    Credentials,
    DeploymentError,
    FederationPlan,
    LocalFederation,
    local_federation,
    make_credentials,
    run_demo_federation,
)
from wola.flower.deployment.demo import round_line
from wola.flower.deployment.ports import free_ports, listening
from wola.flower.deployment.record_follower import RecordFollower


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Credentials:
    return make_credentials(tmp_path_factory.mktemp("deployment") / "keys", clients=2)


def test_a_port_is_free_until_somebody_listens() -> None:
    (port,) = free_ports(1)
    with socket.create_server(("127.0.0.1", port)):
        assert listening(port)
    assert not listening(port)


def test_a_follower_repeats_nothing_when_the_file_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "records"
    follower = RecordFollower(path)
    assert follower.new() == []
    path.write_text('{"round": 1}\n')
    assert follower.new() == [{"round": 1}]
    path.write_text("")
    assert follower.new() == []
    path.write_text('{"round": 1}\n{"round": 2}\n')
    assert follower.new() == [{"round": 2}]


def test_a_line_tells_who_is_missing_and_why_a_round_was_skipped() -> None:
    record = {"round": 3, "accuracy": None, "missing": {"7": "no reply"}, "skipped": "too few"}
    line = round_line(record, {"7": "client 2"})
    assert "missing client 2 (no reply)" in line
    assert "skipped: too few" in line
    assert "labels of all clients" in round_line({"round": 0, "kind": "query"}, {})


FAKES = {
    "flower-superlink": """
        import socket, sys, time
        port = int(sys.argv[sys.argv.index("--port") + 1])
        server = socket.create_server(("127.0.0.1", port))
        while True:
            server.accept()[0].close()
    """,
    "flower-superexec": "import time; time.sleep(60)",
    "nginx": """
        import re, socket, sys
        text = open(sys.argv[sys.argv.index("-c") + 1]).read()
        port = int(re.search("listen 127.0.0.1:(\\d+)", text)[1])
        server = socket.create_server(("127.0.0.1", port))
        while True:
            server.accept()[0].close()
    """,
    "flower-supernode": """
        import sys, time
        print("SuperNode ID: 7", sys.argv, flush=True)
        time.sleep(60)
    """,
    "flwr": """
        import json, re, sys
        if sys.argv[1] == "supernode":
            known = "client-0" in sys.argv[3]
            print(json.dumps({"success": known, "node-id": "7", "error-message": "not you"}))
            sys.exit()
        config = sys.argv[sys.argv.index("--run-config") + 1]
        path = re.search('records="([^"]*)"', config)[1]
        rounds = int(re.search("num-rounds=([0-9]*)", config)[1])
        with open(path, "a") as file:
            for round in range(1, rounds + (2 if rounds < 9 else 0)):
                record = {"round": round, "kind": "train", "accuracy": 90.0 + round}
                file.write(json.dumps(record) + "\\n")
    """,
}


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for Flower's programs and no proxy."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in FAKES.items():
        path = folder / name
        path.write_text(f"#!{sys.executable} -IS\n{dedent(text)}")
        path.chmod(0o755)
    monkeypatch.setattr(local_federation, "nginx", lambda: None)
    monkeypatch.setattr(local_federation, "process_environment", lambda home: {"PATH": str(folder)})
    return folder


@pytest.mark.usefixtures("fakes")
def test_a_demonstration_registers_connects_runs_and_stops(tmp_path: Path) -> None:
    told: list[str] = []
    runs = run_demo_federation(FederationPlan(clients=1, rounds=2), tmp_path / "demo", told.append)
    assert [record["accuracy"] for record in runs["wola"]][:2] == [91.0, 92.0]
    assert "client 0 is Byzantine (sign-flip)" in told[1]
    node = (tmp_path / "demo" / "logs" / "node-0.log").read_text()
    assert 'partition-id=0 signing-key="' in node
    assert 'misbehave="sign-flip"' in node


@pytest.mark.usefixtures("fakes")
def test_a_run_that_ends_too_early_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DeploymentError, match="ended before its last round"):
        run_demo_federation(
            FederationPlan(clients=1, rounds=9), tmp_path / "demo", lambda line: None
        )


def test_nodes_reach_the_superlink_through_the_proxy(
    tmp_path: Path, fakes: Path, keys: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_federation, "nginx", lambda: str(fakes / "nginx"))
    with LocalFederation(tmp_path / "demo", keys) as federation:
        federation.start_node(0, {})
        federation.await_node(0)
        federation.connect_through_proxy("outside")
        assert f"127.0.0.1:{federation.proxy_port}" in federation.nodes[0].text()
    connections = tomllib.loads((federation.home / "config.toml").read_text())["superlink"]
    assert connections["outside"]["address"] == f"127.0.0.1:{federation.proxy_port}"
    assert connections["wola"]["address"] == f"127.0.0.1:{federation.superlink_port}"


@pytest.mark.usefixtures("fakes")
def test_a_refused_registration_is_an_error_with_what_was_said(
    tmp_path: Path, keys: Credentials
) -> None:
    with LocalFederation(tmp_path / "demo", keys) as federation:
        federation.register(0)
        assert federation.node_ids == {0: 7}
        with pytest.raises(DeploymentError, match="flwr supernode register: not you"):
            federation.register(1)
    assert not any(program.family for program in federation.programs.started)


def test_a_missing_program_is_named(tmp_path: Path, fakes: Path, keys: Credentials) -> None:
    (fakes / "flower-superexec").unlink()
    federation = LocalFederation(tmp_path / "demo", keys)
    with pytest.raises(DeploymentError, match=r"flower-superexec is not installed"), federation:
        pass
    assert not any(program.family for program in federation.programs.started)
