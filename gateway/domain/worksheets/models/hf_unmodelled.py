"""Layouts that are refused by name: what the keys of a config.json say that no word of an architecture stands for."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from gateway.domain.worksheets.models.hf_fields import MEASURE, Config, ConfigRefused

_FEATURES = (
    (r"is_encoder_decoder|(num_)?encoder_layers|(num_)?decoder_layers", "an encoder and a decoder"),
    (r"cross_attention.*|add_cross_attention", "cross-attention"),
    (r"attention_chunk_size", "chunked attention"),
    (r"num_kv_shared_layers|use_cla|cla_.*|.*kv_shar.*|yoco.*", "keys and values that layers share"),
    (r"(mamba|ssm)_.*|.*_ssm_.*|hybrid_override_pattern|.*state_(size|dim)|time_step_.*", "Mamba layers"),
    (r"linear_(attn|attention|conv|key|num|value).*|lightning.*|full_attention_interval|rwkv.*", "linear attention"),
    (r"index_.*|indexer_.*|sparse_attention.*|moba.*|dsa_.*", "sparse attention"),
    (r"compress_.*|.*compress_rat.*|o_lora_rank", "compressed attention"),
    (r"kv_lora_rank|q_lora_rank|qk_rope_head_dim|qk_nope_head_dim|v_head_dim", "latent attention"),
    (r"swa_.*|global_head_dim|num_global_.*|hybrid_layer_pattern|attention_k_eq_v", "layers with different heads"),
    (r"block_configs|layers_block_type|(num|n)_.*per_layer|layer_block.*", "layers of different kinds"),
    (r"hidden_size_per_layer_input|vocab_size_per_layer_input", "embeddings of each layer"),
    (r"n_routed_experts|n_shared_experts|num_(local_)?experts|shared_expert.*|shared_intermediate_size", "experts"),
    (r"moe_.*|.*_moe_.*|.*experts_per_tok.*", "experts"),
    (r"num_nextn_predict_layers|.*mtp.*", "multi-token prediction"),
    (r".*sliding.*|.*window.*|layer_types", "windows and kinds of layers"),
    (r"pruned_heads|text_config|.*(vision|audio|visual)_(config|tower).*", "parts besides a decoder of text"),
)
"""The first whose pattern matches a whole key names what the key is about."""

_KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "bert": "an encoder",
        "bamba": "Mamba layers",
        "bart": "an encoder and a decoder",
        "deepseek_v32": "sparse attention",
        "deepseek_v4": "compressed attention",
        "falcon_h1": "Mamba layers",
        "gemma3n": "keys and values that layers share",
        "gemma3n_text": "keys and values that layers share",
        "gemma4": "layers with different heads",
        "gemma4_text": "layers with different heads",
        "glm_moe_dsa": "sparse attention",
        "granitemoehybrid": "Mamba layers",
        "jamba": "Mamba layers",
        "kimi_k3": "linear attention",
        "kimi_linear": "linear attention",
        "llama4": "chunked attention",
        "llama4_text": "chunked attention",
        "mamba": "Mamba layers",
        "mamba2": "Mamba layers",
        "mimo_v2_flash": "layers with different heads",
        "minimax": "linear attention",
        "minimax_m3": "sparse attention",
        "minimax_text_01": "linear attention",
        "mllama": "cross-attention",
        "nemotron-nas": "layers of different kinds",
        "nemotron_h": "Mamba layers",
        "qwen3_5": "linear attention",
        "qwen3_5_moe": "linear attention",
        "qwen3_next": "linear attention",
        "rwkv": "linear attention",
        "t5": "an encoder and a decoder",
        "whisper": "an encoder and a decoder",
        "zamba2": "Mamba layers",
    }
)
"""By ``model_type``, what is not modelled of it."""

_HARMLESS = re.compile(
    r"architectures|auto_map|transformers_version|_name_or_path|name_or_path|model_max_length|pretraining_tp|ep_size"
    r"|.*dtype|.*_token(_id|_index)?|.*_token_ids?|hidden_act|hidden_activation|.*dropout|.*_pdrop|initializer_range"
    r"|.*norm_eps(ilon)?|norm_topk_prob|router_.*|output_router_logits|output_attentions|output_hidden_states|aux_loss.*"
    r"|rope_.*|rotary_.*|partial_rotary_factor|original_max_position_embeddings|initial_context_length|max_position.*"
    r"|n_group|topk_group|topk_method|scoring_func|routed_scaling_factor|seq_aux|.*_logit_softcapping"
    r"|query_pre_attn_scalar|use_cache|return_dict|is_decoder|is_llama_config|use_bidirectional_attention|cache_implementation"
    r"|swiglu_.*|_?attn_implementation.*|num_beams|num_beam_groups|num_return_sequences|num_labels|id2label|label2id|problem_type|torchscript"
    r"|transformers\.js_config|unsloth_.*|model_type|tokenizer_class|task_specific_params|chunk_size_feed_forward"
)
"""Keys that change no tensor and nothing that is kept per token, in every family that is modelled."""

_SUSPECT = re.compile(
    r".*(layer|head|attn|attention|window|mamba|ssm|conv|linear|kv|lora|expert|moe|mlp|ffn|index|compress|chunk|mtp"
    r"|nextn|predict|rank|hidden|intermediate|cross|block|size|dim|sink|share|memory|state|recurr|bias|norm|gate|embed"
    r"|depth|num_|n_|cache|encoder|decoder|config).*",
    re.IGNORECASE,
)
"""Words of sizes and layouts. A key with one of them, which nothing has read, may change the sums."""


def refusal_of_family(family: str, config: Config, modelled: Collection[str]) -> ConfigRefused:
    """Why a model type is not read: what it is known for, or what a key of it says."""
    feature = _KNOWN.get(family) or next((what for key in config.unread() if (what := _strange(key))), None)
    because = f": it has {feature}" if feature else ""
    sentence = f"The layout of {family} is not modelled{because}."
    return ConfigRefused("model_type", sentence, f"{MEASURE} Modelled are {', '.join(modelled)}.")


def refuse_parts(family: str, config: Config, modelled: Collection[str]) -> None:
    """Of a model with several parts none is read: the weights of the others would be missing unseen.

    :raises ConfigRefused: if the text part is a section of its own.
    """
    section = config.section("text_config")
    if section is None:
        return
    within = section.name("model_type")
    if within not in modelled:
        raise refusal_of_family(within, section, modelled)
    sentence = f"A model of several parts is not modelled ({family}, with a text part of type {within})."
    remedy = "Enter what stands under text_config by itself, and add the other parts to the reserve."
    raise ConfigRefused("text_config", sentence, remedy)


def refuse_unread(family: str, config: Config) -> None:
    """Nothing that may change the sums passes silently.

    :raises ConfigRefused: for the first key that says something, was not read and is not known to be harmless.
    """
    for key in config.unread():
        if _HARMLESS.fullmatch(key):
            continue
        feature = _feature(key)
        if feature is not None:
            raise ConfigRefused(key, f"{_initial(feature)} in {family}: this layout is not modelled.", MEASURE)
        if _SUSPECT.fullmatch(key) or key == "?":
            sentence = f"Nothing in {family} is known to go by this key, and it may change what is held in memory."
            raise ConfigRefused(key, sentence, "Take it out if it does not.")


def _strange(key: str) -> str | None:
    """What a key is about, unless that alone would be modelled."""
    feature = _feature(key)
    return None if feature in ("experts", "windows and kinds of layers", "multi-token prediction") else feature


def _feature(key: str) -> str | None:
    return next((what for pattern, what in _FEATURES if re.fullmatch(pattern, key)), None)


def _initial(text: str) -> str:
    return text[:1].upper() + text[1:]
