"""What a self-hosted profile promises of its devices' memory, in the registry."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.domain.registry import END, Date, Name, Text

File = Annotated[
    str,
    Meta(
        pattern=rf"^[a-z0-9][a-z0-9._-]{{0,99}}\.json{END}",
        description="A Hugging Face config.json, kept in the folder architectures of the registry.",
    ),
]
Gib = Annotated[
    str,
    Meta(
        pattern=rf"^(0|[1-9][0-9]{{0,5}})(\.[0-9]{{1,4}})?{END}",
        description="Binary GiB (2^30 bytes) as a decimal string; what the device shows, not its label.",
    ),
]


class Planned(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="basis", tag="arithmetic"):
    """Computed: the memory worksheet over the model's architecture must come out within the device."""

    architecture: File
    device_gib: Gib
    reserve_gib: Annotated[Gib, Meta(description="What is neither weights nor KV: activations, graphs, the driver.")]
    weights: Annotated[Name, Meta(description="A weight format of the memory worksheet, such as q4_1.")]
    kv: Annotated[Name, Meta(description="A KV format of the memory worksheet, such as fp16.")]
    accounting: Literal["arithmetic", "vllm>=0.21", "vllm<0.21", "llama.cpp"]
    tensor_parallel: Annotated[int, Meta(ge=1, le=1024)] = 1
    pipeline_parallel: Annotated[int, Meta(ge=1, le=1024)] = 1
    block_tokens: Annotated[int, Meta(ge=1, le=4096)] = 16
    batched_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=2**31)] | None,
        Meta(description="max_num_batched_tokens, where layers have sliding windows; null: the accounting's default."),
    ] = None


class Measured(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="basis", tag="measured"):
    """Read from a running engine: so many tokens fit its KV cache."""

    kv_tokens: Annotated[int, Meta(ge=1, le=10**12, description="Tokens of all sequences together.")]
    engine_version: Name
    device: Text
    workload: Text
    date: Date
    by: Text


Capacity = Planned | Measured
