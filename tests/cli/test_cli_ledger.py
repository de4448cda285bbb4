"""``gateway ledger usage`` over the store alone."""

import json

import pytest
from cli_support import CommandLine


@pytest.fixture
def gateway(gateway: CommandLine) -> CommandLine:
    """The command line, where a gateway has served before."""
    gateway.make_store()
    return gateway


def test_a_scope_has_a_line_with_what_is_used_of_each_limit(gateway: CommandLine) -> None:
    said = gateway("ledger", "usage", "--tenant", "platform")
    assert (said.code, said.err) == (0, "")
    head, line = said.out.splitlines()
    assert "EUR/month" in head
    assert line.split("  ")[0] == "tenant platform"
    for shown in ("0 of 60", "0 of 100000", "0 of 10000000", "0.000000 of 20.000000", "0 of 4"):
        assert shown in line


def test_without_a_name_every_scope_of_the_registry_is_shown(gateway: CommandLine) -> None:
    out = gateway("ledger", "usage").out
    for scope in ("tenant acme", "profile smollm2-135m", "quota_scope in-house", "quota_scope openai-eu"):
        assert scope in out


def test_json_is_what_the_route_answers(gateway: CommandLine) -> None:
    document = json.loads(gateway("ledger", "usage", "--quota-scope", "openai-eu", "--profile", "none", "--json").out)
    (shown,) = document["data"]
    assert (shown["scope"]["id"], shown["cost_per_month"]["limit"]) == ("openai-eu", 400_000_000)
