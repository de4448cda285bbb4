"""Formats of KV states, as bytes per element, each with its source."""

from collections.abc import Iterable
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from gateway.domain.worksheets.fields import EntryFault
from gateway.domain.worksheets.memory.accounting import VLLM, Accounting
from gateway.domain.worksheets.models.architecture import Attention, Latent
from gateway.domain.worksheets.units import Exact

DS_RANK, DS_ROPE = 512, 64
"""The latent row whose bytes the formats ``*_ds_mla`` fix."""
ONLY_ARITHMETIC: frozenset[Accounting] = frozenset({"arithmetic"})
ONLY_NEW_VLLM: frozenset[Accounting] = frozenset({"arithmetic", "vllm>=0.21"})
ONLY_VLLM = ONLY_ARITHMETIC | VLLM
ONLY_LLAMA: frozenset[Accounting] = frozenset({"arithmetic", "llama.cpp"})
EVERY = ONLY_VLLM | ONLY_LLAMA


class KvFormat(Struct, frozen=True, kw_only=True):
    """How keys and values are stored."""

    bytes: Fraction
    """Per element, with the scales of its block; 0 where ``row`` says all."""
    scales: int = 0
    """Bytes of scales beside the key and the value of one head and token, or beside one latent row."""
    row: int | None = None
    """Bytes of a whole latent row of 512 + 64 elements."""
    multiple: int = 1
    """Elements of a head, or of a latent row, come in multiples of this."""
    layout: Literal["any", "heads", "latent"] = "any"
    """Which layers can be stored so."""
    engines: frozenset[Accounting]
    """Whose accounting knows it."""
    source: str


def _ggml(size: int, *, multiple: int = 32) -> KvFormat:
    source = "ggml/src/ggml-common.h, bytes of a block of 32 elements; cache types of llama.cpp, common/arg.cpp"
    return KvFormat(bytes=Fraction(size, 32), multiple=multiple, engines=ONLY_LLAMA, source=source)


def _per_token_head(bits: int) -> KvFormat:
    source = "vllm 0.32, TritonAttentionBackend.customize_spec and MLACommonBackend.customize_spec: two fp32 scales"
    return KvFormat(bytes=Fraction(bits, 8), scales=8, multiple=8 // bits, engines=ONLY_NEW_VLLM, source=source)


def _ds_mla(row: int, engines: frozenset[Accounting]) -> KvFormat:
    source = "vllm 0.32, MLAAttention.get_kv_cache_spec and flashmla_sparse.py"
    return KvFormat(bytes=Fraction(0), row=row, layout="latent", engines=engines, source=source)


KV = MappingProxyType(
    {
        "fp16": KvFormat(bytes=Fraction(2), engines=EVERY, source="IEEE 754, 16 bits an element"),
        "bf16": KvFormat(bytes=Fraction(2), engines=EVERY, source="bfloat16, 16 bits an element"),
        "fp32": KvFormat(bytes=Fraction(4), engines=EVERY, source="IEEE 754, 32 bits an element"),
        "fp8": KvFormat(bytes=Fraction(1), engines=ONLY_VLLM, source="vllm 0.32, CacheDType fp8: scales per tensor"),
        "int8": KvFormat(
            bytes=Fraction(1), engines=ONLY_ARITHMETIC, source="TensorRT-LLM, int8 KV cache: one scale per tensor"
        ),
        "fp8_per_token_head": _per_token_head(8),
        "int8_per_token_head": _per_token_head(8),
        "int4_per_token_head": _per_token_head(4),
        "nvfp4": KvFormat(
            bytes=Fraction(9, 16),
            multiple=16,
            layout="heads",
            engines=ONLY_NEW_VLLM,
            source="vllm 0.32, nvfp4_kv_cache_full_dim: 4 bits an element and a scale of 8 bits for each 16",
        ),
        "fp8_ds_mla": _ds_mla(656, ONLY_VLLM),
        "nvfp4_ds_mla": _ds_mla(352, ONLY_NEW_VLLM),
        "q8_0": _ggml(34),
        "q5_1": _ggml(24),
        "q5_0": _ggml(22),
        "q4_1": _ggml(20),
        "q4_0": _ggml(18),
        "iq4_nl": _ggml(18),
    }
)


def rank_heads(kv_heads: int, tensor: int) -> int:
    """KV heads on one rank. With more ranks than heads each rank holds a copy of one."""
    return max(1, kv_heads // tensor)


def token_bytes(layer: Attention, kv_format: KvFormat, tensor: int) -> Exact:
    """Bytes of one token in one layer on one rank. A latent row serves all heads, so no rank holds a part of it.

    Source: vllm/v1/kv_cache_interface.py, AttentionSpec.unpadded_page_size_bytes (0.32), for a block of one token.
    """
    if isinstance(layer, Latent):
        if kv_format.row is not None:
            return kv_format.row
        return (layer.rank + layer.rope_dim) * kv_format.bytes + kv_format.scales
    return rank_heads(layer.kv_heads, tensor) * (2 * layer.head_dim * kv_format.bytes + kv_format.scales)


def format_fault(name: str, attention: Iterable[Attention], accounting: Accounting) -> EntryFault | None:
    """What stands against storing these layers so, in the field kv_format."""
    kv_format, layers = KV[name], set(attention)
    if accounting not in kv_format.engines:
        sentence = f"{name} is no KV format that the accounting {accounting} knows."
        known = ", ".join(one for one, known in KV.items() if accounting in known.engines)
        return EntryFault("kv_format", sentence, f"Choose one of {known}, or another accounting.")
    latent = [layer for layer in layers if isinstance(layer, Latent)]
    heads = [layer for layer in layers if not isinstance(layer, Latent)]
    if kv_format.layout == "latent" and (heads or {(one.rank, one.rope_dim) for one in latent} != {(DS_RANK, DS_ROPE)}):
        sentence = f"{name} stores latent rows of {DS_RANK} + {DS_ROPE} elements, and these layers are others."
        return EntryFault("kv_format", sentence, "Choose another format, such as bf16 or fp8.")
    if kv_format.layout == "heads" and latent:
        return EntryFault("kv_format", f"{name} stores no latent rows.", "Choose another format, such as bf16 or fp8.")
    sizes = [one.rank + one.rope_dim for one in latent] + [one.head_dim for one in heads]
    if any(size % kv_format.multiple for size in sizes):
        sentence = f"{name} needs a multiple of {kv_format.multiple} elements in a head or row, and these are others."
        return EntryFault("kv_format", sentence, "Choose another format, such as fp16.")
    return None
