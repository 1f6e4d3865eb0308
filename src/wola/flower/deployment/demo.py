"""The demonstration: one federation on this machine, trained twice under one Byzantine client."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from wola.flower.deployment.credentials import Credentials, make_credentials
from wola.flower.deployment.example import example_app
from wola.flower.deployment.local_federation import LocalFederation, Value
from wola.flower.deployment.processes import DeploymentError, Program
from wola.flower.deployment.record_follower import RecordFollower

#: What the Byzantine client can do in the demonstration: lies that FedAvg's messages know, too.
LIES = ("sign-flip", "scaled", "label-flip", "gaussian", "zero", "nan", "infinite")
STRATEGIES = ("fedavg", "wola")
STEP = 0.2
#: Seconds beyond a round's deadline after which a run is taken to hang.
PATIENCE = 60.0

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class FederationPlan:
    """What is demonstrated: `clients` n, the last of them Byzantine with the lie `misbehave`."""

    clients: int = 5
    misbehave: str = "sign-flip"
    rounds: int = 5
    seed: int = 1
    #: Seconds a round may take; a machine with few cores starts the clients' processes slowly.
    deadline: float = 120.0

    @property
    def liar(self) -> int:
        """The client that is Byzantine."""
        return self.clients - 1

    def node_config(self, client: int, credentials: Credentials) -> dict[str, Value]:
        """The node configuration of a client."""
        config: dict[str, Value] = {
            "partition-id": client,
            "signing-key": str(credentials.client(client).signing),
        }
        return {**config, "misbehave": self.misbehave} if client == self.liar else config

    def run_config(self, strategy: str, folder: Path, credentials: Credentials) -> dict[str, Value]:
        """The run configuration of a strategy; both wait for all clients in every round."""
        return {
            "strategy": strategy,
            "num-rounds": self.rounds,
            "clients": self.clients,
            "quorum": self.clients,
            "deadline": self.deadline,
            "seed": self.seed,
            "allowed-keys": str(credentials.allowed),
            "records": str(folder / f"{strategy}.jsonl"),
        }


def run_demo_federation(
    plan: FederationPlan, folder: Path, report: Tell
) -> dict[str, list[dict[str, Any]]]:
    """Runs the plan in `folder` and reports on each round; the records of both strategies."""
    begun = monotonic()
    credentials = make_credentials(folder / "keys", clients=plan.clients)
    with LocalFederation(folder, credentials) as federation:
        proxy = "nginx, " if federation.proxied else "no nginx: nodes reach the SuperLink itself, "
        report(f"SuperLink, superexec, {proxy}TLS and node keys: {monotonic() - begun:.0f} s")
        join(federation, plan)
        report(
            f"{plan.clients} nodes registered and connected: {monotonic() - begun:.0f} s; "
            f"client {plan.liar} is Byzantine ({plan.misbehave})"
        )
        return {strategy: watch_run(federation, plan, strategy, report) for strategy in STRATEGIES}


def join(federation: LocalFederation, plan: FederationPlan) -> None:
    """Registers all clients, starts their nodes and waits until they are connected."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(federation.register, range(plan.clients)))
    for client in range(plan.clients):
        federation.start_node(client, plan.node_config(client, federation.credentials))
    for client in range(plan.clients):
        federation.await_node(client)


def watch_run(
    federation: LocalFederation, plan: FederationPlan, strategy: str, report: Tell
) -> list[dict[str, Any]]:
    """Runs the example with a strategy and reports each round as it comes; its records."""
    config = plan.run_config(strategy, federation.folder, federation.credentials)
    names = {str(node): f"client {client}" for client, node in federation.node_ids.items()}
    follower = RecordFollower(Path(str(config["records"])))
    records: list[dict[str, Any]] = []
    begun = latest = monotonic()
    run = federation.start_run(example_app(), config, name=strategy)
    while True:
        alive = run.alive
        for record in follower.new():
            records.append(record)
            latest = monotonic()
            report(f"{strategy:6s}  {round_line(record, names)}  {latest - begun:5.0f} s")
        if records and records[-1]["round"] >= plan.rounds:
            return records
        if not alive:
            raise _failed("the run ended before its last round", run, federation)
        if monotonic() - latest > plan.deadline + PATIENCE:
            raise _failed(f"no round for {monotonic() - latest:.0f} s", run, federation)
        sleep(STEP)


def round_line(record: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """A round in a line: its number, the accuracy, and who was left out and why.

    >>> round_line({"round": 2, "accuracy": 91.5, "dropped": {"77": "not signed"}},
    ...     {"77": "client 4"})
    'round 2   91.5 %  dropped client 4 (not signed)'
    """
    accuracy = record.get("accuracy")
    if record.get("kind") == "query":
        said = "labels of all clients" if not record.get("missing") else "labels"
    else:
        said = "      -" if accuracy is None else f"{accuracy:5.1f} %"
    parts = [f"round {record['round']}  {said}"]
    for name in ("dropped", "refused", "missing"):
        parts += [
            f"{name} {names.get(node, node)} ({reason})"
            for node, reason in (record.get(name) or {}).items()
        ]
    if record.get("skipped"):
        parts.append(f"skipped: {record['skipped']}")
    return "  ".join(parts)


def _failed(what: str, run: Program, federation: LocalFederation) -> DeploymentError:
    return DeploymentError(f"{what}:\n{run.tail()}\n{federation.superexec.tail()}")
