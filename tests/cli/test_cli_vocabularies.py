"""``gateway check`` finds vocabularies that a start would miss."""

from pathlib import Path

from cli_support import CommandLine

from gateway.testkit.registry_copy import Edit, copy_registry

AT = ("--at", "2026-12-01T00:00:00Z")
HOSTED = "profiles/gpt-4.1-mini-eu.yaml"


def test_a_vocabulary_that_cannot_be_had_is_a_fault_with_its_line(gateway: CommandLine, tmp_path: Path) -> None:
    edit = Edit(file=HOSTED, old="method: tiktoken:o200k_base", new=f"method: tokenizers:a.json@sha256:{'0' * 64}")
    gateway.set(GATEWAY_REGISTRY=copy_registry(tmp_path, [edit]))
    said = gateway("check", *AT)
    assert said.code == 1
    assert f"{HOSTED}:" in said.out
    assert "/counter/method The file of this counter was not found." in said.out
    assert "GATEWAY_VOCABULARIES" in said.out
    assert said.err == "1 fault.\n"
