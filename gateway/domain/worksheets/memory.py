"""Weights, KV state and reserve against the memory of a device: the arithmetic of one plan."""

from fractions import Fraction
from typing import Literal

from msgspec import Struct

from gateway.domain.worksheets.architecture import Architecture, Full
from gateway.domain.worksheets.kv_formats import KV
from gateway.domain.worksheets.units import Exact
from gateway.domain.worksheets.weight_formats import WEIGHTS

Accounting = Literal["arithmetic", "vllm>=0.21", "vllm<0.21", "llama.cpp"]
"""Whose rules say how much KV memory so many tokens take. ``arithmetic``: bytes per token times tokens, no blocks."""


class Parallelism(Struct, frozen=True):
    """Devices by what they share: tensors, layers, or nothing (another full copy)."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1

    @property
    def devices(self) -> int:
        return self.tensor * self.pipeline * self.data


class MemoryPlan(Struct, frozen=True, kw_only=True):
    """What is entered. Sizes in bytes, per device where a device is meant."""

    architecture: Architecture
    weight_format: str
    """An id of ``weight_formats.WEIGHTS``."""
    kv_format: str
    """An id of ``kv_formats.KV``. Quantising the weights never changes it."""
    parallelism: Parallelism = Parallelism()
    tokens: int
    """Cached tokens of one sequence at the evaluated instant: input and what was generated."""
    sequences: int
    """Sequences at once, of one data-parallel copy."""
    device: int
    reserve: int
    """Activations, CUDA graphs, the driver's own: what is neither weights nor KV."""
    accounting: Accounting = "arithmetic"
    block: int = 16
    """Tokens of a block, where the accounting has blocks."""
    in_flight: int | None = None
    """Tokens of one step over all sequences (max_num_batched_tokens times the batches at once), which the caches of
    sliding windows hold besides their window; None: the accounting's own default."""


class Interval(Struct, frozen=True):
    """Bytes between these two, both included. Equal where nothing is uncertain."""

    least: Exact
    most: Exact


class RankMemory(Struct, frozen=True, kw_only=True):
    """One device of one pipeline stage. All ranks of a stage are alike."""

    stage: int
    layers: int
    weights: Interval
    kv: Exact
    kv_per_token: Fraction
    """Bytes that one more token of one sequence takes while no window is full and no block is counted."""
    total: Interval
    """Weights, KV and reserve."""


class Memory(Struct, frozen=True, kw_only=True):
    """What came out. A plan is within if the upper end of the fullest rank's total is not above the device."""

    plan: MemoryPlan
    ranks: tuple[RankMemory, ...]
    """One per pipeline stage."""
    fullest: RankMemory
    within: bool
    headroom: Exact
    """Device less the upper end of the fullest rank's total; negative if it exceeds."""
    most_sequences: int
    """With so many tokens each, on one data-parallel copy; 0: not even one."""
    most_tokens: int
    """Of each of so many sequences; 0: not even one. At most the architecture's longest context where that is known."""
    assumed: tuple[str, ...]
    left_out: tuple[str, ...]


def compute(plan: MemoryPlan) -> Memory:
    """The arithmetic of a plan. Pure, and defined for every plan that can be made."""
    layers = plan.architecture.attention
    bits = WEIGHTS[plan.weight_format].bits
    per_token = sum(
        (2 * one.kv_heads * one.head_dim * KV[plan.kv_format].bytes for one in layers if isinstance(one, Full)),
        Fraction(0),
    )
    weights = plan.architecture.parameters * bits / 8
    kv = per_token * plan.tokens * plan.sequences
    total = weights + kv + plan.reserve
    rank = RankMemory(
        stage=0,
        layers=len(layers),
        weights=Interval(weights, weights),
        kv=kv,
        kv_per_token=per_token,
        total=Interval(total, total),
    )
    left = max(plan.device - weights - plan.reserve, Fraction(0))
    return Memory(
        plan=plan,
        ranks=(rank,),
        fullest=rank,
        within=total <= plan.device,
        headroom=plan.device - total,
        most_sequences=int(left / (per_token * plan.tokens)),
        most_tokens=int(left / (per_token * plan.sequences)),
        assumed=(),
        left_out=(),
    )
