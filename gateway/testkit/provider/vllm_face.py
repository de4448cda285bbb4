"""What vLLM tells of itself, as far as the gateway reads it. tests/transport/recorded/vllm has what it really says."""

from typing import Any

import msgspec
from msgspec import Struct


class VllmFace(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What of it no other engine tells."""

    version: str = "0.32.0"
    kv_tokens: int | None = None
    """Tokens in the KV cache; None: as many as all slots have."""
    prefix_caching: bool = True
    lists_models: bool = True
    """False: as an engine that has not loaded any yet."""


def models(face: VllmFace, alias: str, root: str, context: int) -> dict[str, Any]:
    """The document under /v1/models."""
    model = {"id": alias, "object": "model", "owned_by": "vllm", "root": root, "parent": None, "max_model_len": context}
    return {"object": "list", "data": [model] if face.lists_models else []}


def version(face: VllmFace) -> bytes:
    """The body under /version."""
    return msgspec.json.encode({"version": face.version})


def metrics(face: VllmFace, *, context: int, slots: int) -> bytes:
    """The body under /metrics: the line about the cache, between others."""
    tokens = context * slots if face.kv_tokens is None else face.kv_tokens
    info = f'block_size="16",enable_prefix_caching="{face.prefix_caching}",engine="0",kv_cache_size_tokens="{tokens}"'
    return f"""\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0",model_name="scripted"}} 0.0
# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{{{info}}} 1.0
""".encode()
