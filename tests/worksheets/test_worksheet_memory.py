"""Weights, KV and reserve of plans whose answers can be said beforehand."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from kv_support import model, plan, weightless
from msgspec.structs import replace

from gateway.domain.worksheets.memory import faults as memory_faults
from gateway.domain.worksheets.memory import how as memory_how
from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.memory.accounting import in_flight, step_tokens
from gateway.domain.worksheets.memory.engine_figures import engine_figures, figures_of_blocks, stage_need
from gateway.domain.worksheets.memory.kv_formats import KV, token_bytes
from gateway.domain.worksheets.memory.plan import MOST_TOKENS, MemoryPlan
from gateway.domain.worksheets.memory.vllm_groups import layer_groups
from gateway.domain.worksheets.models import plain
from gateway.domain.worksheets.models.architecture import Attention, Full, Latent, Window
from gateway.domain.worksheets.units import GIB, KIB, MIB, shown

EIGHT_BILLION = plain.architecture(parameters=8 * 10**9, layers=32, kv_heads=8, head_dim=128)
ROW = Latent(512, 64)
HEADS = Full(8, 128)
NEW, OLD, ARITHMETIC, CELLS = "vllm>=0.21", "vllm<0.21", "arithmetic", "llama.cpp"


def worked(**changed: object) -> MemoryPlan:
    return plan(EIGHT_BILLION, **({"sequences": 8, "reserve": 4 * GIB} | changed))


def kv(asked: MemoryPlan) -> int | Fraction:
    return memory.compute(asked).fullest.kv


@pytest.mark.parametrize(
    ("changed", "weights", "states", "total", "within"),
    [
        ({}, "14.90", "4.00", "22.90", True),
        ({"tokens": 8192}, "14.90", "8.00", "26.90", False),
        ({"weight_format": "raw4"}, "3.73", "4.00", "11.73", True),
        ({"device": 16 * GIB}, "14.90", "4.00", "22.90", False),
        ({"device": 16 * GIB, "sequences": 1}, "14.90", "0.50", "19.40", False),
    ],
    ids=["baseline", "twice the tokens", "four bits", "16 GiB", "one sequence in 16 GiB"],
)
def test_the_worked_example(changed: dict[str, object], weights: str, states: str, total: str, within: bool) -> None:
    found = memory.compute(worked(**changed))
    assert found.fullest.kv_per_token == 128 * KIB
    assert shown(found.fullest.weights.most, GIB) == weights
    assert shown(found.fullest.kv, GIB) == states
    assert shown(found.fullest.total.most, GIB) == total
    assert found.within is within
    assert found.headroom == found.plan.device - found.fullest.total.most


@pytest.mark.parametrize(
    ("kv_format", "of_heads", "of_row"),
    [
        ("fp16", 4096, 1152),
        ("bf16", 4096, 1152),
        ("fp32", 8192, 2304),
        ("fp8", 2048, 576),
        ("int8", 2048, 576),
        ("fp8_per_token_head", 2048 + 8 * 8, 576 + 8),
        ("int8_per_token_head", 2048 + 8 * 8, 576 + 8),
        ("int4_per_token_head", 1024 + 8 * 8, 288 + 8),
        ("nvfp4", 1024 + 128, None),
        ("fp8_ds_mla", None, 656),
        ("nvfp4_ds_mla", None, 352),
        ("q8_0", 2176, 612),
        ("q5_1", 1536, 432),
        ("q5_0", 1408, 396),
        ("q4_1", 1280, 360),
        ("q4_0", 1152, 324),
        ("iq4_nl", 1152, 324),
    ],
)
def test_bytes_of_a_token_in_each_format(kv_format: str, of_heads: int | None, of_row: int | None) -> None:
    for layer, size in ((HEADS, of_heads), (ROW, of_row)):
        asked = plan(weightless(layer), kv_format=kv_format)
        if size is None:
            assert [fault.field for fault in memory_faults.faults(asked)] == ["kv_format"]
        else:
            assert memory_faults.faults(asked) == ()
            assert token_bytes(layer, KV[kv_format], 1) == size


def test_every_format_has_a_source_and_a_test() -> None:
    (mark,) = test_bytes_of_a_token_in_each_format.pytestmark
    assert [case[0] for case in mark.args[1]] == list(KV)
    assert all(one.source for one in KV.values())


@dataclass(frozen=True)
class Refused:
    """A plan that is refused, by which field and in which words."""

    asked: MemoryPlan
    field: str
    words: str


@pytest.mark.parametrize(
    "refused",
    [
        Refused(plan(weightless(HEADS), tensor=3), "tensor_parallel", "8 KV heads and 3 devices"),
        Refused(plan(weightless(HEADS), tensor=12), "tensor_parallel", "8 KV heads and 12 devices"),
        Refused(plan(weightless(HEADS, Full(2, 64)), tensor=4, accounting=CELLS), "tensor_parallel", "llama.cpp"),
        Refused(plan(weightless(HEADS), pipeline=2), "pipeline_parallel", "2 stages are more than the 1 layers"),
        Refused(plan(weightless(HEADS), kv_format="q8_0", accounting=NEW), "kv_format", "accounting vllm>=0.21 knows"),
        Refused(plan(weightless(HEADS), kv_format="fp8", accounting=CELLS), "kv_format", "accounting llama.cpp knows"),
        Refused(plan(weightless(HEADS), kv_format="nvfp4", accounting=OLD), "kv_format", "accounting vllm<0.21 knows"),
        Refused(plan(weightless(HEADS), kv_format="fp8_ds_mla"), "kv_format", "latent rows of 512 + 64"),
        Refused(plan(weightless(Latent(256, 64)), kv_format="fp8_ds_mla"), "kv_format", "latent rows of 512 + 64"),
        Refused(plan(weightless(ROW, HEADS), kv_format="fp8_ds_mla"), "kv_format", "latent rows of 512 + 64"),
        Refused(plan(weightless(ROW), kv_format="nvfp4"), "kv_format", "no latent rows"),
        Refused(plan(weightless(Full(8, 80)), kv_format="q4_0"), "kv_format", "multiple of 32 elements"),
        Refused(plan(weightless(Full(8, 72)), kv_format="nvfp4"), "kv_format", "multiple of 16 elements"),
        Refused(plan(weightless(HEADS, Window(3, 128, 64)), accounting=OLD), "accounting", "not modelled"),
    ],
    ids=lambda refused: refused.words,
)
def test_what_engines_do_not_do_is_refused_by_the_name_of_its_field(refused: Refused) -> None:
    (fault,) = memory_faults.faults(refused.asked)
    assert fault.field == refused.field
    assert refused.words in fault.sentence
    assert fault.remedy


def test_fewer_heads_than_devices_are_copied_and_a_latent_row_is_never_divided() -> None:
    asked = plan(weightless(HEADS, ROW), tokens=100)
    sizes = [kv(replace(asked, parallelism=replace(asked.parallelism, tensor=ranks))) for ranks in (1, 2, 8, 16, 64)]
    assert sizes == [100 * (heads * 512 + 1152) for heads in (8, 4, 1, 1, 1)]


def test_each_stage_holds_its_own_layers_and_the_fullest_decides() -> None:
    found = memory.compute(plan(weightless(*(HEADS,) * 7), pipeline=3, device=3 * 4096 * 4096 - 1))
    assert [rank.layers for rank in found.ranks] == [2, 3, 2]
    assert [rank.kv for rank in found.ranks] == [layers * 4096 * 4096 for layers in (2, 3, 2)]
    assert found.fullest is found.ranks[1]
    assert not found.within
    assert found.most_tokens == 4095


def test_copies_take_as_much_again_and_change_no_rank() -> None:
    one, three = (memory.compute(worked(tensor=2, pipeline=2, data=copies)) for copies in (1, 3))
    assert three.ranks == one.ranks
    assert three.within == one.within
    assert three.all_devices.most == 3 * one.all_devices.most
    assert one.all_devices.most == 2 * sum(rank.total.most for rank in one.ranks)


def test_arithmetic_keeps_just_the_window() -> None:
    asked = plan(weightless(HEADS, Window(8, 128, 1000)), sequences=3)
    assert kv(asked) == 3 * 4096 * (4096 + 1000)
    assert kv(replace(asked, tokens=999)) == 3 * 4096 * (999 + 999)


def test_vllm_rounds_to_blocks_and_holds_one_back() -> None:
    asked = plan(weightless(*(HEADS,) * 4), tokens=17, sequences=5, accounting=NEW)
    assert kv(asked) == (5 * 2 + 1) * 4 * 16 * 4096


def test_a_window_keeps_what_is_in_flight_and_a_block_more() -> None:
    local = Window(8, 128, 1000)
    asked = plan(weightless(local), tokens=50_000, accounting=NEW, batched_tokens=2048)
    # Two steps under way at one stage, three at two stages, and one before 0.21.
    assert stage_need(asked, 0, 0).needed == (-(-(999 + 2 * 2048) // 16) + 1) * 16 * 4096
    assert stage_need(replace(asked, accounting=OLD), 0, 0).needed == (-(-(999 + 2048) // 16) + 1) * 16 * 4096
    staged = plan(weightless(local, local), pipeline=2, tokens=50_000, accounting=NEW, batched_tokens=2048)
    assert stage_need(staged, 1, 0).needed == (-(-(999 + 3 * 2048) // 16) + 1) * 16 * 4096
    assert stage_need(replace(asked, tokens=100), 0, 0).needed == (-(-100 // 16) + 1) * 16 * 4096


@pytest.mark.parametrize(
    ("full", "local", "groups"),
    [
        (10, 20, [10, 10, 10]),
        (12, 13, [12, 13]),
        (10, 15, [10, 8, 7]),
        (9, 13, [9, 13]),
        (10, 52, [10, 9, 9, 9, 9, 8, 8]),
    ],
    ids=["one to two", "nearly even", "half as many again is too many", "just below", "padding"],
)
def test_layers_are_grouped_by_kind(full: int, local: int, groups: list[int]) -> None:
    attention: tuple[Attention, ...] = (HEADS,) * full + (Window(8, 128, 64),) * local
    found = layer_groups(attention, KV["bf16"], 1, 16)
    assert [len(group.pages) for group in found] == groups
    assert sorted(layer for group in found for layer in group.pages) == list(range(full + local))


def test_smaller_pages_get_longer_blocks_or_an_empty_rest() -> None:
    half, odd = Window(4, 128, 64), Window(3, 128, 64)
    even = layer_groups((HEADS, half), KV["bf16"], 1, 16)
    assert [(group.block, set(group.pages.values())) for group in even] == [(16, {65536}), (32, {65536})]
    padded = layer_groups((HEADS, odd), KV["bf16"], 1, 16)
    assert [(group.block, set(group.pages.values())) for group in padded] == [(16, {65536}), (16, {65536})]


def test_beside_latent_rows_that_cannot_be_padded_windows_are_kept_whole() -> None:
    (group,) = layer_groups((ROW, Window(5, 64, 256)), KV["bf16"], 1, 16)
    assert group.window is None
    assert group.pages == {0: 16 * 1152, 1: 16 * 1280}


def test_latent_rows_that_divide_the_page_keep_the_windows() -> None:
    found = layer_groups((ROW, Window(9, 128, 256)), KV["bf16"], 1, 16)
    assert [(group.block, group.window) for group in found] == [(64, None), (16, 256)]


def test_the_figure_of_tokens_changed_with_0_21_at_equal_memory() -> None:
    asked = plan(model("gpt-oss-20b"), tokens=131072, accounting=OLD, batched_tokens=2048)
    available = [10 * GIB]
    old, new = engine_figures(asked, available), engine_figures(replace(asked, accounting=NEW), available)
    assert old.blocks == new.blocks == 10 * GIB // (12 * 16 * 2048)
    assert old.tokens == old.blocks // 2 * 16
    assert new.tokens == int(new.concurrency * 131072)
    assert new.tokens > 1.8 * old.tokens


def test_only_vllm_has_figures_of_blocks() -> None:
    for accounting in (ARITHMETIC, CELLS):
        with pytest.raises(ValueError, match="Only vLLM"):
            figures_of_blocks(plan(weightless(HEADS), accounting=accounting), 1)


@pytest.mark.parametrize(
    ("tokens", "sequences", "full", "local"),
    [(131072, 2, 131072, 768), (1, 1, 256, 256), (257, 3, 512, 512), (600, 1, 768, 768)],
)
def test_llama_cpp_has_cells_for_every_sequence(tokens: int, sequences: int, full: int, local: int) -> None:
    asked = plan(weightless(HEADS), accounting=CELLS, tokens=tokens, sequences=sequences)
    assert kv(asked) == sequences * full * 4096
    windowed = replace(asked, architecture=weightless(Window(8, 128, 128)))
    assert kv(windowed) == sequences * local * 4096


def test_llama_cpp_stores_a_latent_row_once() -> None:
    assert kv(plan(weightless(ROW), accounting=CELLS, kv_format="q8_0")) == 4096 * 612


def test_the_engines_defaults_stand_in_for_the_tokens_of_a_step() -> None:
    devices = (24 * GIB, 80 * GIB, 180 * GIB)
    assert [step_tokens(NEW, device) for device in devices] == [2048, 8192, 16384]
    assert [step_tokens(CELLS, device) for device in devices] == [512] * 3
    assert in_flight(NEW, None, 1, 24 * GIB) == 4096
    assert in_flight(NEW, 100, 4, 24 * GIB) == 500
    assert in_flight(OLD, 100, 4, 24 * GIB) == 100


def test_the_search_for_tokens_ends_at_the_models_context_or_where_numbers_end() -> None:
    roomy = plan(weightless(HEADS, longest=32768), device=GIB)
    assert memory.compute(roomy).most_tokens == 32768
    assert memory.compute(replace(roomy, architecture=weightless(HEADS))).most_tokens == 262144
    assert memory.compute(replace(roomy, architecture=weightless(Window(8, 128, 64)))).most_tokens == MOST_TOKENS


def test_nothing_fits_where_the_weights_do_not() -> None:
    found = memory.compute(worked(device=8 * GIB))
    assert (found.within, found.most_sequences, found.most_tokens) == (False, 0, 0)
    assert found.headroom < 0


def test_how_llama_cpp_counts_its_output_is_said_where_devices_share_the_layers() -> None:
    notes = {
        (accounting, stages): memory.compute(plan(weightless(*(HEADS,) * 4), accounting=accounting, pipeline=stages))
        for accounting in (ARITHMETIC, CELLS)
        for stages in (1, 2)
    }
    said = {asked for asked, found in notes.items() if any("output counts as a layer" in one for one in found.assumed)}
    assert said == {(CELLS, 2)}


def test_the_longest_context_says_where_the_search_for_it_ends() -> None:
    windows = plan(weightless(Window(8, 128, 64)), tokens=100)
    assert memory.compute(windows).most_tokens == memory.MOST_TOKENS
    told = memory_how.most_tokens(memory.compute(windows))
    assert told == "1,000,000,000 tokens: 262,144 B; more were not looked for"


@pytest.mark.parametrize("accounting", [ARITHMETIC, NEW, OLD, CELLS])
def test_what_is_assumed_and_left_out_is_said(accounting: str) -> None:
    mixed = plan(weightless(HEADS, Window(8, 128, 64)), accounting=accounting)
    notes = memory.compute(mixed)
    assert len(notes.assumed) >= 3
    assert len(notes.left_out) >= 5
    assert any("default" in note for note in notes.assumed) == (accounting != ARITHMETIC)
    entered = memory.compute(replace(mixed, batched_tokens=100))
    assert not any("default" in note for note in entered.assumed)


def test_the_search_is_quick_however_much_memory_there_is() -> None:
    found = memory.compute(worked(device=10**5 * GIB, accounting=NEW))
    of_one = 256 * 2 * MIB
    spare = 10**5 * GIB - 4 * GIB - 16 * 10**9
    assert found.most_sequences == (spare - 2 * MIB) // of_one
    assert found.most_tokens == (spare - 2 * MIB) // (8 * 2 * MIB) * 16
