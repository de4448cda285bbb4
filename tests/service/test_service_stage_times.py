"""Where the time of a request goes: one event for each walk, however it ends."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from service_support import ASKED, PROFILE, Surroundings, breaking

from gateway.domain.engine_times import EngineTimes
from gateway.domain.errors import LedgerUnavailable
from gateway.domain.questions import Failed
from gateway.ports.events import Stage, Walked
from gateway.testkit.fakes.transport import good_answer

STAGES: tuple[Stage, ...] = get_args(Stage)


def approximately(stages: dict[str, float]) -> Any:
    return pytest.approx(stages, abs=1e-5)


def walks(world: Surroundings) -> list[Walked]:
    return [event for event in world.events.events if isinstance(event, Walked)]


def taking(world: Surroundings, seconds: float) -> Callable[[], None]:
    """Something that lasts, on a clock that stands still otherwise."""

    def step() -> None:
        world.clock.us += int(seconds * 1e6)

    return step


def test_each_step_is_measured_from_the_end_of_the_one_before() -> None:
    world = Surroundings()
    slow = {"operations.find": 1, "policy.access": 2, "policy.routes": 4, "counter.count": 0.5, "ledger.claim": 0.25}
    for call, seconds in slow.items():
        world.notebook.at(call, taking(world, seconds))
    world.notebook.at("ledger.dispatch", taking(world, 0.5))
    world.notebook.at("transport.send", taking(world, 1))
    world.notebook.at("ledger.settle", taking(world, 8))
    world.answered()
    (walk,) = walks(world)
    assert dict(walk.stages) == approximately(
        {
            "look_up": 1,
            "authorise": 2,
            "select": 4,
            "count": 0.5,
            "reserve": 0.25,
            "engine": 1.5,
            "persist": 8,
            "hand_over": 0,
        }
    )
    assert tuple(stage for stage, _ in walk.stages) == STAGES
    assert walk.profile == PROFILE


def test_a_refusal_tells_the_steps_that_were_taken() -> None:
    world = Surroundings()
    world.policy.failed = Failed(request=("purpose",), source={})
    world.notebook.at("policy.access", taking(world, 0.5))
    world.refused()
    (walk,) = walks(world)
    assert dict(walk.stages) == approximately({"look_up": 0, "authorise": 0.5})
    assert (walk.profile, walk.engine) == ("", None)


def test_a_replay_is_all_look_up() -> None:
    world = Surroundings()
    world.answered()
    world.events.events.clear()
    world.answered()
    (walk,) = walks(world)
    assert [stage for stage, _ in walk.stages] == ["look_up"]


def test_a_request_that_is_sent_back_walks_twice() -> None:
    world = Surroundings()

    def change() -> None:
        world.put_in_force()

    world.notebook.once("ledger.claim", change)
    world.answered()
    assert [walk.stages[-1][0] for walk in walks(world)] == ["reserve", "hand_over"]


def test_a_ledger_that_gives_no_dispatch_has_called_nobody() -> None:
    world = Surroundings()
    world.notebook.at("ledger.dispatch", breaking(LedgerUnavailable("full")))
    world.refused()
    (walk,) = walks(world)
    assert (walk.stages[-1][0], walk.profile) == ("engine", "")


@pytest.mark.parametrize(("call_s", "told"), [(2.0, True), (0.5, False)])
def test_the_engine_s_own_times_are_told_where_they_can_be_true(call_s: float, told: bool) -> None:
    world = Surroundings()
    times = EngineTimes(prefill_s=0.5, decode_s=1.0)
    world.transport.script(replace(good_answer(world.profile), times=times))
    world.notebook.at("transport.send", taking(world, call_s))
    world.answered(ASKED)
    (walk,) = walks(world)
    assert walk.engine == (times if told else None)
