"""The floors of the latency worksheet: what is read for them, where hardware was entered."""

from decimal import Decimal
from fractions import Fraction

from msgspec import Struct

from gateway.domain.worksheets.fields import Entries
from gateway.domain.worksheets.latency import floors, model
from gateway.domain.worksheets.latency.fields import HARDWARE
from gateway.domain.worksheets.latency.floors import Model
from gateway.domain.worksheets.memory import fields as memory_fields
from gateway.domain.worksheets.memory.kv_formats import KV

_GIGA, _TERA = 10**9, 10**12
_LEAST = Decimal("0.001")
_MOST = Decimal(10**9)
ASSUMED = (
    "Floor, not forecast: no step is faster than its bytes at the entered bandwidth, no prefill than its arithmetic at "
    "the entered peak; real ones are slower.",
    "A step reads all weights but the input embedding; of experts as many as its sequences need, if all are chosen "
    "equally often.",
    "A sequence has cached its input and, on average over the steps, half of its output.",
    "The output head is counted for every token of the prompt; an engine that skips it for all but the last can be "
    "faster by its share.",
)
LEFT_OUT = "In floors: the arithmetic of attention, traffic between devices, kernels that fall short of the peak."


class Floors(Struct, frozen=True, kw_only=True):
    """Seconds below which no engine gets on this hardware; None: nothing was entered for it."""

    per_token: Fraction | None = None
    prefill: Fraction | None = None


def read(entries: Entries, output_tokens: int) -> Floors:
    """The floors of what was entered; without hardware none. Faults are noted in ``entries``."""
    if not any(map(entries.has, HARDWARE)):
        return Floors()
    model = _model(entries)
    input_tokens = entries.count("input_tokens", most=10**9)
    sequences = entries.count("sequences", most=10**6)
    bandwidth, peak = (_rate(entries, name) for name in HARDWARE)
    if model is None or not entries.is_sound:
        return Floors()
    return Floors(
        per_token=floors.per_token(
            model, bandwidth * _GIGA, input_tokens=input_tokens, output_tokens=output_tokens, sequences=sequences
        )
        if bandwidth is not None
        else None,
        prefill=floors.prefill(model, peak * _TERA, input_tokens=input_tokens) if peak is not None else None,
    )


def _rate(entries: Entries, name: str) -> Fraction | None:
    return Fraction(entries.decimal(name, least=_LEAST, most=_MOST)) if entries.has(name) else None


def _model(entries: Entries) -> Model | None:
    weight_format = memory_fields.weight_format(entries)
    architecture = model.architecture(entries)
    if architecture is None:
        return None
    kv_format = model.kv_format(entries, architecture)
    ranks = model.tensor_parallel(entries, architecture)
    return floors.model(architecture, weight_format, KV[kv_format], ranks) if entries.is_sound else None
