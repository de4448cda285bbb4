"""``gateway check`` and ``gateway policy check``: exit code 0 without faults, 1 with some, 2 for a wrong call."""

import json
import shutil
from pathlib import Path

import pytest
from cli_support import POLICIES, CommandLine

from gateway.testkit.registry_copy import Edit, copy_registry

AT = ("--at", "2026-12-01T00:00:00Z")
NO_SUCH_PURPOSE = Edit(
    file="tenants/acme.yaml", old="default_purpose: drafting", new="default_purpose: drafting\ncanary: CANARY"
)


def test_a_registry_without_faults_is_said_to_have_none(gateway: CommandLine) -> None:
    said = gateway("check", *AT)
    assert (said.code, said.out, said.err) == (0, "The registry has no faults.\n", "")


def test_no_faults_are_an_empty_array(gateway: CommandLine) -> None:
    said = gateway("check", *AT, "--json")
    assert (said.code, json.loads(said.out)) == (0, [])


def test_a_fault_is_told_with_file_line_sentence_and_remedy_and_without_the_value(
    gateway: CommandLine, tmp_path: Path
) -> None:
    gateway.set(GATEWAY_REGISTRY=copy_registry(tmp_path, [NO_SUCH_PURPOSE], approve=False))
    said = gateway("check", *AT)
    assert said.code == 1
    assert "acme.yaml:" in said.out
    assert "/canary" in said.out
    assert said.err == "1 fault.\n"
    assert "CANARY" not in said.out + said.err


def test_faults_are_objects_with_one_shape(gateway: CommandLine, tmp_path: Path) -> None:
    gateway.set(GATEWAY_REGISTRY=copy_registry(tmp_path, [NO_SUCH_PURPOSE], approve=False))
    said = gateway("check", *AT, "--json")
    assert said.code == 1
    (fault,) = json.loads(said.out)
    assert fault.keys() == {"file", "line", "path", "sentence", "remedy"}
    assert (fault["path"], fault["line"] > 0) == ("/canary", True)


def test_what_expires_is_judged_at_the_instant_that_is_named(gateway: CommandLine) -> None:
    said = gateway("check", "--at", "2031-01-01T00:00:00+01:00")
    assert said.code == 1
    assert "faults." in said.err


@pytest.mark.parametrize(
    ("instant", "sentence"),
    [
        ("tomorrow", "An instant looks like 2026-12-01T00:00:00Z."),
        ("", "An instant looks like 2026-12-01T00:00:00Z."),
        ("2026-13-01T00:00:00Z", "An instant looks like 2026-12-01T00:00:00Z."),
        ("2026-12-01T00:00:00", "The instant needs its time zone, such as Z."),
        ("2026-12-01", "The instant needs its time zone, such as Z."),
    ],
)
def test_an_instant_that_cannot_be_read_is_a_wrong_call(gateway: CommandLine, instant: str, sentence: str) -> None:
    said = gateway("check", "--at", instant)
    assert (said.code, said.out) == (2, "")
    assert sentence in said.err


def test_schemas_that_are_out_of_date_are_a_fault(gateway: CommandLine, tmp_path: Path) -> None:
    registry = copy_registry(tmp_path)
    schema = registry / "schemas" / "purpose.schema.json"
    schema.write_text(schema.read_text().replace("grounded", "grouded", 1))
    gateway.set(GATEWAY_REGISTRY=registry)
    said = gateway("check", *AT)
    assert said.code == 1
    assert "purpose.schema.json" in said.out


def test_a_registry_that_is_not_there_is_a_fault(gateway: CommandLine, tmp_path: Path) -> None:
    gateway.set(GATEWAY_REGISTRY=tmp_path / "nowhere")
    said = gateway("check", *AT)
    assert said.code == 1
    assert said.out


def test_the_policies_of_the_repository_have_no_faults(gateway: CommandLine) -> None:
    said = gateway("policy", "check")
    assert (said.code, said.out) == (0, "The policies have no faults.\n")


def test_a_fault_in_a_policy_is_told_with_its_line(gateway: CommandLine, tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    shutil.copytree(POLICIES, policies)
    rule = policies / "gateway" / "request" / "purpose" / "purpose.rego"
    rule.write_text(rule.read_text() + "\npass if {\n")
    gateway.set(GATEWAY_POLICIES=policies)
    said = gateway("policy", "check", "--json")
    assert said.code == 1
    (fault, *_) = json.loads(said.out)
    assert fault["file"].endswith("purpose.rego")
    assert fault["line"] >= len(rule.read_text().splitlines())


def test_policies_are_not_checked_against_a_registry_with_faults(gateway: CommandLine, tmp_path: Path) -> None:
    gateway.set(GATEWAY_REGISTRY=copy_registry(tmp_path, [NO_SUCH_PURPOSE], approve=False))
    said = gateway("policy", "check")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("The registry has faults:\n")


def test_without_opa_policies_cannot_be_checked(gateway: CommandLine, tmp_path: Path) -> None:
    gateway.set(PATH="/nowhere", XDG_CACHE_HOME=tmp_path / "empty", HOME=tmp_path)
    said = gateway("policy", "check")
    assert (said.code, said.err) == (1, "There is no accepted OPA. Run: gateway opa install\n")
