"""What a self-hosted profile promises of its devices' memory, in the registry."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.domain.registry import END, Date, Limits, Name, Text, Tokens

ArchitectureFile = Annotated[
    str,
    Meta(
        pattern=rf"^[a-z0-9][a-z0-9._-]{{0,99}}\.json@sha256:[0-9a-f]{{64}}{END}",
        description="FILE@sha256:DIGEST, a Hugging Face config.json in the folder architectures of the registry.",
    ),
]
Gib = Annotated[
    str,
    Meta(
        pattern=rf"^(0|[1-9][0-9]{{0,5}})(\.[0-9]{{1,4}})?{END}",
        description="Binary GiB (2^30 bytes) as a decimal string.",
    ),
]
Accounting = Literal["vllm>=0.21", "vllm<0.21", "llama.cpp"]
"""Not plain arithmetic: without blocks, and with windows as small as they can be, it says less than engines take."""


class PlannedCapacity(
    Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="basis", tag="arithmetic"
):
    """Computed: weights, KV state and reserve come out within the device, by the memory worksheet."""

    architecture: ArchitectureFile
    device_gib: Annotated[Gib, Meta(description="GiB of one device: what it shows, not its label; a decimal string.")]
    reserve_gib: Annotated[
        Gib,
        Meta(description="GiB of a device that are neither weights nor KV: activations, graphs, the driver's own."),
    ]
    accounting: Annotated[Accounting, Meta(description="Whose rules say how much KV memory so many tokens take.")]
    tensor_parallel: Annotated[int, Meta(ge=1, le=1024, description="Devices that share each layer.")] = 1
    pipeline_parallel: Annotated[int, Meta(ge=1, le=1024, description="Stages that share the layers.")] = 1
    block_tokens: Annotated[
        int, Meta(ge=1, le=4096, description="Tokens of a KV block, where the engine has them.")
    ] = 16
    batched_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=2**31)] | None,
        Meta(description="max_num_batched_tokens, where layers have sliding windows; null: the accounting's default."),
    ] = None


class MeasuredCapacity(
    Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="basis", tag="measured"
):
    """Read from a running engine: so many tokens fit its KV cache."""

    kv_tokens: Annotated[int, Meta(ge=1, le=10**12, description="Tokens of all sequences together.")]
    context: Annotated[
        Tokens,
        Meta(
            description="Tokens of one sequence that the engine was started for; with sliding windows another context "
            "makes another number of tokens."
        ),
    ]
    engine_version: Name
    device: Text
    workload: Text
    date: Date
    by: Text


Capacity = PlannedCapacity | MeasuredCapacity


def promised_sequences(limits: Limits) -> int:
    """How many sequences, each a whole context long, a profile with these limits promises to hold at once.

    Where concurrency is unlimited, the engine's own queue takes what its memory does not: one is enough.
    """
    return 1 if limits.concurrency == "unlimited" else max(1, limits.concurrency)
