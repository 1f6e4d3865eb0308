"""A whole Flower deployment on this machine: SuperLink, superexec, proxy, nodes and runs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import run
from types import TracebackType
from typing import Any, Self

from wola.flower.deployment.credentials import Credentials
from wola.flower.deployment.ports import LOOPBACK, free_ports, listening
from wola.flower.deployment.processes import DeploymentError, Program, Programs
from wola.flower.deployment.proxy import Proxy, nginx
from wola.ground.folders import STATE

#: The name of the connection that `flwr` commands use.
CONNECTION = "wola"
#: What a SuperNode writes to its log once it is connected.
CONNECTED = "SuperNode ID:"
START_SECONDS, COMMAND_SECONDS = 90.0, 90.0

Value = str | int | float | bool


def process_environment(home: Path) -> dict[str, str]:
    """The environment of Flower's programs: no telemetry, files under `home`, ours first in PATH.

    Each client computes with one thread: a node's processes share the machine with the others'.

    >>> process_environment(Path("/srv/flower"))["FLWR_HOME"]
    '/srv/flower'
    """
    programs = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PATH": os.pathsep.join([programs, os.environ.get("PATH", os.defpath)]),
        "FLWR_HOME": str(home),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        STATE: str(home / "clients"),
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }


class LocalFederation:
    """Flower's programs on the loopback interface, with TLS and node authentication.

    The SuperLink keeps its state in a database and leaves the ServerApp to a superexec that knows
    a secret, so a run survives a SuperLink that is killed. Where nginx is installed nodes reach
    the SuperLink through a proxy that passes the fleet API alone. All that was started is stopped
    when the block ends; logs stay in ``folder/logs``.
    """

    def __init__(self, folder: Path, credentials: Credentials) -> None:
        self.folder, self.credentials = folder, credentials
        self.home = folder / "flower"
        self.programs = Programs(folder / "logs", process_environment(self.home))
        self.superlink_port, self.proxy_port = free_ports(2)
        self.proxied = nginx() is not None
        self.nodes: dict[int, Program] = {}
        self.node_ids: dict[int, int] = {}

    def __enter__(self) -> Self:
        self.programs.__enter__()
        try:
            self._connect(CONNECTION, self.superlink_port)
            self.superlink = self.start_superlink()
            self.superexec = self.start_superexec()
            if self.proxied:
                self.proxy = self.start_proxy()
        except BaseException:
            self.programs.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.programs.__exit__(kind, error, trace)

    @property
    def entrance(self) -> int:
        """The port at which nodes arrive: the proxy's, or the SuperLink's where there is none."""
        return self.proxy_port if self.proxied else self.superlink_port

    def start_superlink(self) -> Program:
        """Starts the SuperLink, or starts it again with the state it had."""
        keys = self.credentials
        command = ["flower-superlink", "--host", LOOPBACK, "--port", str(self.superlink_port)]
        command += ["--ssl-ca-certfile", str(keys.authority)]
        command += ["--ssl-certfile", str(keys.server), "--ssl-keyfile", str(keys.server_key)]
        command += ["--enable-supernode-auth", "--disable-runtime-dependency-installation"]
        command += ["--database", str(self.folder / "superlink.db"), "--isolation", "process"]
        command += ["--superexec-auth-secret-file", str(keys.secret)]
        return self._listening("superlink", command, self.superlink_port)

    def start_superexec(self, *, secret: bool = True) -> Program:
        """Starts the superexec, which runs the ServerApp; without the secret it is a stranger's."""
        command = ["flower-superexec", "--root-certificates", str(self.credentials.authority)]
        command += ["--runtime-api-address", f"{LOOPBACK}:{self.superlink_port}"]
        if secret:
            command += ["--superexec-auth-secret-file", str(self.credentials.secret)]
        return self._start("superexec" if secret else "superexec-stranger", command)

    def start_proxy(self) -> Program:
        """Starts nginx before the SuperLink."""
        program, keys = nginx(), self.credentials
        if program is None:
            raise DeploymentError("nginx is not installed; allowed: apt-get install nginx-light")
        folder = self.folder / "nginx"
        folder.mkdir(parents=True, exist_ok=True)
        proxy = Proxy(
            listen=f"{LOOPBACK}:{self.proxy_port}",
            superlink=f"{LOOPBACK}:{self.superlink_port}",
            certificate=keys.server,
            key=keys.server_key,
            authority=keys.authority,
            name="localhost",
            folder=folder,
        )
        path = folder / "nginx.conf"
        path.write_text(proxy.configuration(), encoding="utf-8")
        command = [program, "-e", "stderr", "-p", str(folder), "-c", str(path)]
        return self._listening("proxy", command, self.proxy_port)

    def register(self, node: int, *, connection: str = CONNECTION) -> int:
        """Makes a node's public key known to the SuperLink; its id."""
        public = self.credentials.client(node).node_public
        made = self.flwr("supernode", "register", str(public), connection)
        self.node_ids[node] = int(made["node-id"])
        return self.node_ids[node]

    def start_node(self, node: int, config: Mapping[str, Value]) -> Program:
        """Starts a SuperNode with its node configuration; it need not be connected yet."""
        keys, (port,) = self.credentials.client(node), free_ports(1)
        command = ["flower-supernode", "--superlink", f"{LOOPBACK}:{self.entrance}"]
        command += ["--root-certificates", str(keys.authority)]
        command += ["--auth-supernode-private-key", str(keys.node)]
        command += ["--host", LOOPBACK, "--port", str(port)]
        command += ["--node-config", as_config(config)]
        self.nodes[node] = self._start(f"node-{node}", command)
        return self.nodes[node]

    def await_node(self, node: int) -> None:
        """Waits until the SuperLink has let a node in."""
        program = self.nodes[node]
        self.programs.await_that(
            lambda: CONNECTED in program.text(), program, seconds=START_SECONDS, what="connecting"
        )

    def start_run(self, app: Path, config: Mapping[str, Value], *, name: str) -> Program:
        """Starts a run of the app; the program returned shows its log and ends with the run."""
        command = ["flwr", "run", str(app), CONNECTION, "--run-config", as_config(config)]
        return self._start(f"run-{name}", [*command, "--stream"])

    def flwr(self, *words: str) -> dict[str, Any]:
        """What a `flwr` command answers as JSON; one that fails is a `DeploymentError`."""
        done = run(
            [self._program("flwr"), *words, "--format", "json"],
            env=self.programs.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        # A command may fail with exit code 0 and say so in its answer alone.
        answer: dict[str, Any] = {}
        with suppress(json.JSONDecodeError):
            answer = json.loads(done.stdout)
        if done.returncode or not answer.get("success"):
            said = answer.get("error-message") or (done.stderr + done.stdout).strip()
            raise DeploymentError(f"flwr {' '.join(words[:2])}: {said}")
        return answer

    def connect_through_proxy(self, name: str) -> None:
        """Adds a connection for `flwr` that goes through the proxy, as an outsider's would."""
        self._connect(name, self.proxy_port)

    def _connect(self, name: str, port: int) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        lines = [
            f"[superlink.{name}]",
            f'address = "{LOOPBACK}:{port}"',
            f"root-certificates = {json.dumps(str(self.credentials.authority))}",
        ]
        with open(self.home / "config.toml", "a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n\n")

    def _start(self, name: str, command: list[str]) -> Program:
        return self.programs.start(name, [self._program(command[0]), *command[1:]])

    def _listening(self, name: str, command: list[str], port: int) -> Program:
        program = self._start(name, command)
        self.programs.await_that(
            lambda: listening(port), program, seconds=START_SECONDS, what="listening"
        )
        return program

    def _program(self, name: str) -> str:
        found = shutil.which(name, path=self.programs.environment["PATH"])
        if found is None:
            raise DeploymentError(f"{name} is not installed; allowed: pip install 'wola[flower]'")
        return found


def as_config(values: Mapping[str, Value]) -> str:
    """Values as Flower's commands read them: ``key=value`` in TOML, with spaces between.

    >>> as_config({"partition-id": 0, "misbehave": "nan", "sign": True})
    'partition-id=0 misbehave="nan" sign=true'
    """
    return " ".join(f"{key}={json.dumps(value)}" for key, value in values.items())
