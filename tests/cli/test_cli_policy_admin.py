"""``gateway policy explain`` and ``gateway reload``, as a person reads them."""

import json

import click
import pytest
from cli_support import CommandLine

from gateway.cli import remote, tables

ROW = {
    "id": "01a22cd9-32eb-7284-8f3c-08c7e27e13ab",
    "entrypoint": "routes",
    "policy_revision": "sha256:" + "7d" * 32,
    "question_digest": "ab" * 32,
    "at_us": 1_796_040_000_000_000,
    "event": "refused",
    "code": "no_route_allowed",
    "tenant": "acme",
    "principal": "assistant",
    "operation_id": None,
    "failed": [
        {"check": "route/region", "about": "a", "code": "region_not_allowed", "place": "gateway/region.rego:9"},
        {"check": "route/class", "about": "a", "code": "class", "place": "gateway/class.rego:12"},
        {"check": "route/region", "about": "b", "code": "region_not_allowed", "place": "gateway/region.rego:9"},
    ],
}


@pytest.fixture
def gateway(gateway: CommandLine) -> CommandLine:
    """The command line, where a gateway has served before."""
    gateway.make_store()
    return gateway


def test_a_decision_is_told_with_the_subject_the_code_and_the_rule_of_each_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables.decision(ROW)
    out = capsys.readouterr().out
    facts, failed = out.split("\n\n")
    assert "routes" in facts
    assert "acme/assistant" in facts
    assert "refused no_route_allowed" in facts
    assert "operation" not in facts
    assert failed.splitlines() == [
        "profile a",
        "  region_not_allowed  gateway/region.rego:9",
        "  class               gateway/class.rego:12",
        "profile b",
        "  region_not_allowed  gateway/region.rego:9",
    ]


@pytest.mark.parametrize(
    ("check", "about", "told"),
    [("request/purpose", "", "request"), ("source/readable", "0", "source 0"), ("route/region", "p", "profile p")],
)
def test_what_a_check_is_about_is_told_in_words(
    check: str, about: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tables.decision(ROW | {"failed": [{"check": check, "about": about, "code": "c", "place": "f.rego:1"}]})
    assert capsys.readouterr().out.endswith(f"\n\n{told}\n  c  f.rego:1\n")


def test_a_decision_in_which_nothing_failed_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    tables.decision(ROW | {"failed": []})
    assert capsys.readouterr().out.endswith("No check failed.\n")


@pytest.mark.parametrize("decision", ["nothing", "01a22cd9-32eb-7284-8f3c-08c7e27e13ab", "a?b"])
def test_a_decision_that_never_was_is_told_so(gateway: CommandLine, decision: str) -> None:
    said = gateway("policy", "explain", decision)
    assert (said.code, said.out) == (1, "")
    assert "The audit has no such decision." in said.err


def test_without_a_server_there_is_nothing_to_reload(gateway: CommandLine) -> None:
    said = gateway("reload")
    assert (said.code, said.out) == (1, "")
    assert said.err == "No server runs here, so there is nothing to reload. Run: gateway serve\n"


def test_the_warnings_of_a_reload_are_shown(gateway: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    warning = {
        "file": "bundles/chat@1.yaml",
        "line": 3,
        "path": "/expires",
        "sentence": "It expired.",
        "remedy": "Renew.",
    }
    revision = {"registry_digest": "sha256:a", "policy_revision": "sha256:b"}
    answer = {"object": "reload", "earlier": revision, "now": revision | {"policy_revision": "sha256:c"}}

    def call(*_: object, **__: object) -> object:
        return answer | {"warnings": [warning]}

    monkeypatch.setattr(remote, "call", call)
    assert gateway("reload").out.splitlines() == [
        "warning: bundles/chat@1.yaml:3: /expires It expired. Renew.",
        "In force: policy revision sha256:c",
    ]
    assert json.loads(gateway("reload", "--json").out)["warnings"] == [warning]


def test_a_denial_of_policy_is_told_with_its_codes() -> None:
    problem = {
        "code": "operator_required",
        "title": "This needs the operator role.",
        "remedy": "Use an operator's credential.",
        "error": {"param": None},
        "policy_codes": [{"code": "administration_not_allowed", "remedy": "Ask for the role."}],
    }
    assert str(remote.Declined(problem)) == (
        "This needs the operator role. Use an operator's credential.\nadministration_not_allowed: Ask for the role."
    )
    assert click.unstyle(str(remote.Declined(problem | {"code": "unauthenticated"}))) == remote.OPERATOR_KEY_REFUSED
