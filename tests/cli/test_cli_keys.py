"""``gateway keys`` with and without a server that holds the data directory."""

import json
import socket
from pathlib import Path

import pytest
from cli_support import CommandLine

from adapters.store.database import DirectoryLock
from gateway.bootstrap.data_folder import write_address
from gateway.cli.remote import NOT_SERVING, OPERATOR_KEY_REFUSED
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
    assert document.keys() == {"id", "tenant", "principal", "label", "active", "created_us", "token"}
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


def test_keys_are_listed_without_their_tokens(gateway: CommandLine) -> None:
    token = gateway("keys", "create", *WHOSE, "--label", "laptop").out.strip()
    said = gateway("keys", "list")
    assert (said.code, said.err) == (0, "")
    head, key, operator = said.out.splitlines()
    assert head.split() == ["key", "owner", "counts", "label", "created"]
    assert key.split()[1:4] == ["acme/assistant", "yes", "laptop"]
    assert operator.split()[1] == "system/operator"
    assert token not in said.out
    assert gateway("keys", "list", "--tenant", "tenant-a").out == "None.\n"
    assert gateway("keys", "list", "--revoked").out == "None.\n"
    (row,) = json.loads(gateway("keys", "list", "--principal", "assistant", "--json").out)["data"]
    assert row.keys() == {"id", "tenant", "principal", "label", "active", "created_us"}


def test_a_longer_list_of_keys_names_the_next_page(gateway: CommandLine) -> None:
    gateway("keys", "create", *WHOSE)
    said = gateway("keys", "list", "--limit", "1")
    newest = said.out.splitlines()[1].split()[0]
    assert said.err == f"There are more: --before {newest}\n"
    assert "system/operator" in gateway("keys", "list", "--before", newest).out


def test_a_revoked_key_is_shown_as_one_that_counts_no_more(gateway: CommandLine) -> None:
    key = json.loads(gateway("keys", "create", *WHOSE, "--json").out)["id"]
    said = gateway("keys", "revoke", key)
    assert said.code == 0
    assert said.out.splitlines()[1].split()[:3] == [key, "acme/assistant", "no"]
    assert gateway("keys", "list", "--revoked").out.splitlines()[1].split()[0] == key
    assert json.loads(gateway("keys", "revoke", key, "--json").out)["active"] is False


@pytest.mark.parametrize("key", ["nothing", "a?b#c", "%2e%2e"])
def test_a_key_that_is_not_there_is_told_where_to_look(gateway: CommandLine, key: str) -> None:
    said = gateway("keys", "revoke", key)
    assert (said.code, said.out) == (1, "")
    assert said.err == "There is no such key. gateway keys list shows the ids of all keys.\n"


@pytest.mark.parametrize("key", ["../../admin/reload", "a/b", ""])
def test_no_id_leads_to_another_path(gateway: CommandLine, key: str) -> None:
    said = gateway("keys", "revoke", key)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("There is no such ")


def test_whoever_revokes_the_operators_own_key_is_told_the_way_out(gateway: CommandLine) -> None:
    own = json.loads(gateway("keys", "list", "--json").out)["data"][0]["id"]
    assert gateway("keys", "revoke", own).code == 0
    said = gateway("keys", "list")
    assert (said.code, said.out, said.err) == (1, "", OPERATOR_KEY_REFUSED + "\n")
    (gateway.data / "operator.key").unlink()
    assert gateway("keys", "list").code == 0


def test_another_principal_s_credential_in_operator_key_is_denied_with_a_code(gateway: CommandLine) -> None:
    token = gateway("keys", "create", *WHOSE).out
    (gateway.data / "operator.key").write_text(token)
    said = gateway("keys", "list")
    assert (said.code, said.out) == (1, "")
    assert "administration_not_allowed: " in said.err


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


@pytest.mark.parametrize("junk", [b"\n", b"\xff\n", "\u00e9".encode()])
def test_a_file_that_holds_no_credential_is_not_taken_for_one(gateway: CommandLine, junk: bytes) -> None:
    (gateway.data / "operator.key").write_bytes(b"CANARY" + junk)
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
