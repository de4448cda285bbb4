"""The figures of the latency worksheet and its verdict."""

from fractions import Fraction

from gateway.domain.worksheets import decimals
from gateway.domain.worksheets.latency.entered_floors import Floors
from gateway.domain.worksheets.latency.times import Latency, LatencyPlan
from gateway.domain.worksheets.measured import Measured
from gateway.domain.worksheets.sheet import Figure, Verdict

FLOOR = "floor, not forecast"


def figures(plan: LatencyPlan, found: Latency, floors: Floors, rests_on: Measured) -> dict[str, Figure]:
    """In the order of time; floors and active sequences only where something was entered for them."""
    seen = seconds(found.first_token + plan.per_token)
    return {
        "before": _computed(
            "Queue, verification and retrieval", found.before, _sum(plan.queue, plan.verification, plan.retrieval)
        ),
        "prefill": _entered("Prefill", plan.prefill, rests_on, "prefill_s"),
        "first_token": _computed(
            "First token",
            found.first_token,
            f"{_sum(found.before, plan.prefill)}; with its own decode step {seen}",
        ),
        "decode": _computed(
            "Decode", found.decode, f"{plan.output_tokens} tokens x {decimals.text(plan.per_token)}, n and not n - 1"
        ),
        "persist": _entered("Persist", plan.persist, rests_on, "persist_s"),
        "saved_answer": _computed(
            "Saved answer", found.saved_answer, _sum(found.before, plan.prefill, found.decode, plan.persist)
        ),
        "slo": _entered("SLO of the saved answer", plan.slo, rests_on, "slo_s"),
        **_active(plan, found),
        **_floors(floors),
    }


def verdict(plan: LatencyPlan, found: Latency, floors: Floors) -> Verdict:
    """The saved answer against the SLO; the first token decides nothing."""
    saved, slo, first = seconds(found.saved_answer), seconds(plan.slo), seconds(found.first_token)
    doubt = " " + " ".join(below_floors(plan, floors)) if below_floors(plan, floors) else ""
    if found.meets:
        return Verdict("meets", f"The saved answer takes {saved}, not above the entered {slo}.{doubt}")
    return Verdict(
        "misses",
        f"The saved answer takes {saved}, above the entered {slo}; that the first token comes after {first} does not "
        f"change it.{doubt}",
    )


def below_floors(plan: LatencyPlan, floors: Floors) -> tuple[str, ...]:
    """A sentence for each entered time that the entered hardware does not allow."""
    pairs = (("time per output token", plan.per_token, floors.per_token), ("prefill", plan.prefill, floors.prefill))
    return tuple(
        f"The entered {what}, {seconds(entered)}, is below its floor of {milliseconds(floor)}: one of the entries is "
        "wrong."
        for what, entered, floor in pairs
        if floor is not None and entered < floor
    )


def seconds(value: Fraction) -> str:
    """All digits: sums and products of what was entered always end."""
    return f"{decimals.text(value)} s"


def milliseconds(value: Fraction) -> str:
    """Such as ``4.53 ms``."""
    return f"{decimals.significant(1000 * value)} ms"


def _active(plan: LatencyPlan, found: Latency) -> dict[str, Figure]:
    if found.active is None or plan.arrival_per_s is None:
        return {}
    in_engine = _sum(plan.prefill, found.decode)
    figure = Figure(
        label="Active sequences",
        value=decimals.text(found.active),
        unit="sequences",
        shown=f"{decimals.significant(found.active)} sequences",
        basis="arithmetic",
        how=f"{decimals.text(plan.arrival_per_s)} x ({in_engine}), Little's law",
    )
    return {"active_sequences": figure}


def _floors(floors: Floors) -> dict[str, Figure]:
    entered = (
        ("per_token_floor", "Time per output token", floors.per_token, "bytes that a step reads / bandwidth"),
        ("prefill_floor", "Prefill", floors.prefill, "2 x parameters of a token x input tokens / peak of all devices"),
    )
    return {
        name: Figure(
            label=f"{label}: {FLOOR}",
            value=decimals.text(floor),
            unit="s",
            shown=f"{milliseconds(floor)} ({FLOOR})",
            basis="arithmetic",
            how=how,
        )
        for name, label, floor, how in entered
        if floor is not None
    }


def _computed(label: str, value: Fraction, how: str) -> Figure:
    return Figure(label=label, value=decimals.text(value), unit="s", shown=seconds(value), basis="arithmetic", how=how)


def _entered(label: str, value: Fraction, rests_on: Measured, name: str) -> Figure:
    basis, measurement = rests_on.basis(name)
    return Figure(
        label=label, value=decimals.text(value), unit="s", shown=seconds(value), basis=basis, measured=measurement
    )


def _sum(*parts: Fraction) -> str:
    return " + ".join(map(decimals.text, parts))
