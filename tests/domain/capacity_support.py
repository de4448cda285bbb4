"""Profiles with capacities, and what is said against them."""

from typing import Any

from msgspec.structs import replace

from gateway.domain.capacity import MeasuredCapacity, PlannedCapacity
from gateway.domain.profile import Abilities, Engine, Placement, Profile, Readiness
from gateway.domain.registry import Limits
from gateway.domain.worksheets.capacity_check import Objection, contradictions, excess
from gateway.domain.worksheets.models import plain
from gateway.domain.worksheets.models.architecture import Architecture

LLAMA_8B = plain.architecture(parameters=8 * 10**9, layers=32, kv_heads=8, head_dim=128)
"""The worked example: 14.90 GiB of weights, 128 KiB a token."""
PLANNED = PlannedCapacity(
    architecture="llama-8b.json@sha256:" + "0" * 64, device_gib="24", reserve_gib="4", accounting="llama.cpp"
)
MEASURED = MeasuredCapacity(
    kv_tokens=32_768,
    context=4096,
    engine_version="1",
    device="One device",
    workload="Eight sequences",
    date="2026-11-30",
    by="Robin Reyes",
)


def engine(**changes: Any) -> Engine:
    known: dict[str, Any] = {
        "name": "llama.cpp",
        "version": "1",
        "model_file": "model.gguf",
        "weights_format": "fp16",
        "kv_format": "fp16",
        "capacity": PLANNED,
        "placement": Placement(device="one", count=1, sharing="exclusive"),
        "readiness": Readiness(),
        "prefix_cache": "off",
        "tenants": "any",
        "abilities": Abilities(abort_by_id=False, enforce_context=False, attest_revision=False),
    }
    return Engine(**known | changes)


def limits(concurrency: Any) -> Limits:
    every = dict.fromkeys(Limits.__struct_fields__, "unlimited")
    return Limits(**every | {"concurrency": concurrency})  # type: ignore[arg-type]


def profile(example_profile: Profile, concurrency: Any = 8, context: int = 4096, **of_engine: Any) -> Profile:
    return replace(example_profile, limits=limits(concurrency), context_window=context, engine=engine(**of_engine))


def judged(one: Profile, model: Architecture = LLAMA_8B) -> list[Objection]:
    """All that is said against a profile, without more of the worked example's model."""
    assert one.engine is not None
    found = list(contradictions(one, one.engine))
    if isinstance(one.engine.capacity, PlannedCapacity) and not found:
        found += excess(one, one.engine.capacity, one.engine, model)
    return found
