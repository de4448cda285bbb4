"""What may be entered into the latency worksheet."""

from msgspec.structs import replace

from gateway.domain.worksheets import measured
from gateway.domain.worksheets.fields import Field
from gateway.domain.worksheets.memory import fields as memory_fields

MODEL = (
    "config",
    "parameters",
    "layers",
    "kv_heads",
    "head_dim",
    "weight_format",
    "weight_bits",
    "kv_format",
)
"""Fields that the memory worksheet has too, with the same meaning. Only floors need them."""
HARDWARE = ("bandwidth_gb_per_s", "peak_tflops")
"""Either of them asks for a floor."""
_MEMORY = {field.name: field for field in memory_fields.FIELDS}
FIELDS = (
    Field(
        name="queue_s",
        label="Queue",
        kind="decimal",
        unit="s",
        default="0.1",
        help="Waiting for the engine.",
        group="first",
    ),
    Field(
        name="verification_s",
        label="Verification",
        kind="decimal",
        unit="s",
        default="0.1",
        help="Who asks, and what policy and the budget say.",
        group="first",
    ),
    Field(
        name="retrieval_s",
        label="Retrieval",
        kind="decimal",
        unit="s",
        default="0.1",
        help="Finding the sources.",
        group="first",
    ),
    Field(
        name="prefill_s",
        label="Prefill",
        kind="decimal",
        unit="s",
        default="0.2",
        help="Until the engine has read the prompt.",
        group="first",
    ),
    Field(name="output_tokens", label="Output", kind="count", unit="tokens", default="300", group="first"),
    Field(
        name="per_token_s",
        label="Time per output token",
        kind="decimal",
        unit="s",
        default="0.03",
        help="Of one decode step.",
        group="first",
    ),
    Field(
        name="persist_s",
        label="Persist",
        kind="decimal",
        unit="s",
        default="0",
        help="Storing the answer.",
        group="first",
    ),
    Field(
        name="slo_s",
        label="SLO of the saved answer",
        kind="decimal",
        unit="s",
        default="5",
        help="The longest that a caller may wait for the whole answer.",
        group="first",
    ),
    Field(
        name="arrival_per_s",
        label="Requests that arrive",
        kind="decimal",
        unit="requests/s",
        help="On average; for the sequences that are active at once.",
    ),
    Field(
        name="bandwidth_gb_per_s",
        label="Memory bandwidth",
        kind="decimal",
        unit="GB/s",
        help="Of one device, in decimal GB (1,000,000,000 bytes) per second; for the floor of a decode step.",
    ),
    Field(
        name="peak_tflops",
        label="Peak arithmetic",
        kind="decimal",
        unit="TFLOP/s",
        help="Of one device, dense, in the format that the engine computes in; for the floor of the prefill.",
    ),
    Field(
        name="device_tensor_parallel",
        label="Devices that share the tensors",
        kind="count",
        unit="devices",
        default="1",
        help="Tensor parallelism; only for floors.",
    ),
    Field(name="input_tokens", label="Input", kind="count", unit="tokens", help="Of the prompt; only for floors."),
    Field(
        name="sequences",
        label="Sequences of a step",
        kind="count",
        unit="sequences",
        default="1",
        help="That the engine decodes at once; only for floors.",
    ),
    *(replace(_MEMORY[name], group="more") for name in MODEL),
    Field(
        name="embedding_parameters",
        label="Parameters of the input embedding",
        kind="count",
        unit="parameters",
        help="Vocabulary x hidden size, which no step reads; 0 where the output head is the same tensor.",
    ),
    Field(
        name="expert_parameters",
        label="Parameters of all experts",
        kind="count",
        unit="parameters",
        help="Of all layers of a mixture of experts.",
    ),
    Field(name="experts", label="Experts", kind="count", unit="experts", help="Of one layer."),
    Field(name="experts_per_token", label="Experts of a token", kind="count", unit="experts", help="Of one layer."),
    *measured.FIELDS,
)
