"""What vLLM logs at its start, from the KV memory that it found: blocks, tokens, concurrency, or why it does not start.

Readiness and the public cases compare these with what engines report. They are the engine's own figures, and not what
``memory`` decides with: the engine does not take the null block off its concurrency.
"""

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from gateway.domain.worksheets.memory.accounting import VLLM
from gateway.domain.worksheets.memory.plan import MemoryPlan, largest, rules
from gateway.domain.worksheets.memory.vllm_blocks import WITHHELD, Blocks


class EngineFigures(Struct, frozen=True, kw_only=True):
    """Of an engine that is started for ``plan.tokens`` as its max_model_len."""

    blocks: int
    """num_gpu_blocks: of the stage that holds the fewest."""
    tokens: int
    """kv_cache_size_tokens. With windows it hangs on max_model_len, and is no measure of bytes."""
    concurrency: Fraction
    """kv_cache_max_concurrency: sequences of max_model_len."""


class StageNeed(Struct, frozen=True, kw_only=True):
    """What vLLM says of a stage when it refuses to start: more is needed than there is."""

    needed: int
    """Bytes of one sequence of max_model_len; the null block is not counted, though held back."""
    longest: int
    """The estimated maximum model length: the most tokens of one sequence, at most max_model_len; 0: none."""
    starts: bool


def engine_figures(plan: MemoryPlan, available: Sequence[int]) -> EngineFigures:
    """Of a plan by vLLM's accounting without faults; ``available``: bytes for KV states on a rank of each stage.

    Source: vllm/v1/core/kv_cache_utils.py, get_kv_cache_configs (0.32).
    :raises ValueError: the accounting is not vLLM's.
    """
    found = _blocks(plan)
    return figures_of_blocks(plan, min(size // block for size, block in zip(available, found.block_bytes, strict=True)))


def figures_of_blocks(plan: MemoryPlan, blocks: int) -> EngineFigures:
    """The same from a number of blocks.

    Source: vllm/v1/core/kv_cache_utils.py, get_kv_cache_capacity (0.32); before 0.21, _report_kv_cache_config.
    :raises ValueError: the accounting is not vLLM's.
    """
    found = _blocks(plan)
    one = found.of_one_sequence(plan.tokens)
    if plan.accounting == "vllm<0.21":
        tokens = blocks // len(found.groups) * min(group.block for group in found.groups)
    else:
        # In doubles, as the engine does it: now and then its figure is one below the exact one.
        tokens = int(blocks / one * plan.tokens)
    return EngineFigures(blocks=blocks, tokens=tokens, concurrency=Fraction(blocks, one))


def stage_need(plan: MemoryPlan, stage: int, available: int) -> StageNeed:
    """Whether a stage holds one sequence of ``plan.tokens``, and how long one it does hold.

    Source: vllm/v1/core/kv_cache_utils.py, _check_enough_kv_cache_memory and estimate_max_model_len (0.32).
    :raises ValueError: the accounting is not vLLM's.
    """
    found = _blocks(plan)
    block = found.block_bytes[stage]
    usable = available - WITHHELD * block

    def needed(tokens: int) -> int:
        return found.of_one_sequence(tokens) * block

    return StageNeed(
        needed=needed(plan.tokens),
        longest=largest(lambda tokens: needed(tokens) <= usable, plan.tokens),
        starts=needed(plan.tokens) <= usable,
    )


def _blocks(plan: MemoryPlan) -> Blocks:
    found = rules(plan)
    if plan.accounting not in VLLM or not isinstance(found, Blocks):
        raise ValueError("Only vLLM has blocks.")
    return found
