"""Steps about operators and what they do with unknown outcomes."""

from typing import Any

from pytest_bdd import given, parsers, then, when

from gateway.domain.usage import Usage
from gateway.testkit.loops import until
from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import Ask, Reply, World


def _act(world: World, memory: Memory, kind: Any, words: str, used: Usage | None = None) -> None:
    operation_id = memory.last.operation_id
    assert operation_id is not None
    done = world.act(kind, operation_id, words, used)
    if isinstance(done, Reply):
        memory.replies.append(done)
    else:
        memory.operation = done


@given(parsers.parse('an operator has written it off because "{reason}"'))
@when(parsers.parse('an operator writes it off because "{reason}"'))
def _write_off(world: World, memory: Memory, reason: str) -> None:
    _act(world, memory, "write_off", reason)


@when(parsers.parse('an operator finds that nothing happened: "{evidence}"'))
def _no_effect(world: World, memory: Memory, evidence: str) -> None:
    _act(world, memory, "no_effect", evidence)


@when(parsers.parse('an operator finds that {tokens_in:d} and {tokens_out:d} tokens were used: "{evidence}"'))
def _charged(world: World, memory: Memory, tokens_in: int, tokens_out: int, evidence: str) -> None:
    _act(world, memory, "charged", evidence, Usage(input=tokens_in, output=tokens_out))


@given(parsers.parse('an operator has freed its slot because "{reason}"'))
@when(parsers.parse('an operator frees its slot because "{reason}"'))
def _free_slot(world: World, memory: Memory, reason: str) -> None:
    _act(world, memory, "free_slot", reason)


@given("the gateway was started again since")
def _restarted(world: World) -> None:
    world.restart()


@given("the gateway is taken for dead by mistake")
@when("the gateway is taken for dead by mistake")
def _taken_for_dead(world: World) -> None:
    world.take_for_dead()


@when("the engine's answer arrives after all")
def _arrives(world: World, memory: Memory) -> None:
    memory.replies.append(world.finish_asking())


@when("the ledger works again")
def _works_again(world: World) -> None:
    world.ledger_fails(None)


@then(parsers.parse("{tokens:d} tokens were booked"))
def _booked(world: World, tokens: int) -> None:
    assert world.booked_tokens() == tokens


@then("all that was reserved was booked")
def _all_booked(world: World, memory: Memory) -> None:
    assert isinstance(memory.operation, dict)
    reserved = memory.operation["attempt"]["reserved"]
    assert world.booked_tokens() == reserved["input"] + reserved["output"]


@then("nothing was booked")
def _nothing_booked(world: World) -> None:
    assert world.booked_tokens() == 0


@then("its slot is free and its tokens stay reserved")
def _slot_free(world: World) -> None:
    assert world.held_slots() == 0
    assert world.held_tokens() > 0


@then(parsers.parse('the timeline tells "{events}"'))
def _timeline(world: World, memory: Memory, events: str) -> None:
    assert memory.last.operation_id is not None
    assert world.timeline(memory.last.operation_id) == events.split(", ")


@then(parsers.parse('the same key soon gets the answer "{text}"'))
def _soon(world: World, memory: Memory, text: str) -> None:
    def answered() -> bool:
        memory.replies.append(world.ask(Ask(question="Is it?", key="k-1")))
        return memory.last.code is None

    until(answered, "the answer was not saved")
    assert (memory.last.text, memory.last.replayed) == (text, True)
