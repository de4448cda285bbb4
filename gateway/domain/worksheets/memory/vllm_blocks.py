"""KV memory as vLLM's hybrid allocator hands it out: blocks of one pool, which all groups of layers draw from."""

from collections.abc import Hashable
from typing import Self

from msgspec import Struct

from gateway.domain.worksheets.memory.kv_formats import KvFormat
from gateway.domain.worksheets.memory.stages import Parallelism, stage_layers
from gateway.domain.worksheets.memory.vllm_groups import Group, layer_groups
from gateway.domain.worksheets.models.architecture import Attention
from gateway.domain.worksheets.units import whole

WITHHELD = 1
"""The null block, which stands in block tables where a window has passed and never holds a token.

Source: vllm/v1/core/block_pool.py; get_kv_cache_configs leaves it out when it asks whether one request fits (0.32).
"""


class Blocks(Struct, frozen=True):
    """Groups of layers, and what one block takes of each stage's memory."""

    groups: tuple[Group, ...]
    block_bytes: tuple[int, ...]
    """On one rank of each stage: the fullest group's layers of that stage, as all groups share the same memory."""
    in_flight: int
    """Tokens scheduled and not yet done, which windows keep besides their own: max_num_batched_tokens times the
    steps under way."""

    @classmethod
    def of(
        cls,
        attention: tuple[Attention, ...],
        kv_format: KvFormat,
        parallelism: Parallelism,
        *,
        block: int,
        in_flight: int,
    ) -> Self:
        """Groups are made over the whole model, then each stage holds its layers of every group.

        Source: vllm/v1/core/kv_cache_utils.py, get_kv_cache_configs and _get_kv_cache_bytes_per_block (0.32), with
        the layer outermost in memory, as attention kernels have it unless they say otherwise.
        """
        groups = layer_groups(attention, kv_format, parallelism.tensor, block)
        stages = stage_layers(len(attention), parallelism.pipeline)
        sizes = tuple(
            max(sum(whole(group.pages[layer]) for layer in layers if layer in group.pages) for group in groups)
            for layers in stages
        )
        return cls(groups, sizes, in_flight)

    def of_one_sequence(self, tokens: int) -> int:
        """Blocks that a sequence of so many tokens takes at most."""
        return sum(group.blocks(tokens, self.in_flight) for group in self.groups)

    def stage_bytes(self, stage: int, tokens: int, sequences: int) -> int:
        """On one rank of a stage, with so many sequences of so many tokens each, and the block that is withheld."""
        return (sequences * self.of_one_sequence(tokens) + WITHHELD) * self.block_bytes[stage]

    def of_stage(self, stage: int) -> Hashable:
        """Bytes of one block: blocks are of the whole model."""
        return self.block_bytes[stage]
