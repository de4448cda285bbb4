"""The worked example of memory: one baseline, and four cases that differ from it in one entry each.

Every door shows them from here. They are entries, not results: each is computed when it is asked for.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.sheet import Sheet

BASELINE: Mapping[str, str] = MappingProxyType(
    {
        "cached_tokens": "4096",
        "sequences": "8",
        "weight_bits": "16",
        "vram_gib": "24",
        "parameters": "8e9",
        "layers": "32",
        "kv_heads": "8",
        "head_dim": "128",
        "kv_format": "fp16",
        "reserve_gib": "4",
    }
)
"""Eight billion parameters in 32 layers with 8 KV heads of 128 elements, as Llama 3.1 8B has them. Entered in full, so
that a default can change without the example."""
_CASES: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("Baseline: 8 sequences of 4,096 tokens", {}),
    ("Twice the cached tokens", {"cached_tokens": "8192"}),
    ("Weights of 4 bits", {"weight_bits": "4"}),
    ("A device of 16 GiB", {"vram_gib": "16"}),
    ("One sequence", {"sequences": "1"}),
)


class WorkedCase(Struct, frozen=True, kw_only=True):
    """One case: what is entered, and what comes of it."""

    title: str
    entered: Mapping[str, str]
    """By field name, complete."""
    sheet: Sheet


def worked_cases() -> tuple[WorkedCase, ...]:
    """The five cases, computed now; the baseline is the first."""
    return tuple(_computed(title, {**BASELINE, **changed}) for title, changed in _CASES)


def _computed(title: str, entered: Mapping[str, str]) -> WorkedCase:
    return WorkedCase(title=title, entered=entered, sheet=WORKSHEETS["memory"].compute(entered))
