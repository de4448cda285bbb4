"""Weights, KV state and reserve against the memory of a device: the arithmetic of one plan."""

from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct

from gateway.domain.worksheets.memory import kv, weight_faults
from gateway.domain.worksheets.memory import notes as memory_notes
from gateway.domain.worksheets.memory.accounting import Accounting, in_flight, step_tokens
from gateway.domain.worksheets.memory.kv import KvRules
from gateway.domain.worksheets.memory.kv_formats import KV
from gateway.domain.worksheets.memory.stages import Parallelism, stage_layers
from gateway.domain.worksheets.memory.weights import rank_weights
from gateway.domain.worksheets.models.architecture import Architecture
from gateway.domain.worksheets.units import Exact, Interval

MOST_TOKENS = 10**9
"""Where no context is known and windows are full, more tokens take no more memory: the search ends here."""


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
    batched_tokens: int | None = None
    """Tokens of one step over all sequences (max_num_batched_tokens, or n_ubatch of llama.cpp), which the caches of
    sliding windows hold besides their window; None: the accounting's own default."""


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
    states: KvRules
    """How its accounting counts KV memory."""
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

    def needed(self, tokens: int, sequences: int) -> Exact:
        """Bytes of the fullest rank, at most, with so many sequences of so many tokens each."""
        sizes = (rank.weights.most + self.states.stage_bytes(rank.stage, tokens, sequences) for rank in self.ranks)
        return max(sizes) + self.plan.reserve

    @property
    def all_devices(self) -> Interval:
        """Weights, KV and reserve of all devices together: ranks of every stage, and every data-parallel copy."""
        each = self.plan.parallelism.tensor * self.plan.parallelism.data
        return Interval(
            each * sum((rank.total.least for rank in self.ranks), 0),
            each * sum((rank.total.most for rank in self.ranks), 0),
        )


def compute(plan: MemoryPlan) -> Memory:
    """The arithmetic of a plan. Pure, and defined for every plan without ``memory_faults.faults``."""
    weights, states = rank_weights(plan.architecture, plan.weight_format, plan.parallelism), rules(plan)
    ranks = _ranks(plan, weights, states)
    fullest = max(ranks, key=lambda rank: rank.total.most)
    left = [plan.device - plan.reserve - weight.most for weight in weights]

    # Of a long pipeline most stages are alike, and one of them answers for all.
    different = {(most, states.of_stage(stage)): stage for stage, most in enumerate(left)}

    def hold(tokens: int, sequences: int) -> bool:
        return all(states.stage_bytes(stage, tokens, sequences) <= left[stage] for stage in different.values())

    context = plan.architecture.longest_context
    return Memory(
        plan=plan,
        states=states,
        ranks=ranks,
        fullest=fullest,
        within=fullest.total.most <= plan.device,
        headroom=plan.device - fullest.total.most,
        # A sequence takes a byte at the least, so that more of them than bytes never fit.
        most_sequences=largest(lambda count: hold(plan.tokens, count), plan.device),
        most_tokens=largest(lambda count: hold(count, plan.sequences), MOST_TOKENS if context is None else context),
        assumed=(
            *weight_faults.assumed(plan.architecture, plan.weight_format),
            *memory_notes.assumed(
                accounting=plan.accounting,
                attention=plan.architecture.attention,
                pipeline=plan.parallelism.pipeline,
                step=None if plan.batched_tokens is not None else step_tokens(plan.accounting, plan.device),
            ),
        ),
        left_out=(*plan.architecture.left_out, *memory_notes.LEFT_OUT),
    )


def rules(plan: MemoryPlan) -> KvRules:
    """How the plan's accounting counts KV memory."""
    return kv.rules(
        plan.architecture.attention,
        KV[plan.kv_format],
        plan.parallelism,
        accounting=plan.accounting,
        block=plan.block,
        in_flight=in_flight(plan.accounting, plan.batched_tokens, plan.parallelism.pipeline, plan.device),
    )


def largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest number from 1 to ``most`` for which it holds, 0 if for none. What holds must hold below as well."""
    low, high = 0, 1
    while high <= most and holds(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _ranks(plan: MemoryPlan, weights: tuple[Interval, ...], states: KvRules) -> tuple[RankMemory, ...]:
    attention, parallelism = plan.architecture.attention, plan.parallelism
    each = kv.per_token(attention, KV[plan.kv_format], parallelism)
    ranks = []
    for stage, layers in enumerate(stage_layers(len(attention), parallelism.pipeline)):
        size, weight = states.stage_bytes(stage, plan.tokens, plan.sequences), weights[stage]
        ranks.append(
            RankMemory(
                stage=stage,
                layers=len(layers),
                weights=weight,
                kv=size,
                kv_per_token=Fraction(each[stage]),
                total=Interval(weight.least + size + plan.reserve, weight.most + size + plan.reserve),
            )
        )
    return tuple(ranks)
