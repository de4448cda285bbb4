"""A Hugging Face config.json as an architecture, or a refusal that names the key. Nothing is guessed."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec
from msgspec import structs

from gateway.domain.worksheets.models import hf_dense, hf_experts, hf_latent
from gateway.domain.worksheets.models.architecture import Architecture
from gateway.domain.worksheets.models.hf_fields import Config, ConfigRefused, repeatable
from gateway.domain.worksheets.models.hf_rope import longest_context
from gateway.domain.worksheets.models.hf_stored import stored_format
from gateway.domain.worksheets.models.hf_unmodelled import refusal_of_family, refuse_parts, refuse_unread

MOST_BYTES = 2**20

FAMILIES: Mapping[str, Callable[[Config, str], Architecture]] = MappingProxyType(
    {
        "llama": hf_dense.llama,
        "mistral": hf_dense.mistral,
        "phi3": hf_dense.phi3,
        "qwen2": hf_dense.qwen2,
        "qwen3": hf_dense.qwen3,
        "gemma2": hf_dense.gemma2,
        "gemma3_text": hf_dense.gemma3,
        "mixtral": hf_experts.mixtral,
        "qwen3_moe": hf_experts.qwen3_moe,
        "gpt_oss": hf_experts.gpt_oss,
        "minimax_m2": hf_experts.minimax_m2,
        "deepseek_v2": hf_latent.deepseek_v2,
        "deepseek_v3": hf_latent.deepseek_v3,
        "kimi_k2": hf_latent.deepseek_v3,
    }
)
"""By ``model_type``."""


def read_config(text: str) -> Architecture:
    """The architecture that a config.json describes.

    :raises ConfigRefused: naming the key that is missing, wrong, contradicts another or is not modelled.
    """
    config = Config(_object(text))
    family = config.name("model_type")
    refuse_parts(family, config, FAMILIES)
    if family not in FAMILIES:
        raise refusal_of_family(family, config, FAMILIES)
    found = FAMILIES[family](config, family)
    context = longest_context(config, family)
    stored = stored_format(config)
    refuse_unread(family, config)
    return structs.replace(found, longest_context=context, stored_format=stored)


def _object(text: str) -> dict[str, object]:
    remedy = "Enter the config.json that lies beside the model's weights."
    try:
        encoded = text.encode()
        if len(encoded) > MOST_BYTES:
            raise ConfigRefused("", f"The config.json is larger than {MOST_BYTES:,} bytes.", remedy)
        found = msgspec.json.decode(encoded)
        # That takes the last of equal keys, which nobody may have meant.
        json.loads(text, object_pairs_hook=_once)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ConfigRefused("", "This is not JSON, which has no NaN and no Infinity either.", remedy) from None
    if not isinstance(found, dict):
        raise ConfigRefused("", "This is not a JSON object.", remedy)
    return found


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, in which every key stands once.

    :raises ConfigRefused: naming the first that stands there again.
    """
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ConfigRefused(repeatable(key), "It stands there more than once.", "Keep one of them.")
        found[key] = value
    return found
