"""What an adapter cannot carry, a hosted profile may not list; and ``gateway check`` says so without litellm."""

import pathlib
import subprocess
import sys

import pytest
from registry_examples import NOW_US, faults

from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

CLAUDE = "profiles/claude-haiku-eu.yaml"
GPT = "profiles/gpt-4.1-mini-eu.yaml"
TOOLS = "tools, parallel_tool_calls]"


@pytest.mark.parametrize("capability", ["seed", "logprobs", "penalties", "json_schema", "json_object"])
def test_a_capability_that_the_adapter_cannot_carry_is_a_fault(tmp_path: pathlib.Path, capability: str):
    edit = Edit(file=CLAUDE, old=TOOLS, new=f"tools, {capability}]")
    (fault,) = faults(copy_registry(tmp_path, [edit]))
    assert fault.file.endswith(CLAUDE)
    assert (fault.path, fault.line > 0) == ("/capabilities/2", True)
    assert fault.sentence == "The adapter cannot carry this capability."
    assert "chat, images, parallel_tool_calls, tools" in fault.remedy


def test_azure_needs_a_version_and_nobody_else_takes_one(tmp_path: pathlib.Path):
    azure = Edit(file=GPT, old="adapter: openai", new="adapter: azure")
    (fault,) = faults(copy_registry(tmp_path / "a", [azure]))
    assert (fault.path, fault.remedy.startswith("Add api_version")) == ("/adapter", True)
    version = Edit(file=GPT, old="network: public\n", new='network: public\napi_version: "2024-10-21"\n')
    assert faults(copy_registry(tmp_path / "b", [azure, version])) == []
    (fault,) = faults(copy_registry(tmp_path / "c", [version]))
    assert (fault.path, fault.remedy.startswith("Remove api_version")) == ("/api_version", True)


def test_a_hosted_provider_is_reached_over_https(tmp_path: pathlib.Path):
    plain = Edit(file=GPT, old="endpoint: https://", new="endpoint: http://")
    found = faults(copy_registry(tmp_path, [plain]))
    assert "A prompt or a credential would travel in plain text." in {fault.sentence for fault in found}


def test_looking_at_the_registry_imports_no_litellm():
    code = (
        "import sys, pathlib; from adapters import registry\n"
        f"registry.load(pathlib.Path({str(EXAMPLE)!r}), at_us={NOW_US})\n"
        "from adapters import transport\n"
        "assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=EXAMPLE.parent)
