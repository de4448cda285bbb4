"""The report: bounds beside what was measured, and tables that leave out what was not."""

from typing import Any

import pytest
from msgspec.structs import replace

from gateway.bench.breakdown import DECISIONS, OF_REPLAY, Stage
from gateway.bench.decisions import Burst, Deciding, Hit
from gateway.bench.figures import (
    BESIDE,
    BUDGETED,
    CITING,
    FRESH,
    HOSTED,
    REPLAYED,
    UNLIMITED,
    Case,
    Place,
    Sample,
    figures,
)
from gateway.bench.measure import Report
from gateway.bench.report import bounds, markdown
from gateway.bench.revision import Revision
from gateway.bench.servers import Start

HERE = Place(0, 64)


def _sample(case: Case, round_: int, **changes: Any) -> Sample:
    plain = Sample(
        case=case, place=HERE, round=round_, requests=100, failed=0, seconds=1.0, p50_ms=1.0, p99_ms=2.0, cpu_us=10.0
    )
    return replace(plain, **changes)


def _revision() -> Revision:
    deciding = Deciding(
        question="access, 1 source",
        at_once=16,
        decisions=499,
        failed=3,
        per_s=500.0,
        p50_ms=20.0,
        p99_ms=60.0,
        opa_us=900.0,
        client_us=300.0,
    )
    return Revision(
        profiles=5_000,
        tenants=201,
        bundles=628,
        start_s=1.5,
        start_cpu_s=0.7,
        opa_ready_mb=60.0,
        opa_end_mb=75.0,
        deciding=[deciding],
        hits=[Hit(question="access, 1 source", cpu_us=5.2)],
        bursts=[Burst(through="memo", all_ms=6.5, cpu_us=31.0, failed=0, decisions=1.0)],
    )


def _report(**changes: Any) -> Report:
    at_16 = Place(200, 16)
    samples = [
        _sample(BESIDE, 0),
        _sample(FRESH, 0, cpu_us=700.0, opa_us=40.0, decisions=0.002),
        _sample(REPLAYED, 0, cpu_us=500.0),
        _sample(CITING, 0, cpu_us=1_150.0, opa_us=600.0, decisions=1.0),
        _sample(BESIDE, 0, place=at_16, p50_ms=201.0),
        _sample(FRESH, 0, place=at_16, p50_ms=208.0),
    ]
    variants = [
        _sample(BESIDE, 0),
        _sample(UNLIMITED, 0, cpu_us=700.0),
        _sample(BUDGETED, 0, cpu_us=770.0),
        _sample(HOSTED, 0, cpu_us=1_400.0),
    ]
    names = (*DECISIONS, "T1 reserve", OF_REPLAY)
    fields: dict[str, Any] = {
        "python": "3.11",
        "machine": "x86_64",
        "cores": 2,
        "load_before": 0.0,
        "figures": figures(samples),
        "variants": figures(variants),
        "starts": [Start(ready_s=2.5, cpu_s=1.0)],
        "memory_ready_mb": 80.0,
        "memory_end_mb": 120.0,
        "server_us": 60.0,
        "stages": [Stage(name=name, cpu_us=35.0, loop_us=30.0) for name in names],
        "revisions": [_revision()],
    }
    return Report(**(fields | changes))


def test_each_bound_stands_beside_what_was_measured() -> None:
    values = {row.what: (row.value, row.bound) for row in bounds(_report())}
    assert values == {
        "gateway CPU per fresh request, decisions remembered, 64 at once": (0.7, 0.8),
        "of it outside the two decisions": (pytest.approx(0.63), 0.6),
        "gateway CPU per replay, decision remembered, 64 at once": (0.5, 0.4),
        "gateway CPU per fresh request that cites another source, 64 at once": (1.15, 1.2),
        "added p50 over the 200 ms engine stub, 16 at once": (7.0, 10),
        "memory after the load": (120.0, 110),
        "ready, with a new store": (2.5, 3),
        "gateway CPU per fresh request to a hosted provider, decisions remembered, 64 at once": (1.4, 1.3),
        "limits in all three scopes, CPU above the same without any": (pytest.approx(10), 15),
    }


def test_the_report_says_what_is_within_and_what_is_over_its_bound() -> None:
    text = markdown(_report())
    assert "| gateway CPU per fresh request that cites another source, 64 at once | 1.15 ms | 1.2 ms | within |" in text
    assert "| gateway CPU per replay, decision remembered, 64 at once | 0.50 ms | 0.4 ms | **over** |" in text
    # 60 for the server, 3 x 35 for the steps; the replay is no step of a fresh request.
    assert "| sum | 165 |" in text


def test_the_report_gives_the_cpu_of_gateway_and_opa_apart_and_together() -> None:
    text = markdown(_report())
    assert "| 1150 | 600 | 1750 | 1.00 |" in text
    assert "| 700 | 40 | 740 | 0.00 |" in text
    # The pass-through asks no policy.
    assert "| 10 |  |  |  |" in text


def test_the_report_tells_what_a_decision_costs_alone_and_what_is_left_of_it_when_it_is_remembered() -> None:
    text = markdown(_report())
    assert "| 5000 | 201 | 628 | 1.50 | 0.70 | 60 | 75 |" in text
    assert "| 5000 | access, 1 source | 16 | 500 | 20.00 | 60.00 | 900 | 300 | 499 | 3 |" in text
    assert "| 5000 | access, 1 source | 5.2 |" in text
    assert "| 5000 | memo | 6.5 | 31 | 1.0 | 0 |" in text


def test_limits_and_the_hosted_route_stand_beside_the_pass_through() -> None:
    text = markdown(_report())
    assert "| gateway, budgets | 100 | 1.0 | 770 | 77.00 times |  | 100 | 0 |" in text
    assert "| limits in all three scopes, CPU above the same without any | 10.00 % | 15 % | within |" in text


def test_what_a_run_did_not_take_is_said_not_guessed() -> None:
    text = markdown(_report(figures=[], stages=[], variants=[]))
    assert text.count("not measured") == 7
    assert "hosted route" not in text
    assert "Decisions alone" not in markdown(_report(revisions=[]))
