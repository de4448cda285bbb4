"""The arithmetic: samples of one round in, medians over the rounds out."""

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal

from msgspec import Struct

Case = Literal[
    "pass-through",
    "gateway, fresh",
    "gateway, replayed",
    "gateway, citing",
    "gateway, no limit",
    "gateway, budgets",
    "gateway, hosted",
    "LiteLLM Proxy",
]
BESIDE: Case = "pass-through"
FRESH: Case = "gateway, fresh"
REPLAYED: Case = "gateway, replayed"
CITING: Case = "gateway, citing"
"""Fresh, and each request cites another source, so that ``access`` is asked anew."""
UNLIMITED: Case = "gateway, no limit"
"""Fresh, and every limit of the registry is ``unlimited``."""
BUDGETED: Case = "gateway, budgets"
"""Fresh, and every limit of all three scopes is a number that refuses nobody."""
HOSTED: Case = "gateway, hosted"
"""Fresh, through the translation of a hosted provider's family."""
PEER: Case = "LiteLLM Proxy"


class Place(Struct, frozen=True, order=True):
    """Where a figure was taken: competitors are compared only within one place."""

    engine_ms: int
    """How long the engine stub takes to answer."""
    concurrency: int
    """Requests under way at any time."""


class Sample(Struct, frozen=True, kw_only=True):
    """One case at one place in one round."""

    case: Case
    place: Place
    round: int
    requests: int
    failed: int
    """Answers other than 200."""
    seconds: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    """CPU of the server process per request, all threads, no children."""
    opa_us: float | None = None
    """CPU of OPA per request."""
    decisions: float | None = None
    """That OPA was asked for, per request; those that were remembered do not count."""
    transitions_per_commit: float | None = None
    commit_ms: float | None = None
    """How long a commit took, its statements included; a mean."""
    decision_ms: float | None = None
    """How long a decision took, the wait for its turn included; a mean."""


class Figure(Struct, frozen=True, kw_only=True):
    """One case at one place: medians over the rounds, except for the sums."""

    case: Case
    place: Place
    requests: int
    failed: int
    per_s: float
    p50_ms: float
    p99_ms: float
    added_p50_ms: float | None
    """Above the pass-through at the same place in the same round; None for the pass-through itself."""
    added_p99_ms: float | None
    cpu_us: float
    opa_us: float | None
    decisions: float | None
    transitions_per_commit: float | None
    commit_ms: float | None
    decision_ms: float | None


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank: the smallest value that at least ``share`` of all do not exceed.

    :raises ValueError: for no values.
    """
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def figures(samples: Iterable[Sample]) -> list[Figure]:
    """One figure per case and place, in the order of their first sample."""
    groups: dict[tuple[Case, Place], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.case, sample.place), []).append(sample)
    return [_figure(group, groups.get((BESIDE, place), [])) for (_, place), group in groups.items()]


def _figure(group: Sequence[Sample], base: Sequence[Sample]) -> Figure:
    case = group[0].case
    bases = {sample.round: sample for sample in base} if case != BESIDE else {}
    pairs = [(sample, bases[sample.round]) for sample in group if sample.round in bases]
    return Figure(
        case=case,
        place=group[0].place,
        requests=sum(sample.requests for sample in group),
        failed=sum(sample.failed for sample in group),
        per_s=median(sample.requests / sample.seconds for sample in group),
        p50_ms=median(sample.p50_ms for sample in group),
        p99_ms=median(sample.p99_ms for sample in group),
        added_p50_ms=_median(sample.p50_ms - beside.p50_ms for sample, beside in pairs),
        added_p99_ms=_median(sample.p99_ms - beside.p99_ms for sample, beside in pairs),
        cpu_us=median(sample.cpu_us for sample in group),
        opa_us=_median(sample.opa_us for sample in group),
        decisions=_median(sample.decisions for sample in group),
        transitions_per_commit=_median(sample.transitions_per_commit for sample in group),
        commit_ms=_median(sample.commit_ms for sample in group),
        decision_ms=_median(sample.decision_ms for sample in group),
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
