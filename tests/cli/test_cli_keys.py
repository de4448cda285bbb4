"""``gateway keys create`` with and without a server that holds the data directory."""

import json
import socket
from pathlib import Path

import pytest
from cli_support import CommandLine

from adapters.store.database import DirectoryLock
from gateway.bootstrap.data_folder import write_address
from gateway.cli.remote import NOT_SERVING
from gateway.service.credentials import is_token
from gateway.testkit.registry_copy import Edit, copy_registry

WHOSE = ("--tenant", "acme", "--principal", "assistant")


@pytest.fixture
def gateway(gateway: CommandLine) -> CommandLine:
    """The command line, where a gateway has served before."""
    gateway.make_store()
    return gateway


def test_a_new_key_is_its_token_alone_so_that_a_script_can_take_it(gateway: CommandLine) -> None:
    said = gateway("keys", "create", *WHOSE)
    assert (said.code, said.err) == (0, "")
    assert is_token(said.out.strip())


def test_a_new_key_as_json_tells_whose_it_is(gateway: CommandLine) -> None:
    said = gateway("keys", "create", *WHOSE, "--label", "laptop", "--json")
    document = json.loads(said.out)
    assert document.keys() == {"id", "tenant", "principal", "label", "token"}
    assert (document["tenant"], document["principal"], document["label"]) == ("acme", "assistant", "laptop")


def test_each_key_is_another_one(gateway: CommandLine) -> None:
    assert gateway("keys", "create", *WHOSE).out != gateway("keys", "create", *WHOSE).out


def test_a_key_for_nobody_is_refused_with_a_remedy(gateway: CommandLine) -> None:
    said = gateway("keys", "create", "--tenant", "acme", "--principal", "CANARY")
    assert (said.code, said.out) == (1, "")
    assert "The registry has no such service account." in said.err
    assert "registry/tenants" in said.err
    assert "CANARY" not in said.err


def test_a_registry_with_faults_makes_no_keys(gateway: CommandLine, tmp_path: Path) -> None:
    edit = Edit(file="tenants/acme.yaml", old="active: true", new="active: perhaps")
    gateway.set(GATEWAY_REGISTRY=copy_registry(tmp_path, [edit], approve=False))
    said = gateway("keys", "create", *WHOSE)
    assert said.code == 1
    assert "acme.yaml:" in said.err
    assert "perhaps" not in said.err


def test_an_option_that_is_missing_is_a_wrong_call(gateway: CommandLine) -> None:
    said = gateway("keys", "create", "--tenant", "acme")
    assert said.code == 2
    assert "--principal" in said.err


def test_where_no_gateway_has_served_no_store_is_made(gateway: CommandLine, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    gateway.set(GATEWAY_DATA=elsewhere)
    said = gateway("keys", "create", *WHOSE)
    assert (said.code, said.out) == (1, "")
    assert "There is no store in GATEWAY_DATA." in said.err
    assert not elsewhere.exists()


def test_a_file_that_holds_no_credential_is_not_taken_for_one(gateway: CommandLine) -> None:
    (gateway.data / "operator.key").write_text("CANARY\n")
    said = gateway("keys", "create", *WHOSE)
    assert said.code == 1
    assert "operator.key" in said.err
    assert "CANARY" not in said.err


def test_while_a_server_starts_or_ends_one_has_to_wait(gateway: CommandLine) -> None:
    assert gateway("keys", "create", *WHOSE).code == 0
    lock = DirectoryLock(gateway.data)
    try:
        said = gateway("keys", "create", *WHOSE)
    finally:
        lock.release()
    assert (said.code, said.out, said.err) == (1, "", NOT_SERVING + "\n")


def test_an_address_where_nobody_listens_is_told_the_same(gateway: CommandLine) -> None:
    assert gateway("keys", "create", *WHOSE).code == 0
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    write_address(gateway.data, f"http://127.0.0.1:{port}")
    lock = DirectoryLock(gateway.data)
    try:
        said = gateway("keys", "create", *WHOSE)
    finally:
        lock.release()
    assert (said.code, said.err) == (1, NOT_SERVING + "\n")
