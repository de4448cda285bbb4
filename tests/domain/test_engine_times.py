"""An engine is not trusted: of its own time only what can be true is taken."""

import json
import math
from typing import Any

import pytest

from gateway.domain.engine_times import EngineTimes, engine_times


def test_milliseconds_become_seconds() -> None:
    assert engine_times(prefill_ms=12.5, decode_ms=400) == EngineTimes(prefill_s=0.0125, decode_s=0.4)
    assert engine_times(queue_ms=0) == EngineTimes(queue_s=0.0)


@pytest.mark.parametrize(
    "nonsense", [-1, -0.001, math.nan, math.inf, 10**400, 86_400_001, True, "12.5", None, {}, json.loads("1e999")]
)
def test_what_cannot_be_a_time_is_not_told(nonsense: Any) -> None:
    assert engine_times(prefill_ms=nonsense, decode_ms=5) == EngineTimes(decode_s=0.005)
    assert engine_times(prefill_ms=nonsense, decode_ms=nonsense, queue_ms=nonsense) is None


@pytest.mark.parametrize(("call_s", "told"), [(0.41, True), (0.4, True), (0.39, False)])
def test_parts_that_are_longer_than_the_call_are_not_told(call_s: float, told: bool) -> None:
    times = EngineTimes(queue_s=0.25, prefill_s=0.0625, decode_s=0.0875)
    assert times.within(call_s) == (times if told else None)
