"""Does the memory of a profile's devices hold what the profile promises: so many sequences of a whole context?"""

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from gateway.domain.capacity import Accounting, MeasuredCapacity, PlannedCapacity, promised_sequences
from gateway.domain.profile import Adapter, Engine, Profile
from gateway.domain.worksheets.memory import faults as memory_faults
from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.memory.kv_formats import KV
from gateway.domain.worksheets.memory.plan import Memory, MemoryPlan
from gateway.domain.worksheets.memory.stages import Parallelism
from gateway.domain.worksheets.models.architecture import Architecture
from gateway.domain.worksheets.models.weight_formats import WEIGHTS
from gateway.domain.worksheets.units import GIB, Exact, gib, gib_to_bytes, grouped, whole

_CAPACITY = ("engine", "capacity")
_STORED = tuple(name for name in WEIGHTS if not name.startswith("raw"))
"""Raw bits are for a first estimate: no file is stored so."""
_RELEASE = re.compile(r"v?([0-9]{1,6})\.([0-9]{1,6})([^0-9].*)?", re.ASCII)


class Objection(Struct, frozen=True):
    """Why a profile may not be registered, and where in it that stands."""

    path: tuple[str, ...]
    sentence: str
    remedy: str


def contradictions(profile: Profile, engine: Engine) -> Iterator[Objection]:
    """What the capacity block says against the rest of the profile. Without any, ``excess`` can be asked."""
    if isinstance(engine.capacity, MeasuredCapacity):
        yield from _of_measured(profile, engine, engine.capacity)
    else:
        yield from _of_planned(profile, engine, engine.capacity)


def excess(profile: Profile, planned: PlannedCapacity, engine: Engine, model: Architecture) -> Iterator[Objection]:
    """Where the memory worksheet comes out above the device, with the figures of the fullest rank."""
    asked = plan(profile, planned, engine, model)
    if faults := memory_faults.faults(asked):
        for fault in faults:
            key = ("engine", fault.field) if fault.field == "kv_format" else (*_CAPACITY, fault.field)
            yield Objection(key, fault.sentence, fault.remedy)
        return
    yield from _of_model(profile, engine, model)
    found = memory.compute(asked)
    if not found.within:
        yield Objection(_promise(profile), _sentence(found), _remedy(found))


def beyond_measured(profile: Profile, measured: MeasuredCapacity) -> Iterator[Objection]:
    """Where the promised sequences need more tokens than were measured to fit."""
    sequences, fits = promised_sequences(profile.limits), measured.kv_tokens
    needed = sequences * profile.context_window
    if needed > fits:
        sentence = (
            f"{_so_many(sequences, profile.context_window)} need {grouped(needed)} tokens of KV cache, and "
            f"{grouped(fits)} were measured."
        )
        # No shorter context: it counts for the one that it was measured with.
        fewer = fits // profile.context_window
        lower = f"Lower concurrency to at most {grouped(fewer)}, or measure" if fewer else "Measure"
        remedy = f"{lower} an engine with more memory, or one that was started for a shorter context."
        yield Objection(_promise(profile), sentence, remedy)


def plan(profile: Profile, planned: PlannedCapacity, engine: Engine, model: Architecture) -> MemoryPlan:
    """The worksheet's plan of a profile: every promised sequence as long as the context window."""
    return MemoryPlan(
        architecture=model,
        weight_format=engine.weights_format,
        kv_format=engine.kv_format,
        parallelism=Parallelism(planned.tensor_parallel, planned.pipeline_parallel),
        tokens=profile.context_window,
        sequences=promised_sequences(profile.limits),
        device=gib_to_bytes(Decimal(planned.device_gib)),
        # Not rounded down as a device is: less reserve than was entered would let more through.
        reserve=whole(Fraction(planned.reserve_gib) * GIB),
        accounting=planned.accounting,
        block=planned.block_tokens,
        batched_tokens=planned.batched_tokens,
    )


def _of_measured(profile: Profile, engine: Engine, measured: MeasuredCapacity) -> Iterator[Objection]:
    if measured.engine_version != engine.version:
        sentence = "The capacity was measured with another version of the engine, and says nothing of this one."
        yield Objection((*_CAPACITY, "engine_version"), sentence, "Measure it again with the version of the engine.")
    if measured.context != profile.context_window:
        # With sliding windows the tokens that fit hang on the context: measured at a longer one they are too many.
        sentence = (
            f"The capacity was measured with a context of {grouped(measured.context)} tokens, and the context window "
            f"is {grouped(profile.context_window)}."
        )
        remedy = "Measure it with the engine started for the context window, or promise the one that was measured."
        yield Objection((*_CAPACITY, "context"), sentence, remedy)
    yield from beyond_measured(profile, measured)


def _of_model(profile: Profile, engine: Engine, model: Architecture) -> Iterator[Objection]:
    """What the profile says against the model's own config.json."""
    longest, stored = model.longest_context, model.stored_format or ""
    if longest is not None and profile.context_window > longest:
        sentence = (
            f"The context window of {grouped(profile.context_window)} tokens is longer than the {grouped(longest)} "
            "that the model is made for."
        )
        remedy = (
            f"Lower context_window to at most {grouped(longest)}; where the engine is told to scale positions, let the "
            "architecture's file say so (max_position_embeddings, rope_scaling), or use a measured capacity."
        )
        yield Objection(("context_window",), sentence, remedy)
    # vLLM loads what is stored. A GGUF is made from the same config.json in whatever format.
    if profile.adapter == "vllm" and stored in WEIGHTS and WEIGHTS[engine.weights_format].bits < WEIGHTS[stored].bits:
        sentence = f"The architecture's file says that the weights are stored as {stored}, which takes more memory."
        remedy = f"Write {stored}, or name the config.json that lies beside the weights that are loaded."
        yield Objection(("engine", "weights_format"), sentence, remedy)


def _of_planned(profile: Profile, engine: Engine, planned: PlannedCapacity) -> Iterator[Objection]:
    yield from _known("weights_format", engine.weights_format, _STORED)
    yield from _known("kv_format", engine.kv_format, KV)
    devices = planned.tensor_parallel * planned.pipeline_parallel
    if engine.placement.count != devices:
        sentence = (
            f"The model is divided among {grouped(devices)} devices, and the engine runs on "
            f"{grouped(engine.placement.count)}."
        )
        remedy = "Make tensor_parallel times pipeline_parallel of engine/capacity the number of devices."
        yield Objection(("engine", "placement", "count"), sentence, remedy)
    if planned.accounting != (right := _accounting(profile.adapter, engine.version)):
        remedy = f"Write {right}." if right else "Pin a version such as 0.32.0, or use a measured capacity."
        sentence = "These are not the rules by which this engine in its version counts."
        yield Objection((*_CAPACITY, "accounting"), sentence, remedy)


def _known(key: str, format_: str, known: Collection[str]) -> Iterator[Objection]:
    if format_ not in known:
        remedy = f"Use one of: {', '.join(known)}; or a measured capacity."
        yield Objection(("engine", key), "The memory worksheet knows no such format.", remedy)


def _accounting(adapter: Adapter, version: str) -> Accounting | None:
    """By whose rules an engine counts; None: its version does not tell."""
    if adapter != "vllm":
        return "llama.cpp"
    # One that was built from source calls itself 0.1.dev, whatever it is.
    if (release := _RELEASE.fullmatch(version)) is None or "dev" in version:
        return None
    return "vllm>=0.21" if (int(release[1]), int(release[2])) >= (0, 21) else "vllm<0.21"


def _promise(profile: Profile) -> tuple[str, ...]:
    """Where a profile says how much it promises."""
    return ("context_window",) if profile.limits.concurrency == "unlimited" else ("limits", "concurrency")


def _sentence(found: Memory) -> str:
    asked, rank = found.plan, found.fullest
    return (
        f"{_so_many(asked.sequences, asked.tokens)} need {gib(rank.total.most)} of a device of {gib(asked.device)}, "
        f"{_size(rank.total.most - asked.device)} too much: weights {gib(rank.weights.most)}, KV state "
        f"{gib(rank.kv)}, reserve {gib(asked.reserve)}."
    )


def _remedy(found: Memory) -> str:
    ways = []
    if found.most_sequences:
        ways.append(f"lower concurrency to at most {grouped(found.most_sequences)} at this context")
    if found.most_tokens:
        ways.append(f"lower context_window to at most {grouped(found.most_tokens)} at this concurrency")
    if ways:
        return f"{' or '.join(ways).capitalize()}, or use more memory."
    if memory.compute(replace(found.plan, tokens=1, sequences=1)).within:
        return "Lower concurrency and context_window both: neither is enough by itself. Or use more memory."
    return "Not one token of one sequence fits: use a device with more memory, or a smaller format."


def _so_many(sequences: int, tokens: int) -> str:
    return f"{grouped(sequences)} sequence{'s'[: sequences != 1]} of {grouped(tokens)} tokens"


def _size(size: Exact) -> str:
    """In GiB where that shows anything, else in bytes."""
    return gib(size) if 100 * size >= GIB else f"{grouped(whole(size))} B"
