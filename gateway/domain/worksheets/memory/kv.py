"""How much KV memory sequences take on a rank of each stage, by the rules of an accounting."""

from collections import Counter
from collections.abc import Hashable
from typing import Protocol

from msgspec import Struct

from gateway.domain.worksheets.memory.accounting import VLLM, Accounting
from gateway.domain.worksheets.memory.kv_formats import KvFormat, token_bytes
from gateway.domain.worksheets.memory.llama_cells import Cells
from gateway.domain.worksheets.memory.stages import Parallelism, stage_layers
from gateway.domain.worksheets.memory.vllm_blocks import Blocks
from gateway.domain.worksheets.models.architecture import Attention, Window
from gateway.domain.worksheets.units import Exact


class KvRules(Protocol):
    """Bytes of KV states; they never fall with tokens or sequences."""

    def stage_bytes(self, stage: int, tokens: int, sequences: int) -> Exact:
        """On one rank of a stage, with so many sequences of so many tokens each."""
        ...

    def of_stage(self, stage: int) -> Hashable:
        """What a stage's bytes hang on: stages with the same take as much."""
        ...


class Arithmetic(Struct, frozen=True):
    """Bytes per token times tokens, of a window at most its own; nothing is rounded to blocks."""

    stages: tuple[tuple[tuple[Exact, int | None], ...], ...]
    """Of each stage, per different window: bytes of one token in all its layers."""

    def stage_bytes(self, stage: int, tokens: int, sequences: int) -> Exact:
        each = (size * (tokens if window is None else min(tokens, window)) for size, window in self.stages[stage])
        return sequences * sum(each, 0)

    def of_stage(self, stage: int) -> Hashable:
        """Its layers."""
        return self.stages[stage]


def rules(
    attention: tuple[Attention, ...],
    kv_format: KvFormat,
    parallelism: Parallelism,
    *,
    accounting: Accounting,
    block: int,
    in_flight: int,
) -> KvRules:
    """The rules of an accounting for these layers; ``in_flight`` as ``vllm_blocks`` and ``llama_cells`` say."""
    if accounting in VLLM:
        return Blocks.of(attention, kv_format, parallelism, block=block, in_flight=in_flight)
    stages = tuple(
        _by_window([attention[layer] for layer in layers], kv_format, parallelism.tensor)
        for layers in stage_layers(len(attention), parallelism.pipeline)
    )
    return Cells(stages, in_flight) if accounting == "llama.cpp" else Arithmetic(stages)


def per_token(attention: tuple[Attention, ...], kv_format: KvFormat, parallelism: Parallelism) -> tuple[Exact, ...]:
    """Of each stage, the bytes that one token takes in all its layers on one rank."""
    return tuple(
        sum((token_bytes(attention[layer], kv_format, parallelism.tensor) for layer in layers), 0)
        for layers in stage_layers(len(attention), parallelism.pipeline)
    )


def _by_window(attention: list[Attention], kv_format: KvFormat, tensor: int) -> tuple[tuple[Exact, int | None], ...]:
    sizes: dict[int | None, Exact] = {}
    for layer, count in Counter(attention).items():
        window = layer.window if isinstance(layer, Window) else None
        sizes[window] = sizes.get(window, 0) + count * token_bytes(layer, kv_format, tensor)
    return tuple((size, window) for window, size in sizes.items())
