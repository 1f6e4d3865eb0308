"""Keys in files, and signatures that are good for one thing alone."""

import base64
import errno
import os
import stat
import struct

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from flwr.app import RecordDict
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.flower.one_client import RUN, header, message
from wola.flower import wire
from wola.flower.signing import (
    KeyFileError,
    generate_keypair,
    load_private_key,
    load_public_keys,
    public_bytes,
    sign,
    sign_content,
    verify,
)

ABOUT = ("lab", RUN, 3, "train", 2**63 + 5, b"d" * 32)


@pytest.fixture
def pair(tmp_path):
    return generate_keypair(tmp_path / "keys", "node-1")


def test_a_pair_of_files_is_made_and_only_the_owner_reads_the_private_one(pair):
    private, public = pair
    assert [path.name for path in pair] == ["node-1.key", "node-1.pub"]
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert b"PRIVATE KEY" in private.read_bytes()
    assert public.read_text().count("\n") == 1


def test_the_public_line_is_what_openssh_defines(pair):
    kind, code, name = pair[1].read_text().split()
    key = public_bytes(load_private_key(pair[0]))
    wanted = b"".join(struct.pack(">I", len(part)) + part for part in (b"ssh-ed25519", key))
    assert (kind, base64.b64decode(code), name) == ("ssh-ed25519", wanted, "node-1")
    assert load_public_keys([pair[1]]) == {key}


def test_keys_are_never_replaced(pair):
    before = [path.read_bytes() for path in pair]
    with pytest.raises(FileExistsError, match=r"node-1\.key exists"):
        generate_keypair(pair[0].parent, "node-1")
    pair[0].unlink()
    with pytest.raises(FileExistsError, match=r"node-1\.pub exists"):
        generate_keypair(pair[0].parent, "node-1")
    assert not pair[0].exists()
    assert pair[1].read_bytes() == before[1]


@pytest.mark.parametrize("failing", [".key", ".pub"])
def test_a_full_disk_leaves_no_half_of_a_pair(tmp_path, monkeypatch, failing):
    really, names = os.open, {}

    def opened(path, *arguments):
        descriptor = really(path, *arguments)
        names[descriptor] = str(path)
        return descriptor

    def full(descriptor, mode):
        file = open(descriptor, mode)  # noqa: SIM115
        if names[descriptor].endswith(failing):
            file.close()
            raise OSError(errno.ENOSPC, "no space left")
        return file

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match="no space left"):
        generate_keypair(tmp_path, "node-1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "../x", "a/b", "-r", ".hidden", "a b", "ä"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"^name = "):
        generate_keypair(tmp_path, name)


def test_two_pairs_differ(tmp_path, pair):
    other = generate_keypair(tmp_path, "node-2")
    assert len(load_public_keys([pair[1], other[1]])) == 2


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_private_key_that_others_may_use_is_refused(pair, mode):
    pair[0].chmod(mode)
    with pytest.raises(KeyFileError, match=f"has mode {mode:04o}.*chmod 600"):
        load_private_key(pair[0])


def test_what_is_no_private_key_is_refused(tmp_path):
    path = tmp_path / "a.key"
    with pytest.raises(KeyFileError, match="cannot be read"):
        load_private_key(path)
    path.write_bytes(b"nonsense")
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="is no private key; allowed: an unencrypted one"):
        load_private_key(path)
    other = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    with pytest.raises(KeyFileError, match="another kind of key; allowed: Ed25519"):
        load_private_key(path)


def test_a_file_may_list_several_keys_with_remarks(tmp_path, pair):
    other = generate_keypair(tmp_path, "node-2")[1]
    path = tmp_path / "allowed"
    path.write_bytes(b"# clinics\n\n" + pair[1].read_bytes() + other.read_bytes())
    assert load_public_keys([path]) == load_public_keys([pair[1], other])


def test_what_is_no_public_key_is_refused_with_its_line(tmp_path, pair):
    path = tmp_path / "allowed"
    path.write_bytes(pair[1].read_bytes() + b"ssh-ed25519 AAAA\n")
    with pytest.raises(KeyFileError, match="allowed, line 2 is no public key"):
        load_public_keys([path])
    curve = ec.generate_private_key(ec.SECP256R1()).public_key()
    path.write_bytes(curve.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))
    with pytest.raises(KeyFileError, match="line 1 holds another kind of key"):
        load_public_keys([path])
    path.write_bytes(b"# nobody\n")
    with pytest.raises(KeyFileError, match="holds no key"):
        load_public_keys([path])
    with pytest.raises(KeyFileError, match="cannot be read"):
        load_public_keys([tmp_path / "nowhere"])


@pytest.mark.parametrize("changed", range(len(ABOUT)))
def test_a_signature_is_good_for_nothing_else(changed):
    key = ed25519.Ed25519PrivateKey.generate()
    signature = sign(key, *ABOUT)
    assert len(signature) == 64
    assert verify(public_bytes(key), signature, *ABOUT)
    other = list(ABOUT)
    other[changed] = other[changed] + (1 if isinstance(other[changed], int) else other[changed][:1])
    assert not verify(public_bytes(key), signature, *other)


def test_parts_do_not_run_into_each_other():
    key = ed25519.Ed25519PrivateKey.generate()
    signature = sign(key, "lab1", "run", 1, "train", 2, b"")
    assert not verify(public_bytes(key), signature, "lab", "1run", 1, "train", 2, b"")


def test_anothers_key_does_not_verify():
    key, other = (ed25519.Ed25519PrivateKey.generate() for _ in range(2))
    assert not verify(public_bytes(other), sign(key, *ABOUT), *ABOUT)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=70), st.binary(max_size=70))
def test_bytes_at_random_are_no_signature_and_no_error(key, signature):
    assert verify(key, signature, *ABOUT) is False


def test_a_signed_content_verifies_as_it_arrives():
    key = ed25519.Ed25519PrivateKey.generate()
    content = RecordDict({wire.RECORD: header(wire.TRAIN, 3, note="x")})
    sign_content(content, key, node=9)
    arrived = message(content, wire.TRAIN).content
    record = wire.config(arrived)
    parts = (record[wire.PUBLIC_KEY], record[wire.SIGNATURE], "lab", RUN, 3, "train", 9)
    assert verify(*parts, wire.digest(arrived))
    record["note"] = "y"
    assert not verify(*parts, wire.digest(arrived))
