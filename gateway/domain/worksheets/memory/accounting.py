"""Whose rules say how much KV memory so many tokens take."""

from typing import Literal

from gateway.domain.worksheets.units import GIB

Accounting = Literal["arithmetic", "vllm>=0.21", "vllm<0.21", "llama.cpp"]
"""``arithmetic``: bytes per token times tokens, no blocks. ``vllm``: blocks out of one pool for all groups of layers.
``llama.cpp``: cells, set aside for every sequence at the start."""

VLLM: frozenset[Accounting] = frozenset({"vllm>=0.21", "vllm<0.21"})
LLAMA_STEP = 512
"""llama.cpp's default of n_ubatch."""


def in_flight(accounting: Accounting, batched_tokens: int | None, pipeline: int, device: int) -> int:
    """Tokens that are under way at once, which the caches of windows hold besides their window.

    vLLM since 0.21 has a step under way in every stage and prepares one more; earlier versions counted one step, and
    so does llama.cpp. Source: vllm/config/vllm.py, max_in_flight_tokens and max_concurrent_batches (0.32), with
    asynchronous scheduling, which is its default.
    """
    steps = pipeline + 1 if accounting == "vllm>=0.21" else 1
    return steps * (step_tokens(accounting, device) if batched_tokens is None else batched_tokens)


def step_tokens(accounting: Accounting, device: int) -> int:
    """Tokens of one step over all sequences, where nobody said.

    vLLM's server takes them from the device's bytes; some devices get fewer, so this is the larger need.
    Source: vllm/engine/arg_utils.py, get_batch_defaults (0.32); llama.cpp, common/common.h, n_ubatch.
    """
    if accounting == "llama.cpp":
        return LLAMA_STEP
    if device >= 160 * GIB:
        return 16384
    return 8192 if device >= 70 * GIB else 2048
