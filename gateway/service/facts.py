"""What is known of a profile, and how: attested by its engine, or only declared in the registry."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from gateway.domain.capacity import Capacity, PlannedCapacity, promised_sequences
from gateway.domain.profile import Profile
from gateway.ports.transport import Attested


class Fact(Struct, frozen=True):
    """One fact. The value is the registry's; ``attested``: the engine reported the same, or one that is enough."""

    name: str
    value: str | int | bool
    basis: Literal["attested", "declared"]


def facts(profile: Profile, attested: Collection[Attested]) -> tuple[Fact, ...]:
    """Facts that an engine could attest first, then those that nobody but the registry says."""
    engine = profile.engine
    attestable: dict[Attested, str | int | bool | None] = {
        "alias": " ".join(profile.accepted_models),
        "context": profile.context_window,
        "slots": profile.limits.concurrency,
        "kv_tokens": profile.context_window * promised_sequences(profile.limits) if engine else None,
        "model_file": engine.model_file if engine else None,
        "version": engine.version if engine else None,
        "fingerprint": engine.fingerprint if engine else None,
        "prefix_cache": engine.prefix_cache if engine else None,
    }
    declared: dict[str, str | int | bool | None] = {
        "revision": profile.revision,
        "weights_format": engine.weights_format if engine else None,
        "kv_format": engine.kv_format if engine else None,
        "capacity": _basis(engine.capacity) if engine else None,
        "device": f"{engine.placement.count} x {engine.placement.device}" if engine else None,
        "sharing": engine.placement.sharing if engine else None,
        "network": profile.network,
        "region": profile.region,
        "retention_days": profile.data_handling.retention_days,
        "trains_on_data": profile.data_handling.trains_on_data,
    }
    told = [
        Fact(name, value, "attested" if name in attested else "declared")
        for name, value in attestable.items()
        if value is not None
    ]
    return (*told, *(Fact(name, value, "declared") for name, value in declared.items() if value is not None))


def _basis(capacity: Capacity) -> str:
    """As the registry spells it."""
    return "arithmetic" if isinstance(capacity, PlannedCapacity) else "measured"
