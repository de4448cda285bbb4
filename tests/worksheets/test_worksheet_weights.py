"""What the weights take on each rank: what engines logged, and what must hold of any model."""

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.demo.engine import model_path
from gateway.domain.worksheets.fields import EntriesRefused
from gateway.domain.worksheets.memory import sheet as memory_sheet
from gateway.domain.worksheets.memory.stages import Parallelism
from gateway.domain.worksheets.memory.weight_faults import assumed, faults
from gateway.domain.worksheets.memory.weights import on_rank, rank_weights
from gateway.domain.worksheets.models import plain
from gateway.domain.worksheets.models.architecture import Architecture
from gateway.domain.worksheets.models.hf_config import read_config
from gateway.domain.worksheets.models.weight_formats import WEIGHTS
from gateway.domain.worksheets.units import GIB, Interval, shown

HERE = Path(__file__).parent
TEXTS = {path.stem: path.read_text() for path in (HERE / "configs").glob("*.json")}
TEXTS["smollm2-135m"] = (HERE.parents[1] / "registry" / "architectures" / "smollm2-135m.json").read_text()
SMALL = ("made-llama-biases", "made-qwen2-windows", "made-qwen3-moe-dense-layers")
PLAIN = plain.architecture(parameters=8 * 10**9, layers=32, kv_heads=8, head_dim=128)


def model(name: str, **keys: Any) -> Architecture:
    return read_config(json.dumps(json.loads(TEXTS[name]) | keys))


def made(**keys: Any) -> Architecture:
    return model("made-llama-biases", **keys)


def on_one(architecture: Architecture, weight_format: str, tensor: int = 1) -> Interval:
    (found,) = rank_weights(architecture, weight_format, Parallelism(tensor))
    return found


# What engines logged. "GB" in their logs is 2^30 bytes. Sources: the issues named.
LOGGED = [
    pytest.param("llama-3.1-8b", {}, "bf16", 1, "14.96", id="W1 vllm#10511"),
    pytest.param("llama-3.1-8b", {}, "bf16", 1, "14.9888", id="W2 vllm#10517"),
    pytest.param("llama-3.1-8b", {}, "bf16", 2, "7.48", id="W3 vllm#10511"),
    pytest.param("llama-3.1-70b", {}, "int8", 1, "67.7229", id="W4 vllm#12569"),
    # The checkpoint of July 2024 had 16 KV heads.
    pytest.param("llama-3.1-405b", {"num_key_value_heads": 16}, "fp8-feed-forward", 8, "57.752", id="W5 vllm#6746"),
    pytest.param("r1-distill-qwen-14b", {}, "bf16", 2, "13.9476", id="W6 vllm#13061"),
    pytest.param("qwen3-4b", {}, "fp16", 1, "7.6785", id="W9 kyuz0/amd-strix-halo#5"),
]


@pytest.mark.parametrize(("name", "keys", "weight_format", "tensor", "logged"), LOGGED)
def test_weights_are_within_2_5_percent_of_what_engines_logged(
    name: str, keys: dict[str, Any], weight_format: str, tensor: int, logged: str
) -> None:
    found = on_one(model(name, **keys), weight_format, tensor)
    assert found.least == found.most
    assert abs(Fraction(found.most) / GIB / Fraction(logged) - 1) <= Fraction("0.025")


@pytest.mark.parametrize(
    ("name", "keys", "weight_format", "tensor", "formula"),
    [
        pytest.param("llama-3.1-8b", {}, "bf16", 1, "14.9575", id="W1"),
        pytest.param("llama-3.1-8b", {}, "bf16", 2, "7.4790", id="W3"),
        pytest.param("llama-3.1-405b", {"num_key_value_heads": 16}, "fp8-feed-forward", 8, "57.7050", id="W5"),
        pytest.param("llama-3.1-405b", {}, "fp8-feed-forward", 8, "56.7206", id="W5, 8 KV heads"),
        pytest.param("r1-distill-qwen-14b", {}, "bf16", 2, "13.7561", id="W6"),
        pytest.param("gpt-oss-120b", {}, "mxfp4", 1, "60.7677", id="W7"),
    ],
)
def test_weights_are_the_formula_to_the_shown_digits(
    name: str, keys: dict[str, Any], weight_format: str, tensor: int, formula: str
) -> None:
    assert shown(on_one(model(name, **keys), weight_format, tensor).least, GIB, 4) == formula


@pytest.mark.parametrize(
    "logged",
    [pytest.param("64.38", id="W7 vllm#33155, Triton"), pytest.param("65.9651", id="W8 vllm#23278, Marlin")],
)
def test_padded_experts_are_an_interval_that_has_what_engines_logged(logged: str) -> None:
    architecture = model("gpt-oss-120b")
    found = on_one(architecture, "mxfp4")
    assert found.least < Fraction(logged) * GIB < found.most
    # 2,880 is padded to 3,072 on both sides.
    experts = sum(tensor.parameters for tensor in architecture.tensors if tensor.role == "expert")
    assert found.most - found.least == experts * (Fraction(3072, 2880) ** 2 - 1) * Fraction("4.25") / 8


def test_the_padding_is_of_the_part_that_a_rank_holds() -> None:
    found = on_one(model("gpt-oss-120b"), "mxfp4", 8)
    # Of 2,880 rows a rank holds 360, padded to 512.
    experts = 36 * 128 * 3
    assert found.most - found.least == experts * (512 * 3072 - 360 * 2880) * Fraction("4.25") / 8


def test_the_upper_end_is_the_real_file_where_the_head_is_stored_better() -> None:
    # The tensors of SmolLM2-135M-Instruct.Q4_1.gguf: linears Q4_1, embeddings (the head too) Q8_0, norms F32.
    found = on_one(model("smollm2-135m"), "q4_1")
    assert found.most == 66_355_200 + 30_081_024 + 140_544
    assert found.least == 66_355_200 + 28_311_552 * 5 / 8 + 140_544


def test_the_file_of_the_example_registrys_model_has_those_tensors_and_its_vocabulary() -> None:
    size = model_path().stat().st_size
    assert 0 < size - on_one(model("smollm2-135m"), "q4_1").most < 2 * 2**20


def test_long_blocks_are_an_interval_where_a_side_is_uneven() -> None:
    def further(hidden_size: int, **keys: Any) -> Fraction:
        found = on_one(made(tie_word_embeddings=False, vocab_size=1088, hidden_size=hidden_size, **keys), "q4_k")
        # The head: 8.5 bits for 4.5.
        return Fraction(found.most - found.least) - Fraction(1088 * hidden_size * (8 - 4), 8)

    even = {"num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 512}
    assert further(hidden_size=256, **even) == 0
    # Embeddings, four projections and three of the feed forward: one bit a parameter more.
    assert further(hidden_size=288, **even) == (1088 + 3 * (4 * 512 + 3 * 512)) * 288 / 8
    assert further(hidden_size=256, **even | {"intermediate_size": 500}) == 3 * 3 * 500 * 256 / 8


def test_raw_bits_reach_every_tensor() -> None:
    assert on_one(model("llama-3.1-8b"), "raw4").most == 8_030_261_248 // 2
    assert on_one(model("llama-3.1-8b"), "raw16") == on_one(model("llama-3.1-8b"), "bf16")


def test_embeddings_head_norms_and_routers_are_not_quantised() -> None:
    architecture = model("mixtral-8x7b")
    kept = 2 * 32_000 * 4096 + (2 * 32 + 1) * 4096 + 32 * 8 * 4096
    assert on_one(architecture, "fp8").most == (architecture.parameters - kept) + 2 * kept


def test_mxfp4_is_of_experts_alone() -> None:
    dense = model("llama-3.1-8b")
    assert on_one(dense, "mxfp4") == on_one(dense, "bf16")
    assert any("No tensor of this model" in sentence for sentence in assumed(dense, "mxfp4"))
    assert not any("No tensor of this model" in sentence for sentence in assumed(model("gpt-oss-20b"), "mxfp4"))


def rows(architecture: Architecture, name: str, ranks: int) -> int:
    tensor = next(tensor for tensor in architecture.tensors if tensor.name == name)
    return on_rank(tensor, ranks) // tensor.count // tensor.columns


def test_keys_and_values_are_repeated_where_there_are_more_ranks_than_heads() -> None:
    architecture = model("qwen3-30b-a3b")
    assert [rows(architecture, "keys and values", ranks) for ranks in (1, 2, 4, 8, 16)] == [512, 256, 128, 128, 128]
    assert [rows(architecture, "queries", ranks) for ranks in (1, 8)] == [4096, 512]


def test_norms_routers_and_latent_down_projections_are_on_every_rank() -> None:
    architecture = model("deepseek-v3")
    for name, size in (
        ("norms", 7168),
        ("router", 256),
        ("bias of the router", 256),
        ("queries, down", 1536),
        ("keys and values, down", 576),
    ):
        assert rows(architecture, name, 8) == size
    assert rows(architecture, "keys and values, up", 8) == 128 * 256 // 8
    assert rows(architecture, "experts", 8) == 2048 // 8


@pytest.mark.parametrize(
    ("vocabulary", "ranks", "held"),
    [(128, 1, 128), (100, 1, 128), (100, 2, 64), (1000, 4, 256), (1000, 1, 1024), (129, 8, 24)],
)
def test_the_vocabulary_is_padded_to_64_and_then_divided(vocabulary: int, ranks: int, held: int) -> None:
    architecture = made(vocab_size=vocabulary)
    assert rows(architecture, "embeddings", ranks) == rows(architecture, "head", ranks) == held


def test_tied_embeddings_are_copied_to_the_last_stage_and_only_there() -> None:
    tied, untied = made(tie_word_embeddings=True), made(tie_word_embeddings=False)
    assert on_one(untied, "bf16").most - on_one(tied, "bf16").most == 2 * 1024 * 256
    for stages in (2, 3):
        parallelism = Parallelism(pipeline=stages)
        assert rank_weights(tied, "bf16", parallelism) == rank_weights(untied, "bf16", parallelism)


def test_stages_hold_their_own_layers() -> None:
    first, last = rank_weights(model("llama-3.1-8b"), "bf16", Parallelism(pipeline=2))
    assert last.most - first.most == 2 * 4096, "the norm before the head"
    assert first.most + last.most == 2 * 8_030_261_248


def test_plain_numbers_are_shared_evenly_and_it_is_said() -> None:
    (whole,) = rank_weights(PLAIN, "raw16", Parallelism())
    assert whole == Interval(16 * 10**9, 16 * 10**9)
    assert rank_weights(PLAIN, "raw16", Parallelism(2, 4)) == (Interval(2 * 10**9, 2 * 10**9),) * 4
    assert any("all ranks share them evenly" in sentence for sentence in assumed(PLAIN, "raw16"))
    assert not any("evenly" in sentence for sentence in assumed(model("llama-3.1-8b"), "raw16"))


def test_what_is_uncertain_is_said() -> None:
    assert any("pad" in sentence for sentence in assumed(model("gpt-oss-20b"), "mxfp4"))
    assert not any("pad" in sentence for sentence in assumed(model("gpt-oss-20b"), "fp8"))
    assert any("8.5 bits" in sentence for sentence in assumed(model("smollm2-135m"), "q4_1"))
    assert not any("Up to" in sentence for sentence in assumed(model("smollm2-135m"), "q8_0"))
    assert any("one tensor" in sentence for sentence in assumed(model("smollm2-135m"), "bf16"))
    assert any("5.5 bits" in sentence for sentence in assumed(model("smollm2-135m"), "q4_k"))


@pytest.mark.parametrize(
    ("name", "ranks", "what"),
    [
        ("llama-3.1-8b", 3, "32 heads of the queries"),
        ("llama-3.1-8b", 64, "32 heads of the queries"),
        ("smollm2-135m", 2, "9 heads of the queries"),
        ("r1-distill-qwen-14b", 5, "8 heads of the keys and values"),
        ("gpt-oss-120b", 128, "64 heads of the queries"),
        ("deepseek-v2-lite", 32, "16 heads of the queries"),
    ],
)
def test_heads_that_ranks_do_not_divide_are_refused(name: str, ranks: int, what: str) -> None:
    (fault,) = faults(model(name), Parallelism(ranks))
    assert fault.field == "tensor_parallel"
    assert what in fault.sentence
    assert fault.remedy


def test_sizes_that_ranks_do_not_divide_are_refused() -> None:
    (fault,) = faults(made(intermediate_size=510), Parallelism(4))
    assert "510 rows of the feed forward" in fault.sentence


def test_the_worksheet_refuses_them() -> None:
    with pytest.raises(EntriesRefused) as refused:
        memory_sheet.sheet({"config": json.dumps(json.loads(TEXTS["made-llama-biases"]) | {"intermediate_size": 510}),
                            "tensor_parallel": "4"})  # fmt: skip
    assert [fault.field for fault in refused.value.faults] == ["tensor_parallel"]


@pytest.mark.parametrize(("name", "ranks"), [("llama-3.1-8b", 32), ("qwen3-30b-a3b", 8), ("gpt-oss-120b", 8)])
def test_what_engines_do_divide_is_not_refused(name: str, ranks: int) -> None:
    assert faults(model(name), Parallelism(ranks)) == ()


def test_plain_numbers_are_refused_for_no_division() -> None:
    assert faults(PLAIN, Parallelism(3)) == ()


MODELS = st.sampled_from([*SMALL, "llama-3.1-8b", "gpt-oss-20b", "deepseek-v2-lite"]).map(model) | st.just(PLAIN)
PARALLEL = st.builds(Parallelism, st.integers(1, 16), st.integers(1, 3), st.integers(1, 4))
FORMATS = st.sampled_from(sorted(WEIGHTS))
ALIKE = [
    ("raw4", "raw16"),
    *((f"{maker}-g{group}-sym", f"{maker}-g{group}") for maker in ("awq", "gptq") for group in (32, 64, 128)),
    ("awq-g128", "awq-g64"),
    ("awq-g64", "awq-g32"),
    ("awq-g32", "fp8"),
    ("fp8", "fp8-128x128"),
    ("fp8", "int8"),
    ("int8", "fp16"),
    ("q4_0", "q4_1"),
    ("q4_1", "q5_0"),
    ("q5_0", "q5_1"),
    ("q5_1", "q8_0"),
    ("q2_k", "q3_k"),
    ("q3_k", "q4_k"),
    ("q4_k", "q5_k"),
    ("q5_k", "q6_k"),
    ("iq2_xxs", "iq2_xs"),
    ("iq2_xs", "iq2_s"),
    ("iq3_xxs", "iq3_s"),
    ("mxfp4", "bf16"),
]
"""Formats that quantise the same tensors, and the second takes more bits for each."""


def summed(found: Iterable[Interval], ranks: int) -> Fraction:
    return ranks * sum((Fraction(one.least) for one in found), Fraction(0))


@given(MODELS, PARALLEL, st.sampled_from(ALIKE))
def test_more_bits_take_more_bytes(architecture: Architecture, parallelism: Parallelism, pair: tuple[str, str]) -> None:
    less, more = (rank_weights(architecture, name, parallelism) for name in pair)
    for fewer, further in zip(less, more, strict=True):
        assert fewer.least <= further.least
    assert WEIGHTS[pair[0]].bits < WEIGHTS[pair[1]].bits


@given(MODELS, PARALLEL, FORMATS)
def test_data_parallelism_copies_the_weights(architecture: Architecture, parallelism: Parallelism, name: str) -> None:
    alone = Parallelism(parallelism.tensor, parallelism.pipeline)
    assert rank_weights(architecture, name, parallelism) == rank_weights(architecture, name, alone)


@given(MODELS, PARALLEL, FORMATS)
def test_ranks_together_never_hold_less_than_the_whole(
    architecture: Architecture, parallelism: Parallelism, name: str
) -> None:
    whole = on_one(architecture, name).least
    assert summed(rank_weights(architecture, name, parallelism), parallelism.tensor) >= whole
    assert whole >= architecture.parameters * WEIGHTS[name].bits / 8


@given(MODELS, PARALLEL, FORMATS)
def test_each_interval_is_one_and_has_a_stage(architecture: Architecture, parallelism: Parallelism, name: str) -> None:
    found = rank_weights(architecture, name, parallelism)
    assert len(found) == parallelism.pipeline
    assert all(0 < one.least <= one.most for one in found)


@given(MODELS, st.integers(1, 16), st.integers(1, 3), FORMATS)
def test_more_ranks_take_no_more_each(architecture: Architecture, tensor: int, pipeline: int, name: str) -> None:
    fewer = rank_weights(architecture, name, Parallelism(tensor, pipeline))
    more = rank_weights(architecture, name, Parallelism(2 * tensor, pipeline))
    assert all(after.least <= before.least for before, after in zip(fewer, more, strict=True))
