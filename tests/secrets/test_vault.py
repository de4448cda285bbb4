"""Secrets are read where credentials say, when that is asked for, and only where nobody else could."""

import os
from pathlib import Path

import pytest

from adapters.secrets import Vault
from gateway.domain.registry import Credential
from gateway.ports.secrets import Held, NotHeld

ENV = "GATEWAY_SECRET_OPENAI_EU"


def credential(secret: str) -> Credential:
    return Credential(id="account", secret=secret, hosts=("api.example.com",), tenants=("acme",), owner="Kim")


def from_environment(value: str | None) -> Held | NotHeld:
    vault = Vault({} if value is None else {ENV: value}, Path("nowhere"))
    vault.read([credential(f"env:{ENV}")])
    return vault.of(credential(f"env:{ENV}"))


def from_file(folder: Path, name: str = "account") -> Held | NotHeld:
    vault = Vault({}, folder)
    vault.read([credential(f"file:{name}")])
    return vault.of(credential(f"file:{name}"))


def written(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / "account"
    path.write_bytes(content)
    path.chmod(mode)
    return folder


def value_of(found: Held | NotHeld) -> str:
    assert isinstance(found, Held), found
    return found.secret.reveal()


def test_a_secret_of_the_environment():
    assert value_of(from_environment("sk-1")) == "sk-1"


@pytest.mark.parametrize("value", [None, ""])
def test_what_is_not_in_the_environment_is_missing(value: str | None):
    assert from_environment(value) == "credential_missing"


@pytest.mark.parametrize(
    "value", ["sk 1", "sk-1\n", "sk-1\r\nX-Other: 1", "sk-\x00", "sk-é", "sk-\udcff", "x" * 20_000]
)
def test_what_could_not_be_a_header_is_malformed(value: str, tmp_path: Path):
    assert from_environment(value) == "credential_malformed"
    twice = value.encode("utf-8", "surrogateescape") + b"\n"
    assert from_file(written(tmp_path, twice)) == "credential_malformed"


def test_a_secret_of_a_file_may_end_its_line(tmp_path: Path):
    assert value_of(from_file(written(tmp_path, b"sk-1"))) == "sk-1"
    assert value_of(from_file(written(tmp_path, b"sk-1\n"))) == "sk-1"
    assert from_file(written(tmp_path, b"\n")) == "credential_malformed"
    assert from_file(written(tmp_path, b"sk-1\n\n")) == "credential_malformed"


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o666, 0o602, 0o620, 0o601])
def test_a_file_that_others_may_read_or_write_is_exposed(tmp_path: Path, mode: int):
    assert from_file(written(tmp_path, b"sk-1", mode)) == "credential_exposed"


@pytest.mark.parametrize("mode", [0o400, 0o440, 0o640])
def test_a_file_may_be_read_by_its_group_as_mounted_secrets_are(tmp_path: Path, mode: int):
    assert value_of(from_file(written(tmp_path, b"sk-1", mode))) == "sk-1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_exposed(tmp_path: Path):
    os.chown(written(tmp_path, b"sk-1") / "account", 12345, 12345)
    assert from_file(tmp_path) == "credential_exposed"


def test_what_is_no_file_is_not_read(tmp_path: Path):
    assert from_file(tmp_path) == "credential_missing"
    assert from_file(tmp_path / "nowhere") == "credential_missing"
    (tmp_path / "account").mkdir()
    assert from_file(tmp_path) == "credential_unreadable"
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "account", 0o600)
    assert from_file(tmp_path / "pipe") == "credential_unreadable"  # and nobody waits for a writer


def test_a_rotated_secret_counts_from_the_next_reading(tmp_path: Path):
    vault, account = Vault({}, written(tmp_path, b"old")), credential("file:account")
    vault.read([account])
    written(tmp_path, b"new")
    assert value_of(vault.of(account)) == "old"
    vault.read([account])
    assert value_of(vault.of(account)) == "new"
    (tmp_path / "account").unlink()
    vault.read([account])
    assert vault.of(account) == "credential_missing"


def test_a_credential_with_other_hosts_is_another_one(tmp_path: Path):
    vault, account = Vault({}, written(tmp_path, b"sk-1")), credential("file:account")
    vault.read([account])
    wider = Credential(id="account", secret="file:account", hosts=("evil.test",), tenants=("acme",), owner="Kim")
    assert vault.of(wider) == "credential_missing"
    vault.read([wider])
    found = vault.of(account)
    assert isinstance(found, Held)
    assert found.credential.hosts == ("api.example.com",)  # in force until the other one is
