"""Every event is counted under labels of closed sets, and logged at a level of its own."""

import io
import json
import logging
from collections.abc import Iterator
from typing import get_args

import pytest

from adapters.telemetry import Telemetry, set_up_logs
from adapters.telemetry.logs import _LEVELS
from gateway.domain.budget import Scope, ScopeKind
from gateway.domain.engine_times import EngineTimes
from gateway.domain.limits import Sums
from gateway.domain.operation import State
from gateway.ports.events import (
    Accounted,
    Decided,
    Denied,
    Dispatched,
    Event,
    ReadinessChanged,
    Recalled,
    Reloaded,
    Sampled,
    UsageAboveCount,
    Walked,
)
from gateway.ports.reads import ScopeSums


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged from warnings on."""
    root, gateway = logging.getLogger(), logging.getLogger("gateway")
    before = (root.handlers[:], root.level, gateway.level)
    stream = io.StringIO()
    set_up_logs("info", stream, hooks=False)
    yield stream
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    gateway.setLevel(before[2])


def counted(*events: Event) -> list[str]:
    telemetry = Telemetry()
    for event in events:
        telemetry.emit(event)
    return telemetry.render().decode().splitlines()


def test_a_decision_is_counted_with_its_wait_apart() -> None:
    lines = counted(Decided("access", "", 0.003, 0.004), Decided("access", "timeout", 1.0, 1.0))
    assert 'gateway_decisions_total{entrypoint="access",result="decided"} 1.0' in lines
    assert 'gateway_decisions_total{entrypoint="access",result="timeout"} 1.0' in lines
    assert "gateway_decision_wait_seconds_sum 1.003" in lines
    assert "gateway_decision_seconds_sum 1.004" in lines


def test_what_was_not_asked_of_opa_is_counted_by_how_it_was_found() -> None:
    lines = counted(Recalled("access", "decided"), Recalled("access", "decided"), Recalled("operate", "in_flight"))
    assert 'gateway_decisions_recalled_total{entrypoint="access",found="decided"} 2.0' in lines
    assert 'gateway_decisions_recalled_total{entrypoint="operate",found="in_flight"} 1.0' in lines


def test_denials_are_counted_by_code_and_reloads_by_their_end(lines: io.StringIO) -> None:
    shown = counted(Denied("access", "role_missing"), Reloaded(taken=True), Reloaded(taken=False))
    assert 'gateway_policy_denied_total{code="role_missing",entrypoint="access"} 1.0' in shown
    assert 'gateway_reloads_total{taken="true"} 1.0' in shown
    assert 'gateway_reloads_total{taken="false"} 1.0' in shown
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [(line["message"], line["level"], line["taken"]) for line in logged] == [
        ("Reloaded", "info", True),
        ("Reloaded", "warning", False),
    ]


def test_a_profile_that_is_gone_has_no_readiness_left() -> None:
    ready = ReadinessChanged("p", "ready", "")
    assert 'gateway_profile_readiness{profile="p",state="ready"} 1.0' in counted(ready)
    assert not any('profile="p"' in line for line in counted(ready, ReadinessChanged("p", "gone", "")))
    assert counted(ReadinessChanged("never seen", "gone", ""))


def test_every_event_has_a_level() -> None:
    assert set(get_args(Event)) == set(_LEVELS)


TIMES = EngineTimes(prefill_s=0.25, decode_s=0.5)


def test_stages_are_counted_and_calls_by_profile() -> None:
    lines = counted(
        Walked((("authorise", 0.002), ("engine", 1.0)), "p", TIMES), Walked((("authorise", 0.5),), "", None)
    )
    assert 'gateway_stage_seconds_bucket{le="0.0025",stage="authorise"} 1.0' in lines
    assert 'gateway_stage_seconds_bucket{le="+Inf",stage="authorise"} 2.0' in lines
    assert 'gateway_stage_seconds_count{stage="authorise"} 2.0' in lines
    assert 'gateway_stage_seconds_sum{stage="authorise"} 0.502' in lines
    assert 'gateway_engine_seconds_sum{profile="p"} 1.0' in lines


def test_what_the_engine_does_not_tell_is_the_rest_of_the_call() -> None:
    lines = counted(Walked((("engine", 1.0),), "p", TIMES))
    sums = {
        part: f'gateway_engine_part_seconds_sum{{part="{part}",profile="p"}}' for part in ("queue", "decode", "rest")
    }
    assert f"{sums['decode']} 0.5" in lines
    assert f"{sums['rest']} 0.25" in lines
    assert not any(line.startswith(sums["queue"]) for line in lines)
    told_nothing = counted(Walked((("engine", 1.0),), "p", None))
    assert not any(line.startswith("gateway_engine_part_seconds_") for line in told_nothing)


def test_a_value_on_a_bound_is_within_it() -> None:
    assert 'gateway_stage_seconds_bucket{le="0.0005",stage="count"} 1.0' in counted(
        Walked((("count", 0.0005),), "", None)
    )
    assert 'gateway_stage_seconds_bucket{le="0.00025",stage="count"} 0.0' in counted(
        Walked((("count", 0.0005),), "", None)
    )
    late = counted(Walked((("engine", 1e9),), "p", None))
    assert 'gateway_engine_seconds_bucket{le="300.0",profile="p"} 0.0' in late
    assert 'gateway_engine_seconds_bucket{le="+Inf",profile="p"} 1.0' in late


def test_a_profile_that_is_gone_takes_all_its_series_with_it_and_late_ends_are_others() -> None:
    life: list[Event] = [
        ReadinessChanged("p", "ready", ""),
        Walked((("engine", 1.0),), "p", TIMES),
        Dispatched("p", State.COMPLETED, "stop", 1.0),
        UsageAboveCount("p", 3),
        Accounted((account("profile", "p"),)),
    ]
    assert sum('"p"' in line for line in counted(*life)) > 10
    gone: list[Event] = [ReadinessChanged("p", "gone", ""), Accounted(())]
    assert not any('"p"' in line for line in counted(*life, *gone))
    late = counted(*life, *gone, *life[1:4])
    assert not any('"p"' in line for line in late)
    assert 'gateway_outcomes_total{profile="other",state="completed"} 1.0' in late
    assert 'gateway_engine_seconds_count{profile="other"} 1.0' in late
    assert 'gateway_usage_above_count_tokens_total{profile="other"} 3.0' in late
    back = counted(*life, *gone, *life)
    assert 'gateway_outcomes_total{profile="p",state="completed"} 1.0' in back


def test_accounts_are_those_that_were_read_last() -> None:
    lines = counted(
        Accounted((account("profile", "p"), account("quota_scope", "q"))), Accounted((account("profile", "r"),))
    )
    assert {line for line in lines if line.startswith(("gateway_held", "gateway_slots", "gateway_debt"))} == {
        'gateway_held_tokens{scope="r",scope_kind="profile"} 3.0',
        'gateway_held_cost{scope="r",scope_kind="profile"} 4.0',
        'gateway_slots_used{scope="r",scope_kind="profile"} 2.0',
        'gateway_slots_stranded{scope="r",scope_kind="profile"} 1.0',
        'gateway_debt_tokens{scope="r",scope_kind="profile"} 5.0',
        'gateway_debt_cost{scope="r",scope_kind="profile"} 6.0',
    }


def test_a_look_at_the_process_is_shown() -> None:
    lines = counted(Sampled(loop_lag_s=0.02, queued=3, running=2, unsaved_bytes=7))
    assert {"gateway_writer_queue 3.0", "gateway_attempts_running 2.0", "gateway_unsaved_bytes 7.0"} <= set(lines)
    assert "gateway_loop_lag_seconds_sum 0.02" in lines
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)


def test_what_is_for_metrics_alone_is_not_logged(lines: io.StringIO) -> None:
    set_up_logs("debug", lines, hooks=False)
    counted(Sampled(loop_lag_s=0, queued=0, running=0, unsaved_bytes=0), Accounted(()), Walked((), "", None))
    assert [json.loads(line)["message"] for line in lines.getvalue().splitlines()] == ["Walked"]


def account(kind: ScopeKind, id_: str) -> ScopeSums:
    sums = Sums(0, day_us=0, month_us=0, held_tokens=3, held_cost=4, debt_tokens=5, debt_cost=6)
    sums.slots_used, sums.slots_stranded = 2, 1
    return ScopeSums(Scope(kind, id_), sums)
