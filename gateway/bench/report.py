"""The report as Markdown, with the bounds beside the figures."""

from msgspec import Struct

from gateway.bench.breakdown import DECISIONS, OF_REPLAY
from gateway.bench.figures import BESIDE, BUDGETED, CITING, FRESH, HOSTED, REPLAYED, UNLIMITED, Case, Figure, Place
from gateway.bench.measure import Report
from gateway.bench.policy_report import policy_parts
from gateway.bench.tables import ms, table, us

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
    "both us",
    "decisions of OPA",
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
    over_slow = _figure(report, FRESH, OVER_SLOW)
    fresh_ms = _cpu_ms(report, FRESH)
    outside_ms = fresh_ms - _decisions_us(report) / 1000 if fresh_ms and report.stages else None
    return [
        Bound("gateway CPU per fresh request, decisions remembered, 64 at once", fresh_ms, 0.8, "ms"),
        Bound("of it outside the two decisions", outside_ms, 0.6, "ms"),
        Bound("gateway CPU per replay, decision remembered, 64 at once", _cpu_ms(report, REPLAYED), 0.4, "ms"),
        Bound(
            "gateway CPU per fresh request that cites another source, 64 at once", _cpu_ms(report, CITING), 1.2, "ms"
        ),
        Bound(
            "added p50 over the 200 ms engine stub, 16 at once", over_slow.added_p50_ms if over_slow else None, 10, "ms"
        ),
        Bound("memory after the load", report.memory_end_mb, 110, "MB"),
        Bound("ready, with a new store", report.first_start.ready_s, 3, "s"),
        Bound(
            "gateway CPU per fresh request to a hosted provider, decisions remembered, 64 at once",
            _variant_us(report, HOSTED, 1000),
            1.3,
            "ms",
        ),
        Bound("limits in all three scopes, CPU above the same without any", budgets_percent(report), 15, "%"),
    ]


def budgets_percent(report: Report) -> float | None:
    """How much more CPU a request takes where every scope has limits."""
    without, limited = _variant_us(report, UNLIMITED), _variant_us(report, BUDGETED)
    return None if without is None or limited is None else (limited / without - 1) * 100


def _variant_us(report: Report, case: Case, unit: float = 1) -> float | None:
    return next((figure.cpu_us / unit for figure in report.variants if figure.case == case), None)


def markdown(report: Report) -> str:
    """The whole report."""
    starts = ", ".join(f"{start.ready_s:.2f} s ({start.cpu_s:.2f} s of CPU)" for start in report.starts)
    parts = [
        f"# Bench\n\nPython {report.python}, {report.cores} cores, {report.machine}; load average "
        f"{report.load_before:.1f} before the run. CPU is that of the server process with all its threads, per "
        "request; OPA is a process of its own. Added is what comes on top of the pass-through in the same round.",
        "## Bounds\n\n" + table(("what", "measured", "bound", ""), map(_bound, bounds(report))),
        "## Load\n\n" + table(LOAD, map(_load, report.figures)),
        *([_variants(report)] if report.variants else []),
        f"Starts until ready, the first one with a new store: {starts}. "
        f"Memory when ready: {report.memory_ready_mb:.0f} MB.",
    ]
    if report.stages:
        parts.append("## What a fresh request is made of\n\n" + _stages(report))
    parts += policy_parts(report.revisions)
    return "\n\n".join(parts) + "\n"


def _variants(report: Report) -> str:
    beside = _variant_us(report, BESIDE)
    head = ("case", "requests/s", "p50 ms", "CPU us", "to the pass-through", "OPA us", "requests", "failed")
    rows = [
        (
            figure.case,
            f"{figure.per_s:.0f}",
            ms(figure.p50_ms),
            us(figure.cpu_us),
            f"{figure.cpu_us / beside:.2f} times" if beside else "",
            us(figure.opa_us),
            str(figure.requests),
            str(figure.failed),
        )
        for figure in report.variants
    ]
    return "## Limits, and a hosted route\n\n" + table(head, rows)


def _stages(report: Report) -> str:
    fresh = [stage for stage in report.stages if stage.name != OF_REPLAY]
    rows = [("server alone", us(report.server_us), us(report.server_us))]
    rows += [(stage.name, us(stage.cpu_us), us(stage.loop_us)) for stage in fresh]
    summed = report.server_us + sum(stage.cpu_us for stage in fresh)
    rows.append(("sum", us(summed), us(report.server_us + sum(stage.loop_us for stage in fresh))))
    if measured := _figure(report, FRESH, AT_64):
        rows.append(("measured, 64 at once", us(measured.cpu_us), ""))
    rows += [(stage.name, us(stage.cpu_us), us(stage.loop_us)) for stage in report.stages if stage.name == OF_REPLAY]
    return table(("step", "CPU us", "of it the event loop's thread"), rows)


def _cpu_ms(report: Report, case: Case) -> float | None:
    found = _figure(report, case, AT_64)
    return found.cpu_us / 1000 if found else None


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
        ms(figure.p50_ms),
        ms(figure.p99_ms),
        ms(figure.added_p50_ms),
        ms(figure.added_p99_ms),
        us(figure.cpu_us),
        us(figure.opa_us),
        us(None if figure.opa_us is None else figure.cpu_us + figure.opa_us),
        "" if figure.decisions is None else f"{figure.decisions:.2f}",
        ms(figure.transitions_per_commit),
        ms(figure.commit_ms),
        ms(figure.decision_ms),
        str(figure.requests),
        str(figure.failed),
    )


def _figure(report: Report, case: Case, place: Place) -> Figure | None:
    return next((figure for figure in report.figures if (figure.case, figure.place) == (case, place)), None)
