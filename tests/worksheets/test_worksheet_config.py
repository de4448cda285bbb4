"""A config.json is read as what it describes, or refused by a key and a sentence; nothing is guessed."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.worksheets.models.architecture import Architecture, Attention, Full, Latent, Window
from gateway.domain.worksheets.models.hf_config import FAMILIES, read_config
from gateway.domain.worksheets.models.hf_fields import ConfigRefused

HERE = Path(__file__).parent
CONFIGS = HERE / "configs"
TOTALS: dict[str, int] = json.loads((HERE / "parameter_totals.json").read_text())
REGISTERED = HERE.parents[1] / "registry" / "architectures" / "smollm2-135m.json"
READ: dict[str, dict[str, Any]] = {name: json.loads((CONFIGS / f"{name}.json").read_text()) for name in TOTALS}
LLAMA = READ["llama-3.1-8b"]


def read(keys: dict[str, Any]) -> Architecture:
    return read_config(json.dumps(keys))


def changed(name: str, **keys: Any) -> dict[str, Any]:
    return READ[name] | keys


def refusal(keys: dict[str, Any]) -> ConfigRefused:
    with pytest.raises(ConfigRefused) as refused:
        read(keys)
    return refused.value


def test_every_config_that_is_stored_is_tested() -> None:
    assert {path.stem for path in CONFIGS.glob("*.json")} == set(TOTALS)
    assert {keys["model_type"] for keys in READ.values()} == set(FAMILIES)


@pytest.mark.parametrize("name", TOTALS)
def test_the_parameters_are_those_that_transformers_counts(name: str) -> None:
    assert read(READ[name]).parameters == TOTALS[name]


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("llama-3.1-8b", "8.030"),
        ("llama-3.1-70b", "70.554"),
        ("llama-3.1-405b", "405.853"),
        ("qwen3-8b", "8.191"),
        ("qwen3-32b", "32.762"),
        ("qwen3-30b-a3b", "30.532"),
        ("qwen3-235b-a22b", "235.094"),
        ("mixtral-8x7b", "46.703"),
        ("mixtral-8x22b", "140.621"),
        ("gpt-oss-20b", "20.915"),
        ("gpt-oss-120b", "116.829"),
        ("deepseek-v3", "671.026"),
        ("kimi-k2", "1026.408"),
    ],
)
def test_the_totals_are_the_published_ones(name: str, billions: str) -> None:
    assert f"{read(READ[name]).parameters / 10**9:.3f}" == billions


def test_norms_of_queries_and_keys_and_the_routers_bias_are_counted() -> None:
    # Sums that leave them out come to 4,022,458,880 and, in billions, 228.689.
    assert read(READ["qwen3-4b"]).parameters == 4_022_458_880 + 36 * 2 * 128
    assert read(READ["minimax-m2.5"]).parameters == 228_689_748_992 + 62 * 256


def test_the_model_of_the_example_registry_is_read_whole() -> None:
    found = read_config(REGISTERED.read_text())
    assert found.parameters == 134_515_008
    assert found.attention == (Full(3, 64),) * 30
    assert found.tied
    assert found.longest_context == 8192


@pytest.mark.parametrize(
    ("name", "attention"),
    [
        ("llama-3.1-8b", (Full(8, 128),) * 32),
        ("qwen3-235b-a22b", (Full(4, 128),) * 94),
        ("mistral-7b-v0.1", (Window(8, 128, 4096),) * 32),
        ("mixtral-8x7b", (Full(8, 128),) * 32),
        ("gpt-oss-120b", (Window(8, 64, 128), Full(8, 64)) * 18),
        ("gemma-2-2b", (Window(4, 256, 4096), Full(4, 256)) * 13),
        ("gemma-3-1b", ((*(Window(1, 256, 512),) * 5, Full(1, 256)) * 5)[:26]),
        ("made-qwen2-windows", (*(Full(2, 128),) * 3, *(Window(2, 128, 1310),) * 5)),
        ("deepseek-v3", (Latent(512, 64),) * 61),
        ("kimi-k2", (Latent(512, 64),) * 61),
        ("minimax-m2.5", (Full(8, 128),) * 62),
    ],
)
def test_each_layer_keeps_what_its_family_keeps(name: str, attention: tuple[Attention, ...]) -> None:
    assert read(READ[name]).attention == attention


def test_a_window_that_is_switched_off_is_none() -> None:
    assert set(read(READ["r1-distill-qwen-14b"]).attention) == {Full(8, 128)}


@pytest.mark.parametrize("first", [8, 70])
def test_windows_that_begin_after_the_last_layer_are_none(first: int) -> None:
    assert set(read(changed("made-qwen2-windows", max_window_layers=first)).attention) == {Full(2, 128)}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("mistral-7b-v0.1", "sliding_window"),
        ("deepseek-v3", "q_lora_rank"),
        ("deepseek-v3", "n_shared_experts"),
        ("deepseek-v2", "n_shared_experts"),
    ],
)
def test_a_key_that_is_absent_is_no_null_where_the_familys_code_has_a_default(name: str, key: str) -> None:
    refused = refusal({one: value for one, value in READ[name].items() if one != key})
    assert refused.key == key
    assert "has a default" in refused.sentence
    assert read(changed(name, **{key: None})) != read(READ[name])


@pytest.mark.parametrize(
    ("name", "tied"),
    [
        *((name, False) for name in ("llama-3.1-8b", "mistral-7b-v0.1", "phi-3-mini-4k", "r1-distill-qwen-14b")),
        *((name, False) for name in ("qwen3-8b", "mixtral-8x7b", "qwen3-30b-a3b", "gpt-oss-20b", "minimax-m2.5")),
        *((name, False) for name in ("deepseek-v2", "deepseek-v3")),
        *((name, True) for name in ("gemma-2-2b", "gemma-3-1b")),
    ],
)
def test_without_a_word_the_head_is_tied_as_the_familys_class_has_it(name: str, tied: bool) -> None:
    # transformers 5.24, tie_word_embeddings of AutoConfig.for_model(model_type).
    assert read({key: value for key, value in READ[name].items() if key != "tie_word_embeddings"}).tied is tied


@pytest.mark.parametrize(
    ("name", "keys", "context"),
    [
        ("llama-3.1-8b", {"rope_scaling": {"type": "linear", "factor": 4.0}}, 4 * 131072),
        ("llama-3.1-8b", {"rope_scaling": {"rope_type": "dynamic", "factor": 1.5}}, 196608),
        ("llama-3.1-8b", {"rope_scaling": None, "rope_parameters": {"rope_type": "linear", "factor": 2}}, 2 * 131072),
        ("llama-3.1-8b", {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 131072),
        ("qwen3-8b", {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, 40960),
        ("deepseek-v3", {}, 163840),
        ("gemma-3-1b", {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}, 32768),
        ("llama-3.1-8b", {"max_position_embeddings": None, "rope_scaling": {"type": "linear", "factor": 4.0}}, None),
    ],
)
def test_the_window_is_what_the_positions_come_to(name: str, keys: dict[str, Any], context: int | None) -> None:
    assert read(changed(name, **keys)).longest_context == context


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("linear", "rope_scaling"),
        ({"type": 3}, "type"),
        ({"type": "linear"}, "factor"),
        *(({"type": "linear", "factor": factor}, "factor") for factor in (0, 0.5, -2, True, "4", 10**5, [4])),
    ],
)
def test_positions_that_cannot_be_read_are_refused(section: Any, key: str) -> None:
    assert refusal(LLAMA | {"rope_scaling": section}).key == key


def test_layer_types_are_believed_before_the_familys_custom() -> None:
    kinds = ["full_attention"] * 26
    assert read(changed("gemma-2-2b", layer_types=kinds)).attention == (Full(4, 256),) * 26


def test_experts_are_told() -> None:
    assert (read(READ["gpt-oss-120b"]).experts, read(READ["gpt-oss-120b"]).experts_per_token) == (128, 4)
    assert read(LLAMA).experts == 0


def test_what_the_config_describes_and_the_tensors_leave_out_is_said() -> None:
    assert any("multi-token prediction" in sentence for sentence in read(READ["deepseek-v3"]).left_out)
    assert any("multi-token prediction" in sentence for sentence in read(READ["minimax-m2.5"]).left_out)
    assert not any("multi-token prediction" in sentence for sentence in read(READ["kimi-k2"]).left_out)


@pytest.mark.parametrize(
    ("section", "stored"),
    [
        (None, None),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8-128x128"),
        ({"quant_method": "fp8", "weight_block_size": [64, 64]}, "fp8"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "awq-g128"),
        ({"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": False}, "awq-g64-sym"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": True}, "gptq-g32-sym"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": False}, "gptq-g32"),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "gptq"),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "gptq"),
        ({"quant_algo": "FP8"}, "fp8"),
        ({"ignore": []}, "an unnamed format"),
    ],
)
def test_the_format_that_the_config_names_is_told(section: Any, stored: str | None) -> None:
    assert read(LLAMA | {"quantization_config": section}).stored_format == stored


@pytest.mark.parametrize(
    "key",
    [
        "model_type",
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "vocab_size",
    ],
)
@pytest.mark.parametrize("absent", ["dropped", "null"])
def test_a_missing_field_is_named(key: str, absent: str) -> None:
    keys = {name: value for name, value in LLAMA.items() if name != key}
    refused = refusal(keys if absent == "dropped" else LLAMA | {key: None})
    assert (refused.key, refused.sentence) == (key, "The config.json lacks it.")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("qwen3-8b", "head_dim"),
        ("gemma-2-2b", "head_dim"),
        ("gpt-oss-20b", "layer_types"),
        ("gpt-oss-20b", "num_experts_per_tok"),
        ("mixtral-8x7b", "num_local_experts"),
        ("qwen3-30b-a3b", "moe_intermediate_size"),
        ("deepseek-v3", "kv_lora_rank"),
        ("deepseek-v3", "first_k_dense_replace"),
        ("made-qwen2-windows", "max_window_layers"),
    ],
)
def test_what_a_family_needs_besides_is_named_too(name: str, key: str) -> None:
    assert refusal({one: value for one, value in READ[name].items() if one != key}).key == key


@pytest.mark.parametrize("value", [0, -1, 2**40, 10**400, 4096.0, 1.5, True, "4096", [4096], {}])
@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "num_key_value_heads", "max_position_embeddings"])
def test_what_is_no_count_is_refused(key: str, value: Any) -> None:
    assert refusal(LLAMA | {key: value}).key == key


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("hidden_size", LLAMA | {"hidden_size": 4097}),
        ("num_key_value_heads", LLAMA | {"num_key_value_heads": 7}),
        ("head_dim", LLAMA | {"head_dim": 127}),
        ("attention_bias", LLAMA | {"attention_bias": 1}),
        ("layer_types", changed("gpt-oss-20b", layer_types=["full_attention"] * 23)),
        ("layer_types", changed("gpt-oss-20b", layer_types=["full_attention"] * 25)),
        ("layer_types", changed("gpt-oss-20b", layer_types=["linear_attention"] * 24)),
        ("layer_types", changed("gpt-oss-20b", layer_types="full_attention")),
        ("layer_types", changed("gpt-oss-20b", layer_types=[1] * 24)),
        ("layer_types", changed("qwen3-8b", layer_types=["sliding_attention"] * 36, sliding_window=4096)),
        ("mlp_only_layers", changed("qwen3-30b-a3b", mlp_only_layers=3)),
        ("mlp_only_layers", changed("qwen3-30b-a3b", mlp_only_layers=["3"])),
        ("sliding_window", changed("gpt-oss-20b", sliding_window=None)),
        ("sliding_window", changed("gemma-2-2b", sliding_window=0)),
        ("sliding_window", changed("made-qwen2-windows", sliding_window=None)),
        ("num_experts_per_tok", changed("mixtral-8x7b", num_experts_per_tok=9)),
        ("num_local_experts", changed("mixtral-8x7b", num_local_experts=4097)),
        ("first_k_dense_replace", changed("deepseek-v3", first_k_dense_replace=62)),
        ("qk_rope_head_dim", changed("deepseek-v3", qk_rope_head_dim=63)),
        ("quantization_config", LLAMA | {"quantization_config": "fp8"}),
        ("quant_method", LLAMA | {"quantization_config": {"quant_method": 8}}),
        ("model_type", LLAMA | {"model_type": 3}),
        ("model_type", LLAMA | {"model_type": "llama\n<script>"}),
    ],
)
def test_contradictions_are_refused_by_the_key(key: str, keys: dict[str, Any]) -> None:
    refused = refusal(keys)
    assert refused.key == key
    assert "script" not in str(refused)


@pytest.mark.parametrize(
    ("keys", "feature"),
    [
        ({"mamba_d_state": 128}, "Mamba layers"),
        ({"is_encoder_decoder": True}, "an encoder and a decoder"),
        ({"num_kv_shared_layers": 20}, "keys and values that layers share"),
        ({"attention_chunk_size": 8192}, "chunked attention"),
        ({}, "not modelled."),
    ],
)
def test_an_unknown_family_is_refused_with_what_its_keys_say(keys: dict[str, Any], feature: str) -> None:
    refused = refusal({"model_type": "brand_new"} | keys)
    assert refused.key == "model_type"
    assert "brand_new" in refused.sentence
    assert feature in refused.sentence


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("kv_lora_rank", 512, "Latent attention"),
        ("q_lora_rank", 1536, "Latent attention"),
        ("num_kv_shared_layers", 4, "Keys and values that layers share"),
        ("attention_chunk_size", 8192, "Chunked attention"),
        ("mamba_d_state", 16, "Mamba layers"),
        ("linear_num_key_heads", 16, "Linear attention"),
        ("num_nextn_predict_layers", 1, "Multi-token prediction"),
        ("index_topk", 2048, "Sparse attention"),
        ("compress_ratios", [4], "Compressed attention"),
        ("global_head_dim", 512, "Layers with different heads"),
        ("num_local_experts", 8, "Experts"),
        ("moe_intermediate_size", 768, "Experts"),
        ("sliding_window", 4096, "Windows and kinds of layers"),
        ("cross_attention_layers", [3], "Cross-attention"),
        ("is_encoder_decoder", True, "An encoder and a decoder"),
        ("vision_config", {"depth": 2}, "Parts besides a decoder of text"),
        ("block_configs", [{"attention": None}], "Layers of different kinds"),
        ("hidden_size_per_layer_input", 256, "Embeddings of each layer"),
        ("extra_layers", 2, "Nothing in llama is known"),
        ("head_dims", [64, 128], "Nothing in llama is known"),
        ("memory_tokens", 12, "Nothing in llama is known"),
    ],
)
def test_a_key_that_may_change_the_sums_does_not_pass_silently(key: str, value: Any, said: str) -> None:
    refused = refusal(LLAMA | {key: value})
    assert refused.key == key
    assert refused.sentence.startswith(said)


def test_a_key_that_cannot_be_repeated_is_not() -> None:
    refused = refusal(LLAMA | {"<script>": 1})
    assert refused.key == "?"


@pytest.mark.parametrize("value", [None, False, 0, [], ""])
def test_a_feature_that_is_switched_off_is_none(value: Any) -> None:
    assert read(LLAMA | {"attention_chunk_size": value}) == read(LLAMA)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("transformers.js_config", {"dtype": "q4"}),
        ("_attn_implementation_autoset", True),
        ("torch_dtype", "bfloat16"),
        ("rope_scaling", {"factor": 8.0}),
        ("hidden_act", "silu"),
        ("num_return_sequences", 1),
        ("unsloth_fixed", True),
        ("license", "mit"),
    ],
)
def test_a_key_that_changes_nothing_passes(key: str, value: Any) -> None:
    assert read(LLAMA | {key: value}) == read(LLAMA)


@pytest.mark.parametrize("key", ["sliding_window_pattern", "_sliding_window_pattern"])
def test_the_pattern_of_gemma_3_goes_by_two_names(key: str) -> None:
    keys = {name: value for name, value in READ["gemma-3-1b"].items() if "pattern" not in name}
    assert read(keys) == read(READ["gemma-3-1b"])
    assert read(keys | {key: 2}).attention == (Window(1, 256, 512), Full(1, 256)) * 13


def test_a_window_that_is_missing_is_told_with_the_layers_that_want_it() -> None:
    assert "layers with a sliding window" in refusal(changed("gpt-oss-20b", sliding_window=None)).sentence


def test_sparse_and_linear_layers_of_modelled_families_are_refused() -> None:
    assert refusal(changed("minimax-m2.7", attn_type_list=[1, 0] * 31)).key == "attn_type_list"
    assert refusal(changed("deepseek-v3", index_topk=2048)).key == "index_topk"
    assert refusal(changed("deepseek-v3", moe_layer_freq=2)).key == "moe_layer_freq"
    assert "Biases of latent attention" in refusal(changed("deepseek-v3", attention_bias=True)).sentence
    assert refusal(changed("qwen3-30b-a3b", use_sliding_window=True)).key == "use_sliding_window"


def test_tensors_that_a_config_switches_off_are_not_counted() -> None:
    minimax, deepseek = TOTALS["minimax-m2.5"], TOTALS["deepseek-v3"]
    assert minimax - read(changed("minimax-m2.5", use_qk_norm=False)).parameters == 62 * (48 + 8) * 128
    assert minimax - read(changed("minimax-m2.5", use_routing_bias=False)).parameters == 62 * 256
    assert deepseek - read(changed("deepseek-v3", n_shared_experts=None)).parameters == 58 * 3 * 7168 * 2048
