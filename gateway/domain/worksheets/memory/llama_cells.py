"""KV memory as llama.cpp sets it aside: cells for every sequence, whole contexts at the start."""

from collections.abc import Hashable

from msgspec import Struct

from gateway.domain.worksheets.units import Exact

PADDING = 256
"""Cells come in multiples of it."""


class Cells(Struct, frozen=True):
    """A sequence has a cell per token of its context, and in layers with a window one per token of window and step.

    Source: llama.cpp, src/llama-context.cpp (n_ctx_seq) and src/llama-kv-cache-iswa.cpp (size_swa), a cache per
    sequence (not kv_unified), the window's cache not of full size (not swa_full).
    """

    stages: tuple[tuple[tuple[Exact, int | None], ...], ...]
    """Of each stage, per different window: bytes of one cell in all its layers."""
    step: int
    """Tokens of one step, n_ubatch."""

    def stage_bytes(self, stage: int, tokens: int, sequences: int) -> Exact:
        """On the devices of a stage, with so many sequences of so many tokens each."""
        return sequences * sum((size * self.cells(tokens, window) for size, window in self.stages[stage]), 0)

    def of_stage(self, stage: int) -> Hashable:
        """Its layers."""
        return self.stages[stage]

    def cells(self, tokens: int, window: int | None) -> int:
        """Of one sequence in one layer."""
        whole = _padded(tokens)
        return whole if window is None else _padded(min(whole, window + self.step))


def _padded(tokens: int) -> int:
    return -(-tokens // PADDING) * PADDING
