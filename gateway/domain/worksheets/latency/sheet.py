"""The latency worksheet: what is read, and its figures in words."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from gateway.domain.worksheets import entered, measured
from gateway.domain.worksheets.fields import Entries
from gateway.domain.worksheets.latency import entered_floors as latency_floors
from gateway.domain.worksheets.latency import figures as latency_figures
from gateway.domain.worksheets.latency import times as latency
from gateway.domain.worksheets.latency.fields import FIELDS, HARDWARE, MODEL
from gateway.domain.worksheets.latency.times import LatencyPlan
from gateway.domain.worksheets.sheet import Sheet

_MOST_S = Decimal(10**9)
_MEASURABLE = entered.measurable(FIELDS)
_ONLY_FLOORS = frozenset((*MODEL, *HARDWARE, "device_tensor_parallel", "sequences"))
_ASSUMED = (
    "Decode takes as many steps as there are output tokens, n and not n - 1; all of them are equally long.",
    "The parts follow each other; none overlaps with another.",
)
_LITTLE = "Active sequences are the arrival rate times prefill and decode: one that waits in the queue is not active."
_LEFT_OUT = (
    "The way to the caller and back, retries, and the start of an engine that is not running.",
    "How much the times of single requests differ: one number for each part says nothing of the slowest.",
)
_NO_FLOORS = "Physical floors: neither bandwidth_gb_per_s nor peak_tflops was entered."


def sheet(texts: Mapping[str, str]) -> Sheet:
    """The worksheet of what was entered, defaults for the rest.

    :raises EntriesRefused: with every fault, each naming its field.
    """
    entries = Entries(FIELDS, texts)
    rests_on = measured.read_measured(entries, _MEASURABLE)
    plan = read(entries)
    floors = latency_floors.read(entries, plan.output_tokens)
    entries.close()
    found, has_floors = latency.compute(plan), any(map(entries.has, HARDWARE))
    shown = {name: field for name, field in _MEASURABLE.items() if has_floors or name not in _ONLY_FLOORS}
    return Sheet(
        worksheet="latency",
        figures=latency_figures.figures(plan, found, floors, rests_on),
        verdict=latency_figures.verdict(plan, found, floors),
        tables=(entered.table(entries, shown, rests_on),),
        assumed=(
            *_ASSUMED,
            *((_LITTLE,) if found.active is not None else ()),
            *latency_figures.below_floors(plan, floors),
            *(latency_floors.ASSUMED if has_floors else ()),
        ),
        left_out=(*_LEFT_OUT, latency_floors.LEFT_OUT if has_floors else _NO_FLOORS),
    )


def read(entries: Entries) -> LatencyPlan:
    """The plan. Faults are noted in ``entries``; with any of them it means nothing."""
    return LatencyPlan(
        queue=_seconds(entries, "queue_s"),
        verification=_seconds(entries, "verification_s"),
        retrieval=_seconds(entries, "retrieval_s"),
        prefill=_seconds(entries, "prefill_s"),
        output_tokens=entries.count("output_tokens", most=10**9),
        per_token=_seconds(entries, "per_token_s"),
        persist=_seconds(entries, "persist_s"),
        slo=_seconds(entries, "slo_s"),
        arrival_per_s=Fraction(entries.decimal("arrival_per_s")) if entries.has("arrival_per_s") else None,
    )


def _seconds(entries: Entries, name: str) -> Fraction:
    return Fraction(entries.decimal(name, most=_MOST_S))
