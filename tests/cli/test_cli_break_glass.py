"""No server, and a registry with a fault: whatever needs no registry still works."""

import json
from pathlib import Path

import pytest
from cli_support import CommandLine

from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

WHOSE = ("--tenant", "acme", "--principal", "assistant")
GRANT = ("--tenant", "acme", "--group", "staff", "--revision", "r1", "--privacy-class", "internal")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    edit = Edit(file="tenants/acme.yaml", old="active: true", new="active: perhaps")
    return copy_registry(tmp_path, [edit], approve=False)


@pytest.fixture
def key(gateway: CommandLine, broken: Path) -> str:
    """A key of a gateway with a source, whose registry then got a fault."""
    gateway.make_store()
    made = gateway("keys", "create", *WHOSE, "--json")
    gateway("sources", "grant", "handbook", *GRANT)
    gateway.set(GATEWAY_REGISTRY=broken)
    found: str = json.loads(made.out)["id"]
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("keys", "list"),
        ("sources", "list"),
        ("sources", "revoke", "handbook"),
        ("sources", "withdraw", "handbook"),
        ("operations", "list"),
        ("ledger", "verify"),
        ("ledger", "stranded"),
    ],
)
@pytest.mark.usefixtures("key")
def test_what_needs_no_registry_works(gateway: CommandLine, arguments: tuple[str, ...]) -> None:
    said = gateway(*arguments)
    assert (said.code, said.err) == (0, "")


def test_a_key_is_revoked(gateway: CommandLine, key: str) -> None:
    assert gateway("keys", "revoke", key).code == 0
    gateway.set(GATEWAY_REGISTRY=EXAMPLE)
    assert key in gateway("keys", "list", "--revoked").out


@pytest.mark.parametrize("act", [("operations", "show"), ("operations", "write-off", "--reason", "x y z")])
@pytest.mark.usefixtures("key")
def test_an_operation_is_looked_for(gateway: CommandLine, act: tuple[str, ...]) -> None:
    assert gateway(*act, "nothing").err.startswith("There is no such operation")


@pytest.mark.parametrize("act", [("keys", "create", *WHOSE), ("sources", "grant", "handbook", *GRANT)])
@pytest.mark.usefixtures("key")
def test_what_names_tenants_and_classes_is_refused_with_the_faults(gateway: CommandLine, act: tuple[str, ...]) -> None:
    said = gateway(*act)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("The registry has faults:\n")
    assert "acme.yaml:" in said.err


@pytest.mark.usefixtures("key")
def test_without_a_registry_only_the_built_in_operator_gets_in(gateway: CommandLine) -> None:
    gateway.set(GATEWAY_REGISTRY=EXAMPLE)
    token = gateway("keys", "create", *WHOSE).out
    gateway.set(GATEWAY_REGISTRY=gateway.data / "no-such-folder")
    assert gateway("keys", "list").code == 0
    (gateway.data / "operator.key").write_text(token)
    said = gateway("keys", "list")
    assert (said.code, said.out) == (1, "")
