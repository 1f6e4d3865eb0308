"""Signed replies: Ed25519 keys in OpenSSH's files, what is signed, and how it is verified."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
    load_ssh_public_key,
)
from flwr.app import RecordDict

from wola.flower.canonical_bytes import length_prefixed
from wola.flower.new_file import write_new
from wola.flower.wire import PUBLIC_KEY, SIGNATURE, Header, config
from wola.flower.wire import digest as digest_of

#: Keeps a signature made here from meaning anything elsewhere.
DOMAIN = b"wola-flower-1"

_NAME = "letters, digits, '.', '_' and '-', not starting with '.' or '-'"


class KeyFileError(ValueError):
    """A key file that cannot be used, and why."""


def generate_keypair(folder: str | PathLike[str], name: str) -> tuple[Path, Path]:
    """Makes an Ed25519 key pair: `name`.key, which its owner alone may read, and `name`.pub.

    Both are OpenSSH files; the public one is a single line, to be handed to the server. A file
    that is already there is never replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     private, public = generate_keypair(folder, "clinic-3")
    ...     public.read_text().split()[0], public.name
    ('ssh-ed25519', 'clinic-3.pub')
    """
    plain = name.replace(".", "").replace("_", "").replace("-", "")
    if not (plain.isascii() and plain.isalnum()) or name[0] in ".-":
        raise ValueError(f"name = {name!r}; allowed: {_NAME}")
    private, public = Path(folder, f"{name}.key"), Path(folder, f"{name}.pub")
    for path in (private, public):
        if path.exists():
            raise FileExistsError(f"{path} exists; keys are never replaced")
    key = Ed25519PrivateKey.generate()
    line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    write_new(private, pem, secret=True)
    try:
        write_new(public, line + f" {name}\n".encode(), secret=False)
    except OSError:
        private.unlink()
        raise
    return private, public


def load_private_key(path: str | PathLike[str]) -> Ed25519PrivateKey:
    """The private key of a file that nobody but its owner may read; else a `KeyFileError`."""
    try:
        content, mode = Path(path).read_bytes(), Path(path).stat().st_mode
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read: {error.strerror}") from error
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise KeyFileError(
            f"{path} has mode {stat.S_IMODE(mode):04o}, so others may use the key; allowed: 0600 "
            f"(chmod 600 {path})"
        )
    try:
        key = load_ssh_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyFileError(
            f"{path} is no private key; allowed: an unencrypted one in OpenSSH form"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path} holds another kind of key; allowed: Ed25519")
    return key


def load_public_keys(paths: Iterable[str | PathLike[str]]) -> frozenset[bytes]:
    """The public keys of these files, 32 bytes each, or a `KeyFileError`.

    A file has one key per line; empty lines, and those that start with #, are passed over.
    """
    keys = set()
    for path in paths:
        try:
            lines = Path(path).read_bytes().splitlines()
        except OSError as error:
            raise KeyFileError(f"{path} cannot be read: {error.strerror}") from error
        written = [(i, line) for i, line in enumerate(lines, 1) if line.split(b"#")[0].strip()]
        if not written:
            raise KeyFileError(f"{path} holds no key; allowed: one public key per line")
        keys |= {_public_key(line, f"{path}, line {i}") for i, line in written}
    return frozenset(keys)


def _public_key(line: bytes, place: str) -> bytes:
    try:
        key = load_ssh_public_key(line.strip())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{place} is no public key; allowed: one in OpenSSH form") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{place} holds another kind of key; allowed: Ed25519")
    return key.public_bytes_raw()


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """The public half of a private key: 32 bytes."""
    return key.public_key().public_bytes_raw()


def sign(
    key: Ed25519PrivateKey,
    federation: str,
    run: str,
    round: int,
    kind: str,
    node: int,
    digest: bytes,
) -> bytes:
    """The Ed25519 signature (64 bytes) of a content's digest, bound to where and when it counts.

    What is signed is the domain, the federation, the run, the round, the kind of message, the
    node's id and the SHA-256 of the content, each after its length, so a signature is good for
    one round of one run and from one node only. Reference: S. Josefsson and I. Liusvaara,
    Edwards-curve digital signature algorithm (EdDSA), RFC 8032, 2017.

    >>> key = Ed25519PrivateKey.generate()
    >>> about = ("lab", "0" * 32, 3, "train", 7, b"digest")
    >>> verify(public_bytes(key), sign(key, *about), *about)
    True
    """
    return key.sign(_signed_bytes(federation, run, round, kind, node, digest))


def sign_content(content: RecordDict, key: Ed25519PrivateKey, node: int) -> None:
    """Puts the public key and the signature of this node into the header of a content."""
    header, record = Header.of(content), config(content)
    about = (header.federation, header.run, header.round, header.kind, node)
    record[PUBLIC_KEY] = public_bytes(key)
    record[SIGNATURE] = sign(key, *about, digest_of(content))


def verify(
    public_key: bytes,
    signature: bytes,
    federation: str,
    run: str,
    round: int,
    kind: str,
    node: int,
    digest: bytes,
) -> bool:
    """Whether `sign` with the other half of `public_key` made this signature; never an error."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(
            signature, _signed_bytes(federation, run, round, kind, node, digest)
        )
    except (InvalidSignature, ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return True


def _signed_bytes(
    federation: str, run: str, round: int, kind: str, node: int, digest: bytes
) -> bytes:
    words = (federation, run, str(round), kind, str(node))
    return length_prefixed(DOMAIN, *(word.encode() for word in words), digest)
