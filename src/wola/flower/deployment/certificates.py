"""Certificates and keys as files: an authority, a server certified by it, a node's key pair."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from wola.flower.new_file import write_new

AUTHORITY_DAYS, SERVER_DAYS = 3650, 397

# Certificates begin a little in the past: clocks of other machines may be behind.
_SKEW = timedelta(minutes=5)


def write_authority(certificate: Path, key: Path) -> None:
    """A new certificate authority: its certificate, which everybody gets, and its key (P-256)."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = _name("wola federation authority")
    made = (
        _begun(name, name, private.public_key(), days=AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(certifies=True), critical=True)
        .sign(private, hashes.SHA256())
    )
    write_new(key, _pem(private), secret=True)
    write_new(certificate, made.public_bytes(Encoding.PEM), secret=False)


def write_server(
    certificate: Path, key: Path, *, authority: Path, authority_key: Path, hosts: Sequence[str]
) -> None:
    """A server's certificate for the names and addresses `hosts`, signed by the authority.

    Nodes compare the name they connect to with these: each one under which the server is reached
    has to be listed.
    """
    if not hosts:
        raise ValueError("hosts is empty; allowed: the names or addresses of the server")
    issuer = x509.load_pem_x509_certificate(authority.read_bytes())
    signer = _load_ec(authority_key)
    private = ec.generate_private_key(ec.SECP256R1())
    issued_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    made = (
        _begun(_name(hosts[0]), issuer.subject, private.public_key(), days=SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(certifies=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_alternatives(hosts)), critical=False)
        .add_extension(issued_by, critical=False)
        .sign(signer, hashes.SHA256())
    )
    write_new(key, _pem(private), secret=True)
    write_new(certificate, made.public_bytes(Encoding.PEM), secret=False)


def write_node_key(private: Path, public: Path) -> None:
    """The key pair by which a SuperNode is known to the SuperLink: P-384, in OpenSSH format."""
    key = ec.generate_private_key(ec.SECP384R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    write_new(private, pem, secret=True)
    write_new(public, line + b"\n", secret=False)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(common: str) -> x509.Name:
    # X.509 allows 64 characters here; what is compared are the alternative names.
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:64])])


def _usage(*, certifies: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not certifies,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=certifies,
        crl_sign=certifies,
        encipher_only=False,
        decipher_only=False,
    )


def _alternatives(hosts: Sequence[str]) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = []
    for host in hosts:
        address: IPv4Address | IPv6Address | None = None
        with suppress(ValueError):
            address = ip_address(host)
        names.append(x509.DNSName(host) if address is None else x509.IPAddress(address))
    return names


def _load_ec(path: Path) -> ec.EllipticCurvePrivateKey:
    key = load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{path} holds a {type(key).__name__}; allowed: the authority's EC key")
    return key


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
