"""Steps about what an engine is told of whose text it reads."""

from pytest_bdd import parsers, then

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.steps.asking import Memory

COUNTS = {"one salt": 1, "two salts": 2}


@then("both were answered by the engine")
def _both_answered(world: HttpWorld, memory: Memory) -> None:
    assert [reply.code for reply in memory.replies] == [None, None]
    assert len(world.engine_calls()) == 2


@then(parsers.parse("the engine saw {salts}"))
def _salts(world: HttpWorld, salts: str) -> None:
    given = [call["cache_salt"] for call in world.engine_calls()]
    assert all(len(salt) == 43 for salt in given)
    assert len(set(given)) == COUNTS[salts]
