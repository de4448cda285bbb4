"""Bits per parameter of each weight format, exactly."""

from fractions import Fraction

import pytest

from gateway.domain.worksheets.models.weight_formats import WEIGHTS

# gguf 0.19.0: {t.name.lower(): GGML_QUANT_SIZES[t] for t in GGMLQuantizationType}, parameters and bytes of a block.
GGML_QUANT_SIZES = {
    "q4_0": (32, 18),
    "q4_1": (32, 20),
    "q5_0": (32, 22),
    "q5_1": (32, 24),
    "q8_0": (32, 34),
    "q2_k": (256, 84),
    "q3_k": (256, 110),
    "q4_k": (256, 144),
    "q5_k": (256, 176),
    "q6_k": (256, 210),
    "iq2_xxs": (256, 66),
    "iq2_xs": (256, 74),
    "iq3_xxs": (256, 98),
    "iq4_nl": (32, 18),
    "iq3_s": (256, 110),
    "iq2_s": (256, 82),
    "iq4_xs": (256, 136),
    "mxfp4": (32, 17),
    "nvfp4": (64, 36),
}
BITS = {
    "raw16": "16",
    "raw4": "4",
    "fp16": "16",
    "bf16": "16",
    "fp8": "8",
    "fp8-128x128": "8.001953125",
    "fp8-feed-forward": "8",
    "int8": "8.0078125",
    "awq-g128": "4.15625",
    "awq-g64": "4.3125",
    "awq-g32": "4.625",
    "awq-g128-sym": "4.125",
    "awq-g64-sym": "4.25",
    "awq-g32-sym": "4.5",
    "gptq-g128": "4.15625",
    "gptq-g64": "4.3125",
    "gptq-g32": "4.625",
    "gptq-g128-sym": "4.125",
    "gptq-g64-sym": "4.25",
    "gptq-g32-sym": "4.5",
    "q8_0": "8.5",
    "q6_k": "6.5625",
    "q5_k": "5.5",
    "q4_k": "4.5",
    "q4_0": "4.5",
    "q4_1": "5",
    "iq4_xs": "4.25",
    "q3_k": "3.4375",
    "q2_k": "2.625",
    "mxfp4": "4.25",
    "nvfp4": "4.5",
}


@pytest.mark.parametrize(("name", "bits"), BITS.items())
def test_bits_are_exact(name: str, bits: str) -> None:
    assert WEIGHTS[name].bits == Fraction(bits)


@pytest.mark.parametrize(("name", "sizes"), GGML_QUANT_SIZES.items())
def test_types_of_gguf_have_the_bits_of_their_blocks(name: str, sizes: tuple[int, int]) -> None:
    parameters, size = sizes
    assert WEIGHTS[name].bits == Fraction(8 * size, parameters)


def test_every_format_is_tested() -> None:
    assert set(WEIGHTS) == set(BITS) | set(GGML_QUANT_SIZES)


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_format_says_its_source_and_what_it_quantises(name: str) -> None:
    form = WEIGHTS[name]
    assert form.source
    assert form.roles
    assert name == name.lower()


def test_only_raw_bits_and_halves_reach_every_tensor() -> None:
    assert {name for name, form in WEIGHTS.items() if "other" in form.roles} == {"raw16", "raw4", "fp16", "bf16"}


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("q6_k", "q8_0"),
        ("q5_k", "q5_1"),
        ("q4_k", "q5_0"),
        ("iq4_xs", "iq4_nl"),
        ("q3_k", "iq4_nl"),
        ("q2_k", "iq4_nl"),
    ],
)
def test_long_blocks_have_a_type_in_their_place(name: str, instead: str) -> None:
    assert WEIGHTS[name].uneven_bits == WEIGHTS[instead].bits


def test_short_blocks_need_none() -> None:
    assert WEIGHTS["q4_1"].uneven_bits is None
