"""What an engine tells of its own time. It is not trusted: what cannot be true is not told."""

from typing import Any

from msgspec import Struct

_LONGEST_MS = 86_400_000
"""A day. No call takes longer, and a larger number might be none that a float can hold."""


class EngineTimes(Struct, frozen=True, kw_only=True):
    """Seconds of one call, as the engine counted them. None: it does not say."""

    queue_s: float | None = None
    """Until it began."""
    prefill_s: float | None = None
    """Reading the prompt, up to the first token."""
    decode_s: float | None = None
    """From the first token to the last."""

    def within(self, call_s: float) -> "EngineTimes | None":
        """These times, or None where together they are longer than the whole call was."""
        told = sum(part for part in (self.queue_s, self.prefill_s, self.decode_s) if part is not None)
        return self if told <= call_s else None


def engine_times(*, queue_ms: Any = None, prefill_ms: Any = None, decode_ms: Any = None) -> EngineTimes | None:
    """Times as an engine reports them, in milliseconds; None where it reports none that can be true."""
    queue_s, prefill_s, decode_s = _seconds(queue_ms), _seconds(prefill_ms), _seconds(decode_ms)
    if queue_s is None and prefill_s is None and decode_s is None:
        return None
    return EngineTimes(queue_s=queue_s, prefill_s=prefill_s, decode_s=decode_s)


def _seconds(ms: Any) -> float | None:
    """Finite, not negative and a number, which a bool is not."""
    return ms / 1000 if type(ms) in (int, float) and 0 <= ms <= _LONGEST_MS else None
