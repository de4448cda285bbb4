"""The memory worksheet's figures, and what they come to in words."""

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from gateway.domain.worksheets.measured import Measured
from gateway.domain.worksheets.memory import how as memory_how
from gateway.domain.worksheets.memory.plan import Memory, MemoryPlan, RankMemory
from gateway.domain.worksheets.sheet import Figure, Sheet, Table, Verdict
from gateway.domain.worksheets.units import GIB, KIB, Exact, Interval, gib, grouped, shown, whole

NOTHING_MORE = "That is all it says: no speed, no quality, no promise that an allocation succeeds."
INTERFACE_BOUND = "an interface bound: how long a request may be, with no promise of speed or quality"
LEAST_GIB = GIB // 100
"""What is smaller is told in bytes: 0.00 GiB would read as nothing."""


def rendered(found: Memory, rests_on: Measured, entered: Table) -> Sheet:
    """The sheet, of the fullest rank where ranks differ. ``entered``: what the numbers were computed from."""
    return Sheet(
        worksheet="memory",
        figures={**_parts(found, rests_on), **_bounds(found), **_devices(found)},
        verdict=_verdict(found),
        tables=(_ranks(found), entered),
        assumed=(*found.assumed, *_of_architecture(found.plan)),
        left_out=(*found.left_out, *found.plan.architecture.left_out),
    )


def _parts(found: Memory, rests_on: Measured) -> dict[str, Figure]:
    """What one device of the fullest stage holds, and what is left of it."""
    plan, rank = found.plan, found.fullest
    # The total is rounded up, as a need is, so what is left of the device is rounded down.
    headroom = plan.device - whole(rank.total.most)
    return {
        "parameters": Figure(
            label="Parameters",
            value=plan.architecture.parameters,
            unit="parameters",
            shown=grouped(plan.architecture.parameters),
            basis="arithmetic" if plan.architecture.knows_tensors else rests_on.basis("parameters")[0],
            how="the tensors that the config.json describes" if plan.architecture.knows_tensors else "",
        ),
        "weights": _bytes("Weights", rank.weights, memory_how.weights(plan, rank)),
        "kv_per_token": Figure(
            label="KV per cached token",
            value=whole(rank.kv_per_token),
            unit="B",
            shown=f"{shown(rank.kv_per_token, KIB)} KiB",
            basis="arithmetic",
            how=memory_how.kv_per_token(plan, rank),
        ),
        "kv": _bytes("KV state", Interval(rank.kv, rank.kv), memory_how.kv(found, rank)),
        "reserve": _entered("reserve_gib", "Reserve", plan.reserve, rests_on),
        "total": _bytes("Total", rank.total, memory_how.total(plan, rank)),
        "device": _entered("vram_gib", "Memory of the device", plan.device, rests_on),
        "headroom": Figure(
            label="Headroom",
            value=headroom,
            unit="B",
            shown=_size(headroom),
            basis="arithmetic",
            how=f"{grouped(plan.device)} - {grouped(whole(rank.total.most))} B",
        ),
    }


def _bounds(found: Memory) -> dict[str, Figure]:
    """How far this device reaches, and how far the model's interface does."""
    plan = found.plan
    figures = {
        "most_sequences": _count("Most sequences", found.most_sequences, "sequences", memory_how.most_sequences(found)),
        "most_tokens": _count("Longest context", found.most_tokens, "tokens", memory_how.most_tokens(found)),
    }
    if (window := plan.architecture.longest_context) is not None:
        figures["context_window"] = Figure(
            label="Model's window",
            value=window,
            unit="tokens",
            shown=f"{grouped(window)} tokens",
            basis="assumed",
            how=INTERFACE_BOUND,
        )
    return figures


def _devices(found: Memory) -> dict[str, Figure]:
    """What all devices together are: data parallelism copies everything."""
    shared = found.plan.parallelism
    return {
        "devices": _count("Devices", shared.devices, "devices", f"{shared.tensor} x {shared.pipeline} x {shared.data}"),
        "all_devices": _bytes("Total of all devices", found.all_devices, memory_how.all_devices(found)),
    }


def _of_architecture(plan: MemoryPlan) -> Iterator[str]:
    """What of the config.json does not go into the numbers, and is easily taken for what does."""
    architecture = plan.architecture
    if architecture.stored_format is not None:
        yield f"Weights are counted as {plan.weight_format}; the config says {architecture.stored_format}."
    if architecture.longest_context is not None and plan.tokens > architecture.longest_context:
        yield "The engine takes sequences beyond the model's window, which it has to be told to."


def _verdict(found: Memory) -> Verdict:
    where = f" on a device of stage {found.fullest.stage}" if len(found.ranks) > 1 else ""
    needed, device = found.fullest.total, gib(found.plan.device)
    sums = f"Weights, KV state and reserve sum to {_shown(needed)}{where}"
    if found.within:
        return Verdict("within", f"{sums}, not above the entered {device}. {NOTHING_MORE}")
    over = f"{_size(-found.headroom)} above the entered {device}"
    if needed.least <= found.plan.device:
        return Verdict("exceeds", f"{sums}: loaded so that they take most, {over}.")
    return Verdict("exceeds", f"{sums}, {over}.")


def _ranks(found: Memory) -> Table:
    return Table(
        title="Each rank, one device of its stage",
        columns=("Stage", "Layers", "Part", "Size", "Bytes"),
        rows=tuple(row for alike in _runs(found.ranks) for row in _rows(alike, found.plan.reserve)),
    )


def _runs(ranks: tuple[RankMemory, ...]) -> list[tuple[RankMemory, ...]]:
    """Stages that follow each other and hold as much, together: pipelines can be long, and most stages are alike."""
    return [tuple(alike) for _, alike in groupby(ranks, key=lambda rank: replace(rank, stage=0))]


def _rows(alike: tuple[RankMemory, ...], reserve: int) -> list[tuple[str, ...]]:
    rank, last = alike[0], alike[-1]
    stages = _between(str(rank.stage), str(last.stage))
    parts = {
        "weights": rank.weights,
        "KV state": Interval(rank.kv, rank.kv),
        "reserve": Interval(reserve, reserve),
        "total": rank.total,
    }
    return [(stages, grouped(rank.layers), part, _shown(size), _exact(size)) for part, size in parts.items()]


def _bytes(label: str, found: Interval, how: str) -> Figure:
    return Figure(label=label, value=whole(found.most), unit="B", shown=_shown(found), basis="arithmetic", how=how)


def _entered(name: str, label: str, value: int, rests_on: Measured) -> Figure:
    basis, measurement = rests_on.basis(name)
    return Figure(label=label, value=value, unit="B", shown=gib(value), basis=basis, measured=measurement)


def _count(label: str, value: int, unit: str, how: str) -> Figure:
    shown_ = f"{grouped(value)} {unit.removesuffix('s') if value == 1 else unit}"
    return Figure(label=label, value=value, unit=unit, shown=shown_, basis="arithmetic", how=how)


def _shown(found: Interval) -> str:
    return f"{_between(*(shown(end, GIB) for end in (found.least, found.most)))} GiB"


def _exact(found: Interval) -> str:
    return _between(*(grouped(whole(end)) for end in (found.least, found.most)))


def _between(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def _size(value: Exact) -> str:
    """Of a difference, which decides the verdict however small it is."""
    is_little = value and -LEAST_GIB < value < LEAST_GIB
    return f"{grouped(whole(value))} B" if is_little else gib(value)
