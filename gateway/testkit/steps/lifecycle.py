"""Steps about profiles that are taken out of service, and about engines that load."""

from pytest_bdd import given, parsers, then, when

from gateway.domain.profile_state import ProfileActKind
from gateway.testkit.loops import until
from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import World

ACTS: dict[str, ProfileActKind] = {"drained": "drain", "resumed": "resume", "released": "release"}


@given(parsers.re("an operator has (?P<done>drained|resumed|released) the profile$"))
def _done(world: World, done: str) -> None:
    assert world.act_on_profile(ACTS[done]) is None


@when("an operator tries to release the profile")
def _release(world: World, memory: Memory) -> None:
    refused = world.act_on_profile("release")
    assert refused is not None, "it was released"
    memory.replies.append(refused)


@when(parsers.parse('an operator tries to drain the profile "{profile}"'))
def _drain(world: World, memory: Memory, profile: str) -> None:
    refused = world.act_on_profile("drain", profile)
    assert refused is not None, "it was drained"
    memory.replies.append(refused)


@given("the engine is loading")
def _loading(world: World) -> None:
    world.engine_loads()


@when("the engine has been loading for too long")
def _too_long(world: World) -> None:
    until(lambda: world.seen_engine_state() != "starting", "it is starting for ever")


@then(parsers.parse('the profile is "{state}"'))
def _state(world: World, state: str) -> None:
    assert world.profile_state() == state


@then(parsers.parse('its engine is seen to be "{state}"'))
def _seen(world: World, state: str) -> None:
    assert world.seen_engine_state() == state
