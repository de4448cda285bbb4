"""The report as Markdown, with the bounds beside the figures."""

from collections.abc import Iterable

from msgspec import Struct

from gateway.bench.breakdown import DECISIONS, OF_REPLAY
from gateway.bench.figures import FRESH, REPLAYED, Case, Figure, Place
from gateway.bench.measure import Report

AT_64, OVER_SLOW = Place(0, 64), Place(200, 16)
LOAD = (
    "engine stub",
    "at once",
    "case",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "added p50",
    "added p99",
    "CPU us",
    "OPA us",
    "transitions per commit",
    "commit ms",
    "decision ms",
    "requests",
    "failed",
)


class Bound(Struct, frozen=True):
    """A figure that is bounded. ``value`` None: this run did not take it."""

    what: str
    value: float | None
    bound: float
    unit: str


def bounds(report: Report) -> list[Bound]:
    """The bounds that the gateway is held to, and what was measured."""
    fresh, replayed = _figure(report, FRESH, AT_64), _figure(report, REPLAYED, AT_64)
    over_slow = _figure(report, FRESH, OVER_SLOW)
    fresh_ms = fresh.cpu_us / 1000 if fresh else None
    outside_ms = fresh_ms - _decisions_us(report) / 1000 if fresh_ms and report.stages else None
    return [
        Bound("gateway CPU per fresh request, 64 at once", fresh_ms, 1.4, "ms"),
        Bound("of it outside the two decisions", outside_ms, 0.6, "ms"),
        Bound("gateway CPU per replay, 64 at once", replayed.cpu_us / 1000 if replayed else None, 0.7, "ms"),
        Bound(
            "added p50 over the 200 ms engine stub, 16 at once", over_slow.added_p50_ms if over_slow else None, 10, "ms"
        ),
        Bound("memory after the load", report.memory_end_mb, 110, "MB"),
        Bound("ready, with a new store", report.first_start.ready_s, 3, "s"),
    ]


def markdown(report: Report) -> str:
    """The whole report."""
    starts = ", ".join(f"{start.ready_s:.2f} s ({start.cpu_s:.2f} s of CPU)" for start in report.starts)
    parts = [
        f"# Bench\n\nPython {report.python}, {report.cores} cores, {report.machine}; load average "
        f"{report.load_before:.1f} before the run. CPU is that of the server process with all its threads, per "
        "request; OPA is a process of its own. Added is what comes on top of the pass-through in the same round.",
        "## Bounds\n\n" + _table(("what", "measured", "bound", ""), map(_bound, bounds(report))),
        "## Load\n\n" + _table(LOAD, map(_load, report.figures)),
        f"Starts until ready, the first one with a new store: {starts}. "
        f"Memory when ready: {report.memory_ready_mb:.0f} MB.",
    ]
    if report.stages:
        parts.append("## What a fresh request is made of\n\n" + _stages(report))
    return "\n\n".join(parts) + "\n"


def _stages(report: Report) -> str:
    fresh = [stage for stage in report.stages if stage.name != OF_REPLAY]
    rows = [("server alone", _us(report.server_us), _us(report.server_us))]
    rows += [(stage.name, _us(stage.cpu_us), _us(stage.loop_us)) for stage in fresh]
    summed = report.server_us + sum(stage.cpu_us for stage in fresh)
    rows.append(("sum", _us(summed), _us(report.server_us + sum(stage.loop_us for stage in fresh))))
    if measured := _figure(report, FRESH, AT_64):
        rows.append(("measured, 64 at once", _us(measured.cpu_us), ""))
    rows += [(stage.name, _us(stage.cpu_us), _us(stage.loop_us)) for stage in report.stages if stage.name == OF_REPLAY]
    return _table(("step", "CPU us", "of it the event loop's thread"), rows)


def _decisions_us(report: Report) -> float:
    return sum(stage.cpu_us for stage in report.stages if stage.name in DECISIONS)


def _bound(row: Bound) -> tuple[str, ...]:
    if row.value is None:
        return (row.what, "not measured", f"{row.bound:g} {row.unit}", "")
    verdict = "within" if row.value <= row.bound else "**over**"
    return (row.what, f"{row.value:.2f} {row.unit}", f"{row.bound:g} {row.unit}", verdict)


def _load(figure: Figure) -> tuple[str, ...]:
    return (
        f"{figure.place.engine_ms} ms" if figure.place.engine_ms else "at once",
        str(figure.place.concurrency),
        figure.case,
        f"{figure.per_s:.0f}",
        _ms(figure.p50_ms),
        _ms(figure.p99_ms),
        _ms(figure.added_p50_ms),
        _ms(figure.added_p99_ms),
        _us(figure.cpu_us),
        _us(figure.opa_us),
        _ms(figure.transitions_per_commit),
        _ms(figure.commit_ms),
        _ms(figure.decision_ms),
        str(figure.requests),
        str(figure.failed),
    )


def _figure(report: Report, case: Case, place: Place) -> Figure | None:
    return next((figure for figure in report.figures if (figure.case, figure.place) == (case, place)), None)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _us(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"
