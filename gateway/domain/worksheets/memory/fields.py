"""What may be entered into the memory worksheet."""

from typing import get_args

from gateway.domain.worksheets import measured
from gateway.domain.worksheets.fields import Entries, Field
from gateway.domain.worksheets.memory.accounting import Accounting
from gateway.domain.worksheets.memory.kv_formats import KV
from gateway.domain.worksheets.models.weight_formats import WEIGHTS

RAW_BITS = ("16", "4")
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
    Field(
        name="head_dim",
        label="Head dimension",
        kind="count",
        unit="elements",
        default="128",
        help="Elements of one head.",
    ),
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
    Field(
        name="tensor_parallel",
        label="Tensor parallelism",
        kind="count",
        unit="devices",
        default="1",
        help="That share every layer; KV heads are copied where there are fewer of them.",
    ),
    Field(
        name="pipeline_parallel",
        label="Pipeline parallelism",
        kind="count",
        unit="stages",
        default="1",
        help="That share the layers among them.",
    ),
    Field(
        name="data_parallel",
        label="Data parallelism",
        kind="count",
        unit="copies",
        default="1",
        help="Of everything, each with sequences of its own.",
    ),
    Field(
        name="accounting",
        label="Engine accounting",
        kind="choice",
        default="arithmetic",
        choices=get_args(Accounting),
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


def weight_format(entries: Entries) -> str:
    """An id of ``weight_formats.WEIGHTS``."""
    named = entries.choice("weight_format")
    if named == "raw":
        return f"raw{entries.choice('weight_bits')}"
    if entries.has("weight_bits"):
        entries.refuse("weight_bits", "A weight format says its bits itself.", "Leave it out, or enter the format raw.")
    return named
