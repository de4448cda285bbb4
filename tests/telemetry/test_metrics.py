"""Every event is counted under labels of closed sets, and logged at a level of its own."""

import io
import json
import logging
from collections.abc import Iterator
from typing import get_args

import pytest

from adapters.telemetry import Telemetry, set_up_logs
from adapters.telemetry.logs import _LEVELS
from gateway.ports.events import Decided, Denied, Event, ReadinessChanged, Recalled, Reloaded


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
