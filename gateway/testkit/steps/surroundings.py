"""Steps about what is behind and beside the gateway: engine, policy, registry, ledger, reservations."""

from pytest_bdd import given, parsers, then, when

from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import World


@given(parsers.parse('the engine answers "{text}"'))
def _engine_answers(world: World, text: str) -> None:
    world.engine_answers(text)


@when(parsers.parse('the engine answers "{text}" again'))
def _engine_answers_again(world: World, text: str) -> None:
    world.engine_answers(text)


@given("the engine refuses connections")
def _engine_refuses(world: World) -> None:
    world.engine_does("refuse_connections")


@given("the engine is busy")
def _engine_busy(world: World) -> None:
    world.engine_does("busy")


@given("the engine rejects the request")
def _engine_rejects(world: World) -> None:
    world.engine_does("reject")


@given("the engine drops the connection after reading the request")
def _engine_drops(world: World) -> None:
    world.engine_does("drop")


@given("the engine is slow")
def _engine_slow(world: World) -> None:
    world.engine_does("slow")


@given(parsers.parse('the engine answers as the model "{model}"'))
def _engine_answers_as(world: World, model: str) -> None:
    world.engine_answers_as(model)


@given("the engine shows another model file")
def _other_weights(world: World) -> None:
    world.engine_shows_other_weights()


@given("the engine is lost as soon as the request is reserved")
def _lost_after_reservation(world: World) -> None:
    world.engine_lost_after_reservation()


@given("policy cannot be evaluated")
def _policy_away(world: World) -> None:
    world.policy_goes_away()


@given(parsers.parse('policy names the profile "{profile}"'))
def _policy_names(world: World, profile: str) -> None:
    world.policy_names(profile)


@given(parsers.re(r"(?:since then|in the registry) (?!the source )(?P<change>.*)"))
def _registry_change(world: World, change: str) -> None:
    world.change_registry(change)


@given("the ledger cannot save results")
def _ledger_cannot_save(world: World) -> None:
    world.ledger_fails("save")


@given("the ledger cannot note that a request is being sent")
def _ledger_cannot_note(world: World) -> None:
    world.ledger_fails("send")


@given("the ledger cannot reserve")
def _ledger_cannot_reserve(world: World) -> None:
    world.ledger_fails("reserve")


@then("the engine was called once")
def _called_once(world: World) -> None:
    assert len(world.engine_calls()) == 1


@then(parsers.parse("the engine was called {times:d} times"))
def _called_times(world: World, times: int) -> None:
    assert len(world.engine_calls()) == times


@then("no engine is called")
def _not_called(world: World) -> None:
    assert world.engine_calls() == []


@then(parsers.parse("the engine was told to stop at {tokens:d} tokens"))
def _told_to_stop(world: World, tokens: int) -> None:
    (call,) = world.engine_calls()
    assert call["max_tokens"] == tokens


@then("nothing is reserved")
@then("nothing is reserved any more")
def _nothing_reserved(world: World) -> None:
    assert world.held_tokens() == 0


@then("the reservation is kept")
def _reservation_kept(world: World) -> None:
    assert world.held_tokens() > 256  # the output cap and at least some input
    assert world.booked_tokens() == 0


@then("the engine's own count was booked")
def _count_booked(world: World, memory: Memory) -> None:
    assert isinstance(memory.operation, dict)
    used = memory.operation["attempt"]["used"]
    assert used["basis"] == "provider"
    assert world.booked_tokens() == used["input"] + used["output"]
