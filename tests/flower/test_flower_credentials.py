import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_ssh_private_key

from wola.flower import load_public_keys
from wola.flower.deployment import Credentials, make_client_keys, make_credentials
from wola.flower.deployment.certificates import write_server


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Credentials:
    folder = tmp_path_factory.mktemp("deployment") / "keys"
    return make_credentials(folder, clients=2, hosts=["fl.example.org"])


def handshake(keys: Credentials, authority: Path, name: str) -> None:
    """A client that trusts `authority` connects to the server under `name`."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(keys.server, keys.server_key)
    client = ssl.create_default_context(cafile=str(authority))
    near, far = socket.socketpair()

    def serve() -> None:
        try:
            server.wrap_socket(far, server_side=True).close()
        except OSError:
            far.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(near, server_hostname=name):
            pass
    finally:
        near.close()
        thread.join()


@pytest.mark.parametrize("name", ["fl.example.org", "localhost", "127.0.0.1"])
def test_a_client_that_knows_the_authority_trusts_the_server(keys: Credentials, name: str) -> None:
    handshake(keys, keys.client(0).authority, name)


def test_a_client_refuses_the_server_under_another_name(keys: Credentials) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        handshake(keys, keys.authority, "elsewhere.example.org")


def test_a_client_refuses_a_server_of_another_authority(keys: Credentials, tmp_path: Path) -> None:
    other = make_credentials(tmp_path / "other", clients=0)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(keys, other.authority, "localhost")


def test_a_certificate_needs_a_name(keys: Credentials, tmp_path: Path) -> None:
    folder = keys.folder / "authority"
    with pytest.raises(ValueError, match="hosts is empty"):
        write_server(
            tmp_path / "a",
            tmp_path / "b",
            authority=folder / "ca.crt",
            authority_key=folder / "ca.key",
            hosts=[],
        )


def test_a_node_has_a_key_on_a_nist_curve_in_openssh_format(keys: Credentials) -> None:
    key = load_ssh_private_key(keys.client(0).node.read_bytes(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert isinstance(key.curve, ec.SECP384R1)
    assert keys.client(0).node_public.read_text().startswith("ecdsa-sha2-nistp384 ")


def test_only_owners_can_read_private_keys_and_the_secret(keys: Credentials) -> None:
    private = [path for path in keys.folder.rglob("*") if path.suffix in (".key", ".secret")]
    assert len(private) == 7
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


def test_the_server_gets_public_halves_alone(keys: Credentials) -> None:
    names = {str(path.relative_to(keys.folder)) for path in keys.folder.rglob("*.key")}
    assert {name for name in names if name.startswith("server")} == {"server/server.key"}
    for folder in (keys.registered, keys.allowed):
        assert sorted(path.name for path in folder.iterdir()) == ["client-0.pub", "client-1.pub"]


def test_the_servers_list_holds_the_keys_that_clients_sign_with(keys: Credentials) -> None:
    allowed = load_public_keys(keys.allowed.iterdir())
    assert allowed == load_public_keys(keys.client(i).signing_public for i in range(2))
    assert len(allowed) == 2


def test_keys_are_never_replaced(keys: Credentials) -> None:
    with pytest.raises(FileExistsError, match="never replaced"):
        make_credentials(keys.folder)
    with pytest.raises(FileExistsError, match=r"node.key exists"):
        make_client_keys(keys.client(0).folder)


def test_a_negative_number_of_clients_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="clients = -1; allowed: 0 or more"):
        make_credentials(tmp_path / "keys", clients=-1)
