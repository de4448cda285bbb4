"""Formats of weights, as bits per parameter, each with its source.

A quantised class takes ``b + (scale bits + zero point bits) / group`` bits a parameter.
"""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct

from gateway.domain.worksheets.models.architecture import Role

_EVERY: frozenset[Role] = frozenset(("linear", "feed_forward", "expert", "embedding", "head", "other"))
_LINEARS: frozenset[Role] = frozenset(("linear", "feed_forward", "expert"))
_FEED_FORWARD: frozenset[Role] = frozenset(("feed_forward", "expert"))
_EXPERTS: frozenset[Role] = frozenset(("expert",))
_GGUF: frozenset[Role] = _LINEARS | {"embedding", "head"}
_Q8_0 = Fraction(34 * 8, 32)
LONG_BLOCK = 256


class WeightFormat(Struct, frozen=True, kw_only=True):
    """How weights are stored. Roles that it does not quantise stay at ``other_bits``."""

    bits: Fraction
    """Per parameter, scales and zero points included."""
    other_bits: Fraction
    source: str
    roles: frozenset[Role] = _LINEARS
    """What is quantised."""
    spares_ends: bool = False
    """The first and the last layer are not quantised."""
    pads_experts: bool = False
    """Kernels may lay out the experts with both dimensions padded, so that loading takes more than the file."""
    head_bits: Fraction | None = None
    """At most so many for whatever is the output head, which tools often store better; None: as its role says."""
    uneven_bits: Fraction | None = None
    """At most so many for quantised tensors with a side that is no multiple of 256; None: as any."""


def _even(bits: int, source: str) -> WeightFormat:
    return WeightFormat(bits=Fraction(bits), other_bits=Fraction(bits), source=source, roles=_EVERY)


def _linears(bits: Fraction, source: str) -> WeightFormat:
    return WeightFormat(bits=bits, other_bits=Fraction(16), source=source)


def _grouped(maker: str, group: int, *, symmetric: bool) -> WeightFormat:
    points = "no zero points" if symmetric else "a zero point of 4 bits"
    bits = 4 + Fraction(16 if symmetric else 16 + 4, group)
    return _linears(bits, f"{maker}: 4 bits, a scale of 16 bits and {points} for each {group} parameters of a linear")


def _gguf(block: int, size: int) -> WeightFormat:
    bits = Fraction(size * 8, block)
    return WeightFormat(
        bits=bits,
        # Norms and routers are kept as F32.
        other_bits=Fraction(32),
        source=f"gguf 0.19.0, GGML_QUANT_SIZES: {size} bytes for each {block} parameters",
        roles=_GGUF,
        # llama.cpp raises the head to Q6_K, and that to Q8_0 where its sides are no multiple of 256 (llama-quant.cpp).
        head_bits=max(bits, _Q8_0),
        uneven_bits=_instead(bits) if block == LONG_BLOCK else None,
    )


def _instead(bits: Fraction) -> Fraction:
    """Of the type with short blocks that llama.cpp takes in place of one with blocks of 256 (llama-quant.cpp)."""
    block, size = next(_GGUF_TYPES[name] for least, name in _IN_PLACE_OF if bits >= least)
    return Fraction(size * 8, block)


_GGUF_TYPES = {
    "q8_0": (32, 34),
    "q6_k": (256, 210),
    "q5_k": (256, 176),
    "q5_1": (32, 24),
    "q5_0": (32, 22),
    "q4_1": (32, 20),
    "q4_k": (256, 144),
    "q4_0": (32, 18),
    "iq4_nl": (32, 18),
    "iq4_xs": (256, 136),
    "q3_k": (256, 110),
    "iq3_s": (256, 110),
    "iq3_xxs": (256, 98),
    "q2_k": (256, 84),
    "iq2_s": (256, 82),
    "iq2_xs": (256, 74),
    "iq2_xxs": (256, 66),
}
"""Parameters and bytes of a block."""
_IN_PLACE_OF = ((Fraction(13, 2), "q8_0"), (Fraction(11, 2), "q5_1"), (Fraction(9, 2), "q5_0"), (Fraction(0), "iq4_nl"))
"""From so many bits on; the first counts: Q6_K, Q5_K, Q4_K, and all that are smaller."""

WEIGHTS: Mapping[str, WeightFormat] = MappingProxyType(
    {
        "raw16": _even(16, "16 bits for every parameter"),
        "raw4": _even(4, "4 bits for every parameter, no scales"),
        "fp16": _even(16, "IEEE 754 binary16 for every parameter"),
        "bf16": _even(16, "bfloat16 for every parameter"),
        "fp8": _linears(Fraction(8), "8 bits for a parameter of a linear; one scale for each tensor is not counted"),
        "fp8-128x128": _linears(
            8 + Fraction(32, 128 * 128), "DeepSeek-V3: 8 bits, a scale of 32 bits for each 128 x 128 of a linear"
        ),
        "fp8-feed-forward": WeightFormat(
            bits=Fraction(8),
            other_bits=Fraction(16),
            source="Llama 3.1 405B FP8: 8 bits for feed-forward linears, but not of the first and the last layer",
            roles=_FEED_FORWARD,
            spares_ends=True,
        ),
        "int8": _linears(
            8 + Fraction(32, 4096), "8 bits, a scale of 32 bits for each channel of a linear, taken as 4,096 wide"
        ),
        **{
            f"{name}-g{group}{'-sym' if symmetric else ''}": _grouped(maker, group, symmetric=symmetric)
            for name, maker in (("awq", "AWQ"), ("gptq", "GPTQ"))
            for group in (32, 64, 128)
            for symmetric in (False, True)
        },
        **{name: _gguf(block, size) for name, (block, size) in _GGUF_TYPES.items()},
        "mxfp4": WeightFormat(
            bits=4 + Fraction(8, 32),
            other_bits=Fraction(16),
            source="OCP MX: 4 bits, a scale of 8 bits for each 32 parameters; gpt-oss stores its experts so",
            roles=_EXPERTS,
            pads_experts=True,
        ),
        "nvfp4": WeightFormat(
            bits=4 + Fraction(8, 16),
            other_bits=Fraction(16),
            source="NVFP4: 4 bits, a scale of 8 bits for each 16 parameters of a linear",
            pads_experts=True,
        ),
    }
)
"""By id. ``raw16`` and ``raw4`` are the raw weight bits of the worksheet."""
