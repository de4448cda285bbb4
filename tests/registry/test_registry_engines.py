"""How cached prefixes are kept apart, and how an engine attests its revision, must be whole and possible."""

import pathlib

import pytest
from registry_examples import faults, full_registry

from gateway.testkit.registry_copy import Edit

PROFILE = "profiles/smollm2-135m.yaml"
VLLM = Edit(PROFILE, "adapter: llama_cpp", "adapter: vllm")
COUNTS = Edit(PROFILE, "accounting: llama.cpp", "accounting: vllm>=0.21")
ONE = "prefix_cache: single_tenant\n  tenants: [acme]"
SALTED = "prefix_cache: salted\n  salted_by: {}\n  tenants: any"
CACHE, BY = "/engine/prefix_cache", "/engine/salted_by"
ATTESTS, FINGERPRINT = "/engine/abilities/attest_revision", "/engine/fingerprint"


def to(new: str, old: str = ONE) -> Edit:
    return Edit(PROFILE, old, new)


@pytest.mark.parametrize(
    ("edits", "path", "sentence"),
    [
        ([VLLM, COUNTS, to(SALTED.format("null"))], CACHE, "not said whose prefixes"),
        ([VLLM, COUNTS, to("prefix_cache: salted\n  tenants: any")], CACHE, "not said whose prefixes"),
        ([to(SALTED.format("tenant"))], CACHE, "adapter cannot salt"),
        ([VLLM, COUNTS, to(ONE + "\n  salted_by: tenant")], BY, "is not salted keeps nobody's"),
        ([to("prefix_cache: 'off'\n  salted_by: principal\n  tenants: any")], BY, "is not salted keeps nobody's"),
        ([to("attest_revision: true", "attest_revision: false")], ATTESTS, "nothing says by which"),
        ([to("attest_revision: false\n  fingerprint: q4-1", "attest_revision: false")], FINGERPRINT, "does not attest"),
    ],
)
def test_a_half_said_engine_is_a_fault(edits: list[Edit], path: str, sentence: str, tmp_path: pathlib.Path) -> None:
    (fault,) = faults(full_registry(tmp_path, edits))
    assert (fault.path, fault.line > 0, bool(fault.remedy)) == (path, True, True)
    assert sentence in fault.sentence


@pytest.mark.parametrize(
    "edits",
    [
        [VLLM, COUNTS, to(SALTED.format("tenant"))],
        [VLLM, COUNTS, to(SALTED.format("principal"))],
        [to("attest_revision: true\n  fingerprint: q4-1", "attest_revision: false")],
    ],
)
def test_a_whole_one_is_none(edits: list[Edit], tmp_path: pathlib.Path) -> None:
    assert faults(full_registry(tmp_path, edits)) == []
