"""What vLLM's /metrics says of its KV caches, one for each engine core: how large, in which blocks and format."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from prometheus_client.parser import text_string_to_metric_families

from adapters.transport.wire_result import Answered
from gateway.domain.capacity import PlannedCapacity
from gateway.domain.profile import Engine

Other = Literal["other_block_size", "other_kv_format", "other_prefix_cache"]

_CACHE_INFO = "vllm:cache_config_info"
_KV_FORMATS = {
    "float16": ("fp16",),
    "bfloat16": ("bf16",),
    "fp8": ("fp8", "fp8_ds_mla"),
    "fp8_e4m3": ("fp8",),
    "fp8_e5m2": ("fp8",),
    "fp8_inc": ("fp8",),
    "nvfp4_4over6": ("nvfp4",),
    # Of the same name in both.
    **{name: (name,) for name in ("fp8_ds_mla", "nvfp4_ds_mla", "nvfp4")},
    **{name: (name,) for name in (f"{kind}_per_token_head" for kind in ("fp8", "int8", "int4"))},
}
"""Formats of the memory worksheet that a cache_dtype can be. ``auto``, and others that are not here, do not say."""
_LINE_LENGTH = 4096
_LINES_LENGTH = 2**17
"""Characters that are parsed, of a line and of all: a line has some 1,100. An odd megabyte would hold up everything
else in this process for ten seconds, at every look."""


class Cache(Struct):
    """Labels of vLLM's cache_config_info, one line per engine core."""

    kv_cache_size_tokens: Annotated[int, Meta(ge=0, le=2**53)]
    enable_prefix_caching: Literal["True", "False"]
    block_size: str = ""
    """Empty, as in earlier versions, or no number: not said."""
    cache_dtype: str = "auto"


def caches(answered: Answered | None) -> tuple[Cache, ...]:
    """Empty: what the engine says of its caches could not be read."""
    if answered is None or answered.status != 200:
        return ()
    try:
        # Only these lines: the other hundreds are not ours to judge, and parsing them takes milliseconds.
        lines = [line for line in answered.body.decode().split("\n") if line.startswith(_CACHE_INFO + "{")]
        if sum(map(len, lines)) > _LINES_LENGTH or any(len(line) > _LINE_LENGTH for line in lines):
            return ()
        samples = (s for family in text_string_to_metric_families("\n".join(lines) + "\n") for s in family.samples)
        return tuple(msgspec.convert(sample.labels, Cache, strict=False) for sample in samples)
    except ValueError:
        return ()


def other_than_approved(engine: Engine, cache: Cache) -> Other | None:
    """What of a cache is not as approved, apart from its size. Blocks and format are where the size was computed."""
    planned = engine.capacity
    if isinstance(planned, PlannedCapacity):
        if cache.block_size.isdecimal() and cache.block_size != str(planned.block_tokens):
            return "other_block_size"
        if engine.kv_format not in _KV_FORMATS.get(cache.cache_dtype, (engine.kv_format,)):
            return "other_kv_format"
    if (cache.enable_prefix_caching == "False") != (engine.prefix_cache == "off"):
        return "other_prefix_cache"
    return None
