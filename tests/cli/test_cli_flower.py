from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Wola
from wola.flower import deployment


def test_keygen_makes_a_folder_for_each_machine(wola: Wola, tmp_path: Path) -> None:
    shown = wola("flower", "keygen", "keys", "--clients", "2", "--host", "fl.example.org")
    assert shown.exit_code == 0, shown.output
    names = sorted(path.name for path in (tmp_path / "keys").iterdir())
    assert names == ["authority", "client-0", "client-1", "server"]
    assert "for client 1 alone: keys/client-1" in shown.output


def test_keygen_makes_one_clients_own_keys(wola: Wola, tmp_path: Path) -> None:
    shown = wola("flower", "keygen", "mine", "--client")
    assert shown.exit_code == 0, shown.output
    names = sorted(path.name for path in (tmp_path / "mine").iterdir())
    assert names == ["node.key", "node.pub", "signing.key", "signing.pub"]
    assert "for the server: mine/node.pub and mine/signing.pub" in shown.output


@pytest.mark.parametrize("words", [(), ("--client",)])
def test_keygen_never_replaces_keys(wola: Wola, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert wola("flower", "keygen", "keys", *words).exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.key")}
    shown = wola("flower", "keygen", "keys", *words)
    assert shown.exit_code == 2
    assert "keys are never replaced" in shown.output
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.key")} == before


def test_keygen_refuses_a_host_where_no_certificate_is_made(wola: Wola) -> None:
    shown = wola("flower", "keygen", "keys", "--client", "--host", "fl.example.org")
    assert shown.exit_code == 2
    assert "--host" in shown.output


@pytest.mark.parametrize("command", ["keygen keys", "demo"])
def test_without_flower_it_says_how_to_install_it(
    wola: Wola, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wola.cli.flower.find_spec", lambda name: None)
    shown = wola("flower", *command.split())
    assert shown.exit_code == 2
    assert "pip install 'wola[flower]'" in shown.output


def pretend(monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]) -> None:
    monkeypatch.setattr(deployment, "run_demo_federation", run)


def test_a_demonstration_ends_with_both_accuracies(
    wola: Wola, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(plan: Any, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
        assert folder.is_dir()
        tell(f"{plan.rounds} rounds, {plan.misbehave}")
        return {"wola": [{"accuracy": 92.75}], "fedavg": [{"accuracy": 85.25}]}

    pretend(monkeypatch, run)
    shown = wola("flower", "demo", "--rounds", "3", "--misbehave", "scaled")
    assert shown.exit_code == 0, shown.output
    assert "3 rounds, scaled" in shown.output
    assert "trimmed mean 92.8 %, FedAvg 85.2 %" in shown.output


def test_what_a_demonstration_made_can_be_kept(
    wola: Wola, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(plan: Any, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
        (folder / "logs").mkdir(parents=True)
        return {name: [{"accuracy": 50.0}] for name in ("wola", "fedavg")}

    pretend(monkeypatch, run)
    assert "records: kept" in wola("flower", "demo", "--keep", "kept").output
    assert (tmp_path / "kept" / "logs").is_dir()
    again = wola("flower", "demo", "--keep", "kept")
    assert again.exit_code == 2
    assert "not empty" in again.output


def test_ctrl_c_ends_a_demonstration(wola: Wola, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*words: Any) -> None:
        raise KeyboardInterrupt

    pretend(monkeypatch, run)
    shown = wola("flower", "demo")
    assert shown.exit_code == 130
    assert "everything that was started is stopped" in shown.output


def test_a_deployment_that_fails_is_one_message(
    wola: Wola, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: Any) -> None:
        raise deployment.DeploymentError("superlink ended with code 1")

    pretend(monkeypatch, run)
    shown = wola("flower", "demo")
    assert shown.exit_code == 1
    assert "wola: superlink ended with code 1" in shown.output


def test_an_unknown_lie_is_answered_with_the_nearest(wola: Wola) -> None:
    shown = wola("flower", "demo", "--misbehave", "sing-flip")
    assert shown.exit_code == 2
    assert "did you mean 'sign-flip'?" in shown.output
