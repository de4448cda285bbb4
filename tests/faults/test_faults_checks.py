"""Each check finds what it is for: a violation that is planted into what a real run has left."""

import pytest
from faults_support import Copy, SmallRun
from msgspec.structs import replace

from gateway.testkit.faults import checks
from gateway.testkit.faults.outside import NO_EFFECT_CODES
from gateway.testkit.faults.records import Acted, Call, Operation, Seen

COMPLETED = "(SELECT min(dispatch_id) FROM attempt WHERE state = 'completed')"


def seen_completed(left: Copy) -> int:
    """Position of a request that was answered well."""
    return next(n for n, one in enumerate(left.evidence.seen) if one.behaviour == "answers" and one.state)


def plant(left: Copy, position: int, **changes: object) -> None:
    seen = list(left.evidence.seen)
    seen[position] = replace(seen[position], **changes)
    left.evidence.seen = seen


def answered(left: Copy) -> Operation:
    return next(one for one in left.evidence.operations.values() if one.answer is not None)


def test_a_run_that_went_well_is_without_findings(small_run: SmallRun, left: Copy) -> None:
    assert small_run.tally.violations == []
    assert checks.check(left.data, left.evidence) == []
    assert checks.held_after_all(left.data) == []
    assert small_run.tally.states["completed"] > 10
    assert small_run.tally.states["closed"] > 0
    assert small_run.tally.struck >= 30
    assert small_run.tally.in_flight > 0  # how many depends on how fast the machine is
    assert small_run.tally.misbehaved > 10


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE budget SET held_tokens = held_tokens + 1", "held_tokens"),
        ("UPDATE hold SET settled_tokens = settled_tokens - 1 WHERE settled_tokens > 1", "I4"),
        (
            f"DELETE FROM audit WHERE kind = 'dispatching' AND op_id = "
            f"(SELECT op_id FROM attempt WHERE dispatch_id = {COMPLETED})",
            "I8: the audit has no dispatch",
        ),
        (
            f"UPDATE attempt SET state = 'released', dispatching_us = NULL WHERE dispatch_id = {COMPLETED}",
            "G1: operation-",
        ),
        (
            f"UPDATE attempt SET state = 'granted', dispatching_us = NULL WHERE dispatch_id = {COMPLETED}",
            "I12: dispatch",
        ),
        (f"UPDATE attempt SET state = 'charged' WHERE dispatch_id = {COMPLETED}", "the provider did this: "),
        (f"UPDATE attempt SET used_output = used_output + 1 WHERE dispatch_id = {COMPLETED}", "or was changed"),
        ("UPDATE result SET digest = 'x'", "I13: the answer of"),
        ("DELETE FROM result", "I13: the answer of"),
        ("UPDATE attempt SET state = 'unknown' WHERE state = 'closed'", "an operator made operation"),
    ],
)
def test_damage_to_the_database_is_found(left: Copy, statement: str, finding: str) -> None:
    assert left.change(statement) > 0
    assert any(finding in sentence for sentence in left.found()), left.found()


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("held_tokens", "held tokens"),
        ("held_cost", "held cost"),
        ("debt_tokens", "debt in tokens"),
        ("debt_cost", "debt in cost"),
        ("slots_used", "slots"),
        ("slots_stranded", "stranded slots"),
    ],
)
def test_a_counter_that_is_not_the_sum_of_its_holds_is_found(left: Copy, column: str, name: str) -> None:
    left.change(f"UPDATE budget SET {column} = {column} + 3 WHERE scope_kind = 'tenant' AND scope_id = 'acme'")
    (found,) = [sentence for sentence in left.found() if sentence.startswith("G9")]
    assert found.startswith("G9: tenant acme counts ")
    assert f" {name}, and its holds are " in found


@pytest.mark.parametrize(
    ("limits", "finding"),
    [
        ({"tokens": 10}, "G9: quota_scope in-house was allowed "),
        ({"cost": 10}, "G9: tenant acme was allowed "),
        ({"requests": 1}, "G9: profile smollm2-135m was allowed "),
        ({"slots": 0}, "G9: tenant acme had "),
        ({"profile_slots": 0}, "G9: profile smollm2-135m had "),
    ],
)
def test_what_was_admitted_above_a_limit_is_found(left: Copy, limits: dict[str, int], finding: str) -> None:
    left.evidence.most_slots = {"tenant": 5, "profile": 5}
    left.evidence.limits = replace(left.evidence.limits, **limits)
    (found,) = left.found()
    assert found.startswith(finding)


OF_A_COMPLETED = f"(op_id, n) IN (SELECT op_id, n FROM attempt WHERE dispatch_id = {COMPLETED})"
OWED = 10_000_000


def owe(left: Copy) -> None:
    """Whether a small run has made a debt is chance: make one, as a usage above the reservation does."""
    used = f"UPDATE attempt SET used_output = reserved_input + reserved_output + {OWED} - used_input"
    held = f"UPDATE hold SET settled_tokens = tokens, debt_tokens = {OWED} WHERE {OF_A_COMPLETED}"
    assert left.change(f"{used} WHERE dispatch_id = {COMPLETED}") == 1
    assert left.change(held) == 3


def test_a_debt_above_a_limit_is_none(left: Copy) -> None:
    owe(left)
    assert not [sentence for sentence in left.found() if "was allowed" in sentence or sentence.startswith("I4")]


def test_a_debt_that_was_lost_is_found(left: Copy) -> None:
    owe(left)
    assert left.change(f"UPDATE hold SET debt_tokens = 0 WHERE {OF_A_COMPLETED}") == 3
    assert any(sentence.startswith("I4") for sentence in left.found())


def test_a_refusal_that_left_an_operation_is_found(left: Copy) -> None:
    operation = answered(left)
    operation.calls = [Call(started_s=0, status=429, code="budget_exhausted")]
    assert f"G9: {operation.label} was refused for want of budget, and left an operation" in left.found()


def test_a_refusal_that_names_an_operation_is_found(left: Copy) -> None:
    operation = answered(left)
    operation.calls.append(Call(started_s=0, status=429, code="concurrency_exhausted", operation_id="o"))
    assert f"G9: {operation.label} was refused for want of budget, and was given an operation" in left.found()


def test_a_second_request_for_one_dispatch_is_found(left: Copy) -> None:
    left.evidence.seen = [*left.evidence.seen, left.evidence.seen[0]]
    assert any(sentence.startswith("I11") for sentence in left.found())


def test_a_second_execution_of_one_operation_is_found(left: Copy) -> None:
    first, second = [n for n, one in enumerate(left.evidence.seen) if one.executed][:2]
    plant(left, second, label=left.evidence.seen[first].label)
    assert f"G1: the provider executed {left.evidence.seen[first].label} 2 times" in left.found()


@pytest.mark.parametrize("state", ["granted", "released", ""])
def test_a_request_that_came_before_t2_is_found(left: Copy, state: str) -> None:
    plant(left, seen_completed(left), state=state)
    assert any("arrived while its attempt was" in sentence for sentence in left.found())


def test_a_request_of_which_the_database_knows_nothing_is_found(left: Copy) -> None:
    plant(left, seen_completed(left), dispatch_id="never-claimed")
    found = left.found()
    assert "I12: dispatch never-claimed was sent and its attempt is lost" in found
    assert "I8: the audit has no dispatch never-claimed" in found
    assert any("the provider has seen nothing of it" in sentence for sentence in found)


def test_an_outcome_that_did_not_happen_is_found(left: Copy) -> None:
    plant(left, seen_completed(left), behaviour="hangs")
    assert any(sentence.endswith("is completed, and the provider did this: hangs") for sentence in left.found())


def test_two_answers_to_one_operation_are_found(left: Copy) -> None:
    operation = answered(left)
    call = next(call for call in operation.calls if call.status == 200)
    operation.calls.append(replace(call, body=b"{}"))
    assert f"I13: {operation.label} was given 2 different answers" in left.found()


def test_two_operations_under_one_key_are_found(left: Copy) -> None:
    one, other = [one for one in left.evidence.operations.values() if one.answer is not None][:2]
    one.calls.append(Call(started_s=0, status=409, operation_id=other.calls[-1].operation_id))
    assert f"I9: {one.label} was given 2 operations" in left.found()


@pytest.mark.parametrize("code", sorted(NO_EFFECT_CODES))
def test_a_503_about_an_attempt_that_was_executed_is_found(left: Copy, code: str) -> None:
    one = next(one for one in left.evidence.seen if one.executed)
    operation = left.evidence.operations[one.label]
    operation.crowded = False
    operation.calls.append(Call(started_s=one.at_s - 1, ended_s=one.at_s + 1, status=503, code=code))
    assert f"503: {one.label} was told {code}, and the provider had executed it" in left.found()


def test_an_act_that_was_lost_is_found(left: Copy) -> None:
    call = next(call for call in answered(left).calls if call.status == 200)
    left.evidence.acted = [*left.evidence.acted, Acted(operation_id=call.operation_id, state="closed")]
    assert any(sentence.endswith("and it is completed") for sentence in left.found())


def test_guards_that_are_missing_in_the_database_are_found(left: Copy) -> None:
    left.change("DROP INDEX ux_attempt_effect")
    found = [sentence for sentence in checks.check(left.data, left.evidence) if sentence.startswith("I16")]
    assert "I16: the database allows completed -> no_effect" in found
    assert "I16: the database allows another attempt after one that is completed" in found
    assert "I16: the database allows a changed answer" in found
    assert "I16: the database allows a deleted audit row" in found


def test_what_is_held_when_nothing_is_open_is_found(left: Copy) -> None:
    left.change("UPDATE budget SET slots_used = 1", "UPDATE hold SET slot = 'held' WHERE spend = 'settled'")
    found = checks.held_after_all(left.data)
    assert any("still holds something" in sentence for sentence in found)
    assert any("is left when nothing is open" in sentence for sentence in found)


def test_an_operation_is_in_flight_from_its_first_byte_to_its_end() -> None:
    operation = Operation(label="o", calls=[Call(started_s=1, ended_s=2), Call(started_s=5, end="lost", ended_s=6)])
    assert [operation.in_flight(at_s) for at_s in (0.5, 1.5, 3, 5.5, 7)] == [False, True, False, True, False]


def test_what_the_provider_saw_is_kept_as_it_was() -> None:
    with pytest.raises(AttributeError):
        Seen(at_s=0, dispatch_id="d", label="l", behaviour="b", executed=True, state="s").state = "x"  # type: ignore[misc]
