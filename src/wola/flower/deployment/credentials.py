"""All keys of a federation in one folder: what the server holds, and what each client gets."""

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wola.flower.deployment.certificates import (
    write_authority,
    write_node_key,
    write_server,
)
from wola.flower.new_file import write_new
from wola.flower.signing import generate_keypair

LOCAL_HOSTS = ("localhost", "127.0.0.1")
_CERTIFICATE = "ca.crt"


@dataclass(frozen=True)
class ClientKeys:
    """A client's folder: who it is to the SuperLink (`node`), and what it signs with (`signing`).

    `authority` is the certificate by which it knows the server.
    """

    folder: Path

    @property
    def authority(self) -> Path:
        """The authority's certificate."""
        return self.folder / _CERTIFICATE

    @property
    def node(self) -> Path:
        """The private key of the SuperNode."""
        return self.folder / "node.key"

    @property
    def node_public(self) -> Path:
        """Its public half, to be registered at the SuperLink."""
        return self.folder / "node.pub"

    @property
    def signing(self) -> Path:
        """The private key that signs replies."""
        return self.folder / "signing.key"

    @property
    def signing_public(self) -> Path:
        """Its public half, to be put among the keys that the server allows."""
        return self.folder / "signing.pub"


@dataclass(frozen=True)
class Credentials:
    """The folder of a federation's keys: `authority/`, `server/`, `client-0/`, `client-1/`, ...

    ``authority/`` stays with whoever makes certificates, ``server/`` goes to the server and
    ``client-i/`` to one client; no machine needs a folder of another one.
    """

    folder: Path

    @property
    def authority(self) -> Path:
        """The authority's certificate, as the server holds it."""
        return self.folder / "server" / _CERTIFICATE

    @property
    def server(self) -> Path:
        """The server's certificate."""
        return self.folder / "server" / "server.pem"

    @property
    def server_key(self) -> Path:
        """The server's private key."""
        return self.folder / "server" / "server.key"

    @property
    def secret(self) -> Path:
        """What the superexec and the SuperLink share."""
        return self.folder / "server" / "superexec.secret"

    @property
    def registered(self) -> Path:
        """The folder of public keys of nodes, for `flwr supernode register`."""
        return self.folder / "server" / "nodes"

    @property
    def allowed(self) -> Path:
        """The folder of public keys that may sign replies."""
        return self.folder / "server" / "signing"

    def client(self, index: int) -> ClientKeys:
        """The keys of client `index`."""
        return ClientKeys(self.folder / f"client-{index}")


def make_client_keys(folder: Path) -> ClientKeys:
    """One client's two key pairs in a folder of its own; files that are there are never replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     made = make_client_keys(Path(folder))
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['node.key', 'node.pub', 'signing.key', 'signing.pub']
    """
    keys = ClientKeys(folder)
    for path in (keys.node, keys.node_public, keys.signing, keys.signing_public):
        if path.exists():
            raise FileExistsError(f"{path} exists; keys are never replaced")
    write_node_key(keys.node, keys.node_public)
    generate_keypair(folder, keys.signing.stem)
    return keys


def make_credentials(folder: Path, *, clients: int = 5, hosts: Sequence[str] = ()) -> Credentials:
    """An authority, a server certificate for `hosts`, and the keys of `clients` clients.

    The certificate is good for `LOCAL_HOSTS` as well, where the server's own programs find each
    other. The folder must not be there yet, or be empty. The server's part of each client are the
    two public keys alone.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     made = make_credentials(Path(folder) / "keys", clients=2)
    ...     sorted(path.name for path in made.allowed.iterdir())
    ['client-0.pub', 'client-1.pub']
    """
    if clients < 0:
        raise ValueError(f"clients = {clients}; allowed: 0 or more")
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(
            f"{folder} is not empty; allowed: a new folder, since keys are never replaced"
        )
    names = list(dict.fromkeys([*hosts, *LOCAL_HOSTS]))
    made = Credentials(folder)
    certificate, key = folder / "authority" / _CERTIFICATE, folder / "authority" / "ca.key"
    write_authority(certificate, key)
    write_server(
        made.server, made.server_key, authority=certificate, authority_key=key, hosts=names
    )
    shutil.copyfile(certificate, made.authority)
    write_new(made.secret, secrets.token_hex(32).encode(), secret=True)
    for public in (made.registered, made.allowed):
        public.mkdir()
    for index in range(clients):
        keys = make_client_keys(folder / f"client-{index}")
        shutil.copyfile(certificate, keys.authority)
        admit(made, f"client-{index}", keys)
    return made


def admit(credentials: Credentials, name: str, keys: ClientKeys) -> None:
    """Puts a client's public keys into the server's folder, under a name of its own."""
    shutil.copyfile(keys.node_public, credentials.registered / f"{name}.pub")
    shutil.copyfile(keys.signing_public, credentials.allowed / f"{name}.pub")
