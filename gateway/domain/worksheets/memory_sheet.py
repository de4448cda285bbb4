"""The memory worksheet: its fields, and its figures in words."""

from collections.abc import Mapping
from decimal import Decimal

from gateway.domain.worksheets import measured, memory, plain
from gateway.domain.worksheets.fields import Entries, Field
from gateway.domain.worksheets.kv_formats import KV
from gateway.domain.worksheets.measured import Measured
from gateway.domain.worksheets.memory import Interval, Memory, MemoryPlan, Parallelism
from gateway.domain.worksheets.sheet import Figure, Sheet, Table, Verdict
from gateway.domain.worksheets.units import KIB, Exact, gib, gib_to_bytes, grouped, shown, whole
from gateway.domain.worksheets.weight_formats import WEIGHTS

RAW_BITS = ("16", "4")
MOST_LAYERS = 1000
FIELDS = (
    Field(
        name="cached_tokens",
        label="Cached tokens per sequence",
        kind="count",
        unit="tokens",
        default="4096",
        help="Input and what was generated, at the evaluated instant.",
        group="first",
    ),
    Field(
        name="sequences",
        label="Active sequences",
        kind="count",
        unit="sequences",
        default="8",
        help="Sequences at once, of one data-parallel copy.",
        group="first",
    ),
    Field(
        name="weight_bits",
        label="Raw weight bits",
        kind="choice",
        unit="bits",
        default="16",
        choices=RAW_BITS,
        help="Bits of every parameter, without scales; a weight format takes its place.",
        group="first",
    ),
    Field(
        name="vram_gib",
        label="Assumed VRAM",
        kind="decimal",
        unit="GiB",
        default="24",
        help="Memory of one device as it shows it, not as its label says.",
        group="first",
    ),
    Field(
        name="config",
        label="Architecture",
        kind="document",
        help="A Hugging Face config.json; it takes the place of the four plain numbers.",
    ),
    Field(
        name="parameters",
        label="Parameters",
        kind="count",
        unit="parameters",
        default="8e9",
        help="Of the whole model; 8e9 are eight billion.",
    ),
    Field(name="layers", label="Layers", kind="count", unit="layers", default="32", help="With attention."),
    Field(name="kv_heads", label="KV heads", kind="count", unit="heads", default="8", help="Of one layer."),
    Field(name="head_dim", label="Head dimension", kind="count", default="128", help="Elements of one head."),
    Field(
        name="weight_format",
        label="Weight format",
        kind="choice",
        default="raw",
        choices=("raw", *(name for name in WEIGHTS if not name.startswith("raw"))),
        help="How the linears are stored; raw takes the raw weight bits.",
    ),
    Field(
        name="kv_format",
        label="KV format",
        kind="choice",
        default="fp16",
        choices=tuple(KV),
        help="How keys and values are stored; quantising weights does not change it.",
    ),
    Field(
        name="reserve_gib",
        label="Reserve",
        kind="decimal",
        unit="GiB",
        default="4",
        help="What is neither weights nor KV: activations, CUDA graphs, the driver's own.",
    ),
    Field(name="tensor_parallel", label="Tensor parallelism", kind="count", unit="devices", default="1"),
    Field(name="pipeline_parallel", label="Pipeline parallelism", kind="count", unit="stages", default="1"),
    Field(name="data_parallel", label="Data parallelism", kind="count", unit="copies", default="1"),
    Field(
        name="accounting",
        label="Engine accounting",
        kind="choice",
        default="arithmetic",
        choices=("arithmetic", "vllm>=0.21", "vllm<0.21", "llama.cpp"),
        help="Whose rules say how much KV memory so many tokens take.",
    ),
    Field(
        name="block_tokens",
        label="Block size",
        kind="count",
        unit="tokens",
        default="16",
        help="Tokens of a KV block, where the accounting has blocks.",
    ),
    Field(
        name="batched_tokens",
        label="Tokens of one step",
        kind="count",
        unit="tokens",
        help="Of all sequences: max_num_batched_tokens, which windows hold besides their own.",
    ),
    *measured.FIELDS,
)
_BY_NAME = {field.name: field for field in FIELDS}
_MEASURABLE = {name: field for name, field in _BY_NAME.items() if field.kind in ("count", "decimal")}
_PLAIN = ("parameters", "layers", "kv_heads", "head_dim")


def sheet(entered: Mapping[str, str]) -> Sheet:
    """The worksheet of what was entered, defaults for the rest.

    :raises EntriesRefused: with every fault, each naming its field.
    """
    entries = Entries(FIELDS, entered)
    rests_on = measured.read_measured(entries, _MEASURABLE)
    plan = read(entries)
    entries.close()
    return rendered(memory.compute(plan), rests_on)


def read(entries: Entries) -> MemoryPlan:
    """The plan. Faults are noted in ``entries``; with any of them it means nothing."""
    if entries.has("config"):
        for name in _PLAIN:
            if entries.has(name):
                entries.refuse(name, "The config.json says this already.", "Leave it out, or leave out the config.")
    weight_format = entries.choice("weight_format")
    if weight_format == "raw":
        weight_format = f"raw{entries.choice('weight_bits')}"
    elif entries.has("weight_bits"):
        entries.refuse("weight_bits", "A weight format says its bits itself.", "Leave it out, or enter the format raw.")
    return MemoryPlan(
        architecture=plain.architecture(
            parameters=entries.count("parameters"),
            layers=entries.count("layers", most=MOST_LAYERS),
            kv_heads=entries.count("kv_heads", most=2**16),
            head_dim=entries.count("head_dim", most=2**16),
        ),
        weight_format=weight_format,
        kv_format=entries.choice("kv_format"),
        parallelism=Parallelism(
            *(entries.count(f"{kind}_parallel", most=1024) for kind in ("tensor", "pipeline", "data"))
        ),
        tokens=entries.count("cached_tokens", most=10**9),
        sequences=entries.count("sequences", most=10**6),
        device=gib_to_bytes(entries.decimal("vram_gib", least=Decimal("0.001"), most=Decimal(10**6))),
        reserve=gib_to_bytes(entries.decimal("reserve_gib", most=Decimal(10**6))),
        accounting=entries.choice("accounting"),  # type: ignore[arg-type]  # it is one of the choices
        block=entries.count("block_tokens", most=4096),
        in_flight=entries.count("batched_tokens", most=2**31) if entries.has("batched_tokens") else None,
    )


def rendered(found: Memory, rests_on: Measured) -> Sheet:
    """In words, of the fullest rank."""
    plan, rank = found.plan, found.fullest
    device_basis, device_measured = rests_on.basis("vram_gib")
    reserve_basis, reserve_measured = rests_on.basis("reserve_gib")
    figures = {
        "weights": _bytes("Weights", rank.weights, f"{grouped(plan.architecture.parameters)} parameters"),
        "kv_per_token": Figure(
            label="KV per cached token",
            value=whole(rank.kv_per_token),
            unit="B",
            shown=f"{shown(rank.kv_per_token, KIB)} KiB",
            basis="arithmetic",
        ),
        "kv": _bytes("KV state", Interval(rank.kv, rank.kv), f"{grouped(plan.tokens)} x {grouped(plan.sequences)}"),
        "reserve": Figure(
            label="Reserve",
            value=plan.reserve,
            unit="B",
            shown=gib(plan.reserve),
            basis=reserve_basis,
            measured=reserve_measured,
        ),
        "total": _bytes("Total", rank.total, "weights + KV + reserve"),
        "device": Figure(
            label="Memory of the device",
            value=plan.device,
            unit="B",
            shown=gib(plan.device),
            basis=device_basis,
            measured=device_measured,
        ),
        "headroom": _bytes("Headroom", Interval(found.headroom, found.headroom), "device - total"),
        "most_sequences": _count("Most sequences at this context", found.most_sequences, "sequences"),
        "most_tokens": _count("Longest context of so many sequences", found.most_tokens, "tokens"),
    }
    return Sheet(
        worksheet="memory",
        figures=figures,
        verdict=_verdict(found),
        tables=(_ranks(found),),
        assumed=found.assumed,
        left_out=found.left_out,
    )


def _verdict(found: Memory) -> Verdict:
    total, device = gib(found.fullest.total.most), gib(found.plan.device)
    if found.within:
        return Verdict("within", f"The sum, {total}, is not above the entered {device}. It promises nothing more.")
    return Verdict("exceeds", f"The sum, {total}, is above the entered {device}.")


def _bytes(label: str, found: Interval, how: str) -> Figure:
    least, most = gib(found.least), gib(found.most)
    return Figure(
        label=label,
        value=_rounded_away(found.most),
        unit="B",
        shown=most if least == most else f"{least} to {most}",
        basis="arithmetic",
        how=how,
    )


def _rounded_away(value: Exact) -> int:
    """A need is rounded up, a headroom that is missing down."""
    return whole(value) if value >= 0 else -whole(-value)


def _count(label: str, value: int, unit: str) -> Figure:
    return Figure(label=label, value=value, unit=unit, shown=f"{grouped(value)} {unit}", basis="arithmetic")


def _ranks(found: Memory) -> Table:
    rows = tuple(
        (str(rank.stage), grouped(rank.layers), gib(rank.weights.most), gib(rank.kv), gib(rank.total.most))
        for rank in found.ranks
    )
    return Table(title="Each rank", columns=("Stage", "Layers", "Weights", "KV state", "Total"), rows=rows)
