"""The arithmetic of the memory worksheet's figures, told in the figures that went into it."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from gateway.domain.worksheets import decimals
from gateway.domain.worksheets.memory.kv import Arithmetic
from gateway.domain.worksheets.memory.kv_formats import KV, rank_heads
from gateway.domain.worksheets.memory.llama_cells import Cells
from gateway.domain.worksheets.memory.plan import MOST_TOKENS, Memory, MemoryPlan, RankMemory
from gateway.domain.worksheets.memory.stages import stage_layers
from gateway.domain.worksheets.memory.vllm_blocks import WITHHELD, Blocks
from gateway.domain.worksheets.memory.weights import parameters_by_bits
from gateway.domain.worksheets.models.architecture import Attention, Latent
from gateway.domain.worksheets.models.weight_formats import WEIGHTS
from gateway.domain.worksheets.units import Exact, grouped, whole


def weights(plan: MemoryPlan, rank: RankMemory) -> str:
    """Of one rank, as the file has them, and what loading may take where that is more."""
    architecture, shared = plan.architecture, plan.parallelism
    if not architecture.knows_tensors:
        ranks = shared.tensor * shared.pipeline
        told = f"{grouped(architecture.parameters)} x {_number(WEIGHTS[plan.weight_format].bits)} bits / 8"
        return told if ranks == 1 else f"{told} / {ranks} ranks"
    kinds = parameters_by_bits(architecture, plan.weight_format, shared, rank.stage)
    told = f"({' + '.join(f'{grouped(count)} x {_number(bits)}' for bits, count in kinds.items())}) bits / 8"
    if rank.weights.least == rank.weights.most:
        return told
    return f"{told}; loaded it may be {_number(rank.weights.most)} B"


def kv_per_token(plan: MemoryPlan, rank: RankMemory) -> str:
    """Of one rank: its layers by kind, keys and values."""
    layers = stage_layers(len(plan.architecture.attention), plan.parallelism.pipeline)[rank.stage]
    kinds = Counter(plan.architecture.attention[layer] for layer in layers)
    return " + ".join(_of_kind(plan, kind, count) for kind, count in kinds.items()) + " B"


def kv(found: Memory, rank: RankMemory) -> str:
    """Of one rank: all sequences, as the accounting counts them."""
    plan, rules = found.plan, found.states
    sequences = f"{grouped(plan.sequences)} sequences"
    match rules:
        case Blocks():
            blocks, size = rules.of_one_sequence(plan.tokens), rules.block_bytes[rank.stage]
            return f"({sequences} x {grouped(blocks)} blocks + {WITHHELD}) x {grouped(size)} B"
        case Cells():
            sizes = [(size, rules.cells(plan.tokens, window)) for size, window in rules.stages[rank.stage]]
            return f"{sequences} x ({_sum(sizes, 'cells')})"
        case Arithmetic():
            sizes = [
                (size, plan.tokens if window is None else min(plan.tokens, window))
                for size, window in rules.stages[rank.stage]
            ]
            return f"{sequences} x ({_sum(sizes, 'tokens')})"
        case _:
            return f"by the rules of {plan.accounting}"


def total(plan: MemoryPlan, rank: RankMemory) -> str:
    """The upper end, where the weights are an interval."""
    return f"{_number(rank.weights.most)} + {_number(rank.kv)} + {grouped(plan.reserve)} B"


def most_sequences(found: Memory) -> str:
    """What they need, and what one more would."""
    most, tokens = found.most_sequences, found.plan.tokens
    return ", ".join(_needed(n, "sequences", found.needed(tokens, n)) for n in (most, most + 1) if n)


def most_tokens(found: Memory) -> str:
    """What they need, and what one more would, unless the search ends there."""
    most, sequences = found.most_tokens, found.plan.sequences
    at_most = _needed(most, "tokens", found.needed(most, sequences)) if most else ""
    if most and most == found.plan.architecture.longest_context:
        return f"{at_most}; there the model's window ends"
    if most == MOST_TOKENS:
        return f"{at_most}; more were not looked for"
    one_more = _needed(most + 1, "tokens", found.needed(most + 1, sequences))
    return f"{at_most}, {one_more}" if most else one_more


def all_devices(found: Memory) -> str:
    """The totals of the stages, equal ones that follow each other together; of every rank and copy."""
    shared, totals = found.plan.parallelism, (whole(rank.total.most) for rank in found.ranks)
    runs = [(total, len(list(same))) for total, same in groupby(totals)]
    told = " + ".join(grouped(total) if count == 1 else f"{count} x {grouped(total)}" for total, count in runs)
    return f"({told}) x {shared.tensor} x {shared.data} B"


def _needed(count: int, unit: str, size: Exact) -> str:
    return f"{grouped(count)} {unit}: {grouped(whole(size))} B"


def _of_kind(plan: MemoryPlan, kind: Attention, count: int) -> str:
    form = KV[plan.kv_format]
    if isinstance(kind, Latent):
        row = f"({kind.rank} + {kind.rope_dim}) x {_number(form.bytes)}" if form.row is None else grouped(form.row)
        return f"{count} x ({row} + {form.scales})" if form.scales else f"{count} x {row}"
    heads = rank_heads(kind.kv_heads, plan.parallelism.tensor)
    each = f"{kind.head_dim} x {_number(form.bytes)}"
    return f"{count} x {heads} x (2 x {each} + {form.scales})" if form.scales else f"2 x {count} x {heads} x {each}"


def _sum(sizes: Iterable[tuple[Exact, int]], unit: str) -> str:
    return " + ".join(f"{_number(size)} B x {grouped(count)} {unit}" for size, count in sizes)


def _number(value: Exact) -> str:
    return grouped(value.numerator) if value.denominator == 1 else decimals.text(value)
