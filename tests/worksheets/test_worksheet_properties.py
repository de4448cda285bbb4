"""What holds of every plan, whatever is entered."""

from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st
from kv_support import plan, weightless
from msgspec.structs import replace

from gateway.domain.worksheets.memory import faults as memory_faults
from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.memory.accounting import Accounting
from gateway.domain.worksheets.memory.engine_figures import engine_figures, stage_need
from gateway.domain.worksheets.memory.kv_formats import KV, format_fault
from gateway.domain.worksheets.memory.plan import MOST_TOKENS, MemoryPlan
from gateway.domain.worksheets.memory.stages import stage_layers
from gateway.domain.worksheets.models import plain
from gateway.domain.worksheets.models.architecture import Attention, Full, Latent, Window
from gateway.domain.worksheets.models.weight_formats import WEIGHTS
from gateway.domain.worksheets.units import GIB, whole

ACCOUNTINGS: tuple[Accounting, ...] = ("arithmetic", "vllm>=0.21", "vllm<0.21", "llama.cpp")
heads, dims = st.sampled_from((1, 2, 3, 4, 8, 32)), st.sampled_from((32, 64, 96, 128, 256))
layers: st.SearchStrategy[Attention] = st.one_of(
    st.builds(Full, heads, dims),
    st.builds(Window, heads, dims, st.sampled_from((1, 100, 128, 4096))),
    st.just(Latent(512, 64)),
)
tokens, sequences = st.integers(1, 300_000), st.integers(1, 3000)


@st.composite
def plans(draw: st.DrawFn, *accountings: Accounting) -> MemoryPlan:
    """Plans that are not refused, on devices about as large as they need."""
    kinds = draw(st.lists(layers, min_size=1, max_size=3))
    attention = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=12))
    accounting = draw(st.sampled_from(accountings or ACCOUNTINGS))
    asked = plan(
        weightless(*attention, longest=draw(st.one_of(st.none(), st.integers(1, 2**20)))),
        tensor=draw(st.sampled_from(ranks_of(attention, accounting))),
        pipeline=draw(st.integers(1, min(4, len(attention)))),
        kv_format=draw(st.sampled_from([one for one in KV if format_fault(one, attention, accounting) is None])),
        accounting=accounting,
        tokens=draw(tokens),
        sequences=draw(sequences),
        block=draw(st.sampled_from((1, 16, 32, 48, 128))),
        batched_tokens=draw(st.integers(1, 20_000)),
        reserve=draw(st.integers(0, GIB)),
    )
    assume(not memory_faults.faults(asked))
    need = memory.compute(asked).fullest.total.most
    return replace(asked, device=max(1, int(need * draw(st.fractions(Fraction(1, 10), 10)))))


def ranks_of(attention: list[Attention], accounting: Accounting) -> list[int]:
    counts = [layer.kv_heads for layer in attention if not isinstance(layer, Latent)]
    even = [ranks for ranks in (1, 2, 3, 4, 8, 64) if not any(max(one, ranks) % min(one, ranks) for one in counts)]
    return [1] if accounting == "llama.cpp" else even


@given(plans())
def test_the_largest_numbers_fit_and_one_more_does_not(asked: MemoryPlan) -> None:
    found = memory.compute(asked)
    for name, most, bound in (
        ("sequences", found.most_sequences, asked.device),
        ("tokens", found.most_tokens, asked.architecture.longest_context or MOST_TOKENS),
    ):
        assert most <= bound
        assert most == 0 or memory.compute(replace(asked, **{name: most})).within
        assert most == bound or not memory.compute(replace(asked, **{name: most + 1})).within


@given(plans())
def test_the_decision_flips_exactly_at_the_capacity(asked: MemoryPlan) -> None:
    need = whole(memory.compute(asked).fullest.total.most)
    assume(need > 1)
    assert memory.compute(replace(asked, device=need)).within
    assert not memory.compute(replace(asked, device=need - 1)).within


@given(plans(), tokens, sequences)
def test_more_tokens_or_sequences_never_take_less(asked: MemoryPlan, more_tokens: int, more_sequences: int) -> None:
    base = memory.compute(asked)
    longer = memory.compute(replace(asked, tokens=asked.tokens + more_tokens))
    more = memory.compute(replace(asked, sequences=asked.sequences + more_sequences))
    for before, after, wider in zip(base.ranks, longer.ranks, more.ranks, strict=True):
        assert before.kv <= after.kv
        assert before.kv < wider.kv


@given(plans())
def test_kv_grows_as_the_bytes_of_its_elements(asked: MemoryPlan) -> None:
    found = {}
    for kv_format in ("fp8", "bf16", "fp32"):
        changed = replace(asked, kv_format=kv_format)
        if not memory_faults.faults(changed):
            found[kv_format] = [rank.kv / KV[kv_format].bytes for rank in memory.compute(changed).ranks]
    assert found["bf16"] == found["fp32"] == found.get("fp8", found["bf16"])


@given(plans(), st.integers(1, 16))
def test_copies_change_no_rank_and_take_as_much_again(asked: MemoryPlan, copies: int) -> None:
    one = memory.compute(asked)
    many = memory.compute(replace(asked, parallelism=replace(asked.parallelism, data=copies)))
    assert many.ranks == one.ranks
    assert many.all_devices.most == copies * one.all_devices.most


@given(plans())
def test_devices_divide_kv_no_further_than_heads_and_never_latent_rows(asked: MemoryPlan) -> None:
    found = memory.compute(asked)
    stages = stage_layers(len(asked.architecture.attention), asked.parallelism.pipeline)
    for rank, numbers in zip(found.ranks, stages, strict=True):
        own = tuple(asked.architecture.attention[layer] for layer in numbers)
        alone = replace(
            asked, architecture=weightless(*own), parallelism=replace(asked.parallelism, pipeline=1, tensor=1)
        )
        whole = memory.compute(replace(alone, accounting="arithmetic")).fullest.kv_per_token
        assert rank.kv_per_token * asked.parallelism.tensor >= whole
        if all(isinstance(layer, Latent) for layer in own):
            assert rank.kv_per_token == whole


@given(plans(), st.sampled_from(sorted(WEIGHTS)), st.integers(1, 10**12))
def test_the_format_of_the_weights_never_changes_kv(asked: MemoryPlan, stored: str, parameters: int) -> None:
    few = plain.architecture(parameters=1, layers=1, kv_heads=1, head_dim=1)
    many = plain.architecture(parameters=parameters, layers=1, kv_heads=1, head_dim=1)
    heavy = replace(asked, architecture=replace(many, attention=asked.architecture.attention), weight_format=stored)
    light = replace(asked, architecture=replace(few, attention=asked.architecture.attention), weight_format="raw16")
    assert [rank.kv for rank in memory.compute(heavy).ranks] == [rank.kv for rank in memory.compute(light).ranks]


@given(plans("vllm>=0.21", "vllm<0.21", "llama.cpp"))
def test_an_engine_never_takes_less_than_the_arithmetic(asked: MemoryPlan) -> None:
    counted, plainly = memory.compute(asked), memory.compute(replace(asked, accounting="arithmetic"))
    for engine, arithmetic in zip(counted.ranks, plainly.ranks, strict=True):
        assert engine.kv >= arithmetic.kv


@given(plans("vllm>=0.21", "vllm<0.21"), st.integers(1, 2**36))
def test_what_an_engine_would_log_agrees_with_the_decision(asked: MemoryPlan, available: int) -> None:
    asked = replace(asked, reserve=0)
    stages = asked.parallelism.pipeline
    figures = engine_figures(asked, [available] * stages)
    one = figures.blocks / figures.concurrency if figures.blocks else None
    found = memory.compute(replace(asked, device=available, sequences=1))
    assert found.within == all(stage_need(asked, stage, available).starts for stage in range(stages))
    if one is not None:
        assert found.most_sequences == (figures.blocks - 1) // one
    longest = min(stage_need(asked, stage, available).longest for stage in range(stages))
    assert min(found.most_tokens, asked.tokens) == min(longest, asked.architecture.longest_context or longest)


@given(st.integers(1, 500), st.integers(1, 40))
def test_stages_share_all_layers_in_order_and_differ_by_one(count: int, stages: int) -> None:
    parts = stage_layers(count, stages)
    assert len(parts) == stages
    assert [layer for part in parts for layer in part] == list(range(count))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
