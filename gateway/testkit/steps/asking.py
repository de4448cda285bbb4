"""Steps about asking and what comes back, for every door."""

from typing import Any

from pytest_bdd import given, parsers, then, when

from gateway.testkit.world import Ask, Reply, World

NUMBERS = {"temperature": float, "top_p": float, "max_tokens": int, "seed": int}


class Memory:
    """What happened in this scenario so far."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.operation: dict[str, Any] | Reply | None = None
        self.token: str | None = None
        self.document: Any = None
        """What an administrator was answered."""

    @property
    def last(self) -> Reply:
        return self.replies[-1]

    @property
    def operation_id(self) -> str:
        """Of the last reply that named an operation."""
        return next(reply.operation_id for reply in reversed(self.replies) if reply.operation_id is not None)


@given(parsers.parse('the service account "{account}" of the tenant "{tenant}"'))
def _account(world: World, account: str, tenant: str) -> None:
    assert (account, tenant) == ("assistant", "acme"), "every world starts with this one"
    assert world.engine_calls() == []


@given(parsers.re(r'the assistant has asked "(?P<question>[^"]*)" under the key "(?P<key>[^"]*)"$'))
@when(parsers.re(r'the assistant asks "(?P<question>[^"]*)" under the key "(?P<key>[^"]*)"$'))
def _ask(world: World, memory: Memory, question: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(question=question, key=key)))


@when('the assistant asks the same in another spelling under the key "k-1"')
def _ask_respelt(world: World, memory: Memory) -> None:
    memory.replies.append(world.ask(Ask(question="The answer?", key="k-1", respelt=True)))


@when(
    parsers.re(r'the assistant asks "(?P<question>[^"]*)" under the key "k-1" with (?P<field>\w+) (?P<value>[0-9.]+)')
)
def _ask_with(world: World, memory: Memory, question: str, field: str, value: str) -> None:
    memory.replies.append(world.ask(Ask(question=question, changes={field: NUMBERS[field](value)})))


@given(parsers.parse('the assistant has asked "{question}" under the key "{key}" for the purpose "{purpose}"'))
@when(parsers.parse('the assistant asks "{question}" under the key "{key}" for the purpose "{purpose}"'))
def _ask_for_purpose(world: World, memory: Memory, question: str, key: str, purpose: str) -> None:
    memory.replies.append(world.ask(Ask(question=question, key=key, purpose=purpose)))


@when(parsers.re(r'the assistant asks the model "(?P<model>[^"]*)" under the key "(?P<key>[^"]*)"$'))
def _ask_model(world: World, memory: Memory, model: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(model=model, key=key)))


@when(parsers.re(r'"(?P<who>[^"]*)" asks the model "(?P<model>[^"]*)" under the key "(?P<key>[^"]*)"$'))
def _somebody_asks_model(world: World, memory: Memory, who: str, model: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(model=model, key=key, who=who)))


@when(parsers.parse('the assistant asks a question of {letters:d} letters under the key "{key}"'))
def _ask_long(world: World, memory: Memory, letters: int, key: str) -> None:
    memory.replies.append(world.ask(Ask(question="a" * letters, key=key)))


@when(parsers.parse('another service account asks "{question}" under the key "{key}"'))
def _another_asks(world: World, memory: Memory, question: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(question=question, key=key, who="reporter")))


@when(parsers.parse('the operator asks "{question}" under the key "{key}"'))
def _operator_asks(world: World, memory: Memory, question: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(question=question, key=key, who="operator")))


@given(parsers.re(r'the assistant is waiting for an answer to "(?P<question>[^"]*)" under the key "(?P<key>[^"]*)"$'))
def _waiting(world: World, question: str, key: str) -> None:
    world.start_asking(Ask(question=question, key=key))


@when(parsers.parse('ten instances of the assistant ask "{question}" under the key "{key}" at once'))
def _ten_at_once(world: World, memory: Memory, question: str, key: str) -> None:
    memory.replies.extend(world.ask_at_once([Ask(question=question, key=key)] * 10))


@when("the assistant looks at the operation")
def _look(world: World, memory: Memory) -> None:
    assert memory.last.operation_id is not None
    memory.operation = world.look_at(memory.last.operation_id)


@when("another service account looks at the operation")
def _another_looks(world: World, memory: Memory) -> None:
    assert memory.last.operation_id is not None
    found = world.look_at(memory.last.operation_id, who="reporter")
    assert isinstance(found, Reply), "the operation of another principal was shown"
    memory.replies.append(found)


@then(parsers.parse('the answer is "{text}"'))
def _answer_is(memory: Memory, text: str) -> None:
    assert (memory.last.code, memory.last.text) == (None, text)
    assert not memory.last.replayed


@then("the same answer is shown again, byte for byte")
def _same_again(memory: Memory) -> None:
    first, again = memory.replies[-2:]
    assert again.code is None
    assert again.replayed
    assert (again.body, again.operation_id) == (first.body, first.operation_id)


@then("each got the same answer or was told that it is in progress")
def _same_or_in_progress(memory: Memory) -> None:
    answers = [reply for reply in memory.replies if reply.code is None]
    others = {reply.code for reply in memory.replies} - {None}
    assert answers, "nobody got an answer"
    assert len({reply.body for reply in answers}) == 1
    assert sum(not reply.replayed for reply in answers) == 1
    assert others <= {"operation_in_progress"}


@then(parsers.parse('the request is refused as "{code}"'))
def _refused(memory: Memory, code: str) -> None:
    assert memory.last.code == code
    assert memory.last.text is None


@then("an operation that never was is refused in the same words")
def _never_was(world: World, memory: Memory) -> None:
    never = world.look_at("019acb5c-0000-7000-8000-000000000000", who="reporter")
    assert isinstance(never, Reply)
    assert (never.code, never.title, never.body) == (memory.last.code, memory.last.title, memory.last.body)


@then(parsers.parse('the conflict names "{field}"'))
def _conflict_names(memory: Memory, field: str) -> None:
    assert memory.last.fields == (field,)


@then(parsers.parse('the refusal names "{code}"'))
def _refusal_names(memory: Memory, code: str) -> None:
    assert (code, None) in memory.last.policy_codes


@then(parsers.parse('the refusal names "{code}" for the source {index:d}'))
def _refusal_names_source(memory: Memory, code: str, index: int) -> None:
    assert (code, index) in memory.last.policy_codes


@then(parsers.parse('the operation is "{state}"'))
def _operation_is(world: World, memory: Memory, state: str) -> None:
    memory.operation = world.look_at(memory.operation_id)
    assert isinstance(memory.operation, dict)
    assert memory.operation["state"] == state


@then(parsers.parse('it shows the bundle "{bundle}" and the profile "{profile}"'))
def _shows(memory: Memory, bundle: str, profile: str) -> None:
    assert isinstance(memory.operation, dict)
    assert (memory.operation["bundle"], memory.operation["attempt"]["profile"]) == (bundle, profile)


@then(parsers.parse('the operation keeps the bundle "{bundle}"'))
def _keeps_bundle(world: World, memory: Memory, bundle: str) -> None:
    assert memory.last.operation_id is not None
    memory.operation = world.look_at(memory.last.operation_id)
    assert isinstance(memory.operation, dict)
    assert memory.operation["bundle"] == bundle


@then("it shows no text of the answer")
def _shows_no_text(memory: Memory) -> None:
    assert memory.last.text
    assert memory.last.text not in repr(memory.operation)
