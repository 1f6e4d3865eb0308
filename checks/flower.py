"""A real federation on this machine, and what may go wrong with one: run by `make flower-check`.

Five nodes with TLS, node keys and signatures behind the proxy. One client is Byzantine, one node is
killed in the middle, the SuperLink is killed and started again; outsiders try to get in. Prints
what was checked and ends with ``N passed, 0 failed``.
"""

from __future__ import annotations

import argparse
import http.client
import ssl
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from checks.tally import Tally
from wola.flower.deployment.credentials import make_credentials
from wola.flower.deployment.demo import FederationPlan, join
from wola.flower.deployment.example import example_app
from wola.flower.deployment.local_federation import CONNECTED, LocalFederation
from wola.flower.deployment.ports import LOOPBACK
from wola.flower.deployment.processes import DeploymentError, Program
from wola.flower.deployment.record_follower import RecordFollower

CLIENTS, STRANGER = 5, 5
KILLED = 3
ROUNDS = 5
LEAST_ACCURACY = 60.0
RUN_SECONDS, REFUSAL_SECONDS = 420.0, 60.0
OUTSIDE = "outside"

#: Ways to ask the proxy for an API that is not the nodes'.
FORBIDDEN = (
    "/v1/control/register-node",
    "/v1/control/start-run",
    "/v1/runtime/acquire-task",
    "/v1/fleet/../control/register-node",
    "/v1/fleet/%2e%2e/control/register-node",
    "/v1/fleet/..%2fcontrol/register-node",
    "//v1/control/register-node",
    "/",
)


def main() -> int:
    """Runs all checks; the exit code is 0 if all held."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="a new folder for keys, logs and records")
    keep = parser.parse_args().keep
    tally = Tally()
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(TemporaryDirectory(prefix="wola-check-")))
        try:
            started = check_all(folder.resolve(), tally)
            left = [program.name for program in started if program.family]
            tally.check("everything that was started is stopped", not left, left)
        except (DeploymentError, AssertionError) as error:
            tally.check("the deployment works", False, error)
    print(tally.ending())
    return int(tally.failed > 0)


def check_all(folder: Path, tally: Tally) -> list[Program]:
    """All checks on one deployment; the programs that were started."""
    plan = FederationPlan(clients=CLIENTS, misbehave="scaled", rounds=ROUNDS, deadline=90.0)
    credentials = make_credentials(folder / "keys", clients=CLIENTS + 1)
    with LocalFederation(folder, credentials) as federation:
        join(federation, plan)
        tally.check(f"{CLIENTS} registered nodes connect with TLS and their keys", True)
        check_outsiders(federation, plan, tally)
        check_run(federation, plan, tally)
        return list(federation.programs.started)


def check_outsiders(federation: LocalFederation, plan: FederationPlan, tally: Tally) -> None:
    """Checks that outsiders are refused."""
    stranger = federation.start_node(STRANGER, plan.node_config(STRANGER, federation.credentials))
    if not federation.proxied:
        tally.say("NOT CHECKED: the proxy; nginx is not installed (apt-get install nginx-light)")
    else:
        federation.connect_through_proxy(OUTSIDE)
        said = refusal(lambda: federation.register(STRANGER, connection=OUTSIDE))
        tally.check("registering a node through the proxy is refused (403)", "403" in said, said)
        app = str(example_app())
        said = refusal(lambda: federation.flwr("run", app, OUTSIDE))
        tally.check("starting a run through the proxy is refused (403)", "403" in said, said)
        codes = {path: status(federation, path) for path in FORBIDDEN}
        others = {path: code for path, code in codes.items() if code not in (400, 403)}
        tally.check(f"{len(FORBIDDEN)} paths outside the fleet API are refused", not others, others)
    foreign = federation.start_superexec(secret=False)
    refused = eventually(lambda: not foreign.alive, REFUSAL_SECONDS)
    refused &= "SuperExec authentication failed" in federation.superlink.text()
    tally.check("a superexec without the secret is refused", refused, foreign.tail())
    refused = eventually(lambda: not stranger.alive, REFUSAL_SECONDS)
    inside = CONNECTED in stranger.text()
    tally.check("an unregistered node is refused", refused and not inside, stranger.tail())


def check_run(federation: LocalFederation, plan: FederationPlan, tally: Tally) -> None:
    """A run outlives a Byzantine client, the death of a node and the death of the SuperLink."""
    config = plan.run_config("wola", federation.folder, federation.credentials)
    config["quorum"] = 0
    follower = RecordFollower(Path(str(config["records"])))
    federation.start_run(example_app(), config, name="wola")
    records = follow(follower, 1, tally)
    victim = federation.nodes[KILLED]
    victim.kill()
    tally.say(f"client {KILLED} was killed")
    records += follow(follower, 2, tally)
    federation.superlink.kill()
    tally.say("the SuperLink was killed")
    sleep(2.0)
    federation.superlink = federation.start_superlink()
    tally.say("the SuperLink is there again")
    records += follow(follower, ROUNDS, tally)
    trained = [record for record in records if record["kind"] == "train"]
    numbers = [record["round"] for record in trained]
    tally.check("the run reaches its last round", numbers == list(range(1, ROUNDS + 1)), numbers)
    liar, dead = (federation.node_ids[client] for client in (plan.liar, KILLED))
    before = [record for record in records if dead in record["replied"]]
    seen = [(each["round"], each["replied"], each["missing"], each["skipped"]) for each in records]
    tally.check("the killed node takes part before its death", bool(before), seen)
    late = [record for record in trained if record["round"] > 2 and dead in record["replied"]]
    tally.check("the killed node is missing afterwards", not late, seen)
    skipped = [record["round"] for record in trained if record["skipped"]]
    tally.check("rounds go on without it", len(skipped) <= 1 and ROUNDS not in skipped, seen)
    lied = [record for record in trained if liar in record["replied"]]
    tally.check("the Byzantine client sends its lies, well formed and signed", bool(lied), seen)
    accuracy = trained[-1]["accuracy"]
    text = f"the model learns all the same: {accuracy:.1f} %, at least {LEAST_ACCURACY:g} %"
    tally.check(text, accuracy >= LEAST_ACCURACY, seen)


def follow(follower: RecordFollower, last: int, tally: Tally) -> list[dict[str, Any]]:
    """The records until that of round `last`."""
    found: list[dict[str, Any]] = []
    end = monotonic() + RUN_SECONDS
    while not found or found[-1]["round"] < last:
        for record in follower.new():
            found.append(record)
            accuracy = record["accuracy"]
            said = "" if accuracy is None else f", {accuracy:.1f} %"
            tally.say(f"round {record['round']}: {len(record['replied'])} replies{said}")
        if monotonic() > end:
            raise DeploymentError(f"no record of round {last} after {RUN_SECONDS:g} s")
        sleep(0.2)
    return found


def refusal(attempt: Callable[[], object]) -> str:
    """The error of an attempt that must fail; empty if it did not fail."""
    try:
        attempt()
    except DeploymentError as error:
        return str(error)
    return ""


def status(federation: LocalFederation, path: str) -> int:
    """The proxy's answer to a POST."""
    context = ssl.create_default_context(cafile=str(federation.credentials.authority))
    port = federation.proxy_port
    connection = http.client.HTTPSConnection(LOOPBACK, port, context=context, timeout=10)
    try:
        connection.request("POST", path)
        return connection.getresponse().status
    finally:
        connection.close()


def eventually(ready: Callable[[], bool], seconds: float) -> bool:
    """Whether it becomes true within some seconds."""
    end = monotonic() + seconds
    while not (found := ready()) and monotonic() < end:
        sleep(0.2)
    return found


if __name__ == "__main__":
    sys.exit(main())
