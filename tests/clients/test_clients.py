"""Clients that services use already, as they are, with their default retries."""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour, called
from gateway.testkit.provider.child import ProviderProcess

Tell = Callable[..., dict[str, Any]]
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks a word up.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}
SHAPE = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"yes": {"type": "boolean"}},
            "required": ["yes"],
            "additionalProperties": False,
        },
    },
}
CALLED: dict[str, Any] = {"name": "look_up", "arguments": '{"word": "it"}'}
CALL: dict[str, Any] = {"id": "call_1", "type": "function", "function": CALLED}


@pytest.fixture
def engine(provider: ProviderProcess) -> Iterator[ProviderProcess]:
    """Counts from zero, and behaves again afterwards."""
    provider.reset()
    yield provider
    provider.refuse(False)
    provider.reset()
    provider.answer_by_default(Behaviour())


@pytest.fixture
def tell(client: Any, gateway: GatewayProcess, token: str) -> Tell:
    def asking(**told: Any) -> dict[str, Any]:
        question = {"do": "ask", "model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}
        where = {"base_url": f"{gateway.url}/v1", "token": token, "key": str(uuid.uuid4())}
        said: dict[str, Any] = client.tell(question | where | told)
        return said

    return asking


def test_an_answer_and_the_same_answer_again(tell: Tell, engine: ProviderProcess) -> None:
    engine.answer_by_default(Behaviour(content="It is."))
    first, again = tell(key=(key := str(uuid.uuid4()))), tell(key=key)
    assert first == {"content": "It is.", "calls": [], "replayed": False, "finish": "stop"}
    assert again == first | {"replayed": True}
    assert engine.state().generation_count == 1


def test_models_are_listed(tell: Tell, name: str) -> None:
    if name == "langchain":
        pytest.skip("langchain-openai lists no models")
    assert tell(do="models") == {"models": ["assist", "chat"]}


NOWHERE = {"purpose": "answers", "sources": [{"id": "s", "revision": "1"}]}
REFUSED: dict[str, tuple[dict[str, Any], str, int]] = {
    "unauthenticated": ({"token": "gw_nobody-issued-this"}, "AuthenticationError", 401),
    "operation_key_invalid": ({"key": "not visible"}, "BadRequestError", 400),
    "unknown_field": ({"extra": {"api_base": "http://127.0.0.1:1"}}, "BadRequestError", 400),
    "unknown_model": ({"model": "nothing"}, "NotFoundError", 404),
    "invalid_value": ({"options": {"temperature": 3}}, "UnprocessableEntityError", 422),
    "access_denied": ({"extra": {"gateway": NOWHERE}}, "PermissionDeniedError", 403),
}


@pytest.mark.parametrize("code", list(REFUSED))
def test_a_refusal_is_the_client_s_own_error_with_our_code(
    tell: Tell, engine: ProviderProcess, name: str, code: str
) -> None:
    told, class_name, status = REFUSED[code]
    _is_refused(tell(**told), name, class_name, status, code)
    assert engine.state().generation_count == 0


def test_a_known_key_with_another_question_is_a_conflict(tell: Tell, engine: ProviderProcess) -> None:
    tell(key=(key := str(uuid.uuid4())))
    said = tell(key=key, options={"temperature": 0.5})
    assert (said["status"], said["code"]) == (422, "operation_key_reused")
    assert engine.state().generation_count == 1


def test_an_exhausted_budget_is_told_at_once_where_waiting_cannot_help(
    tell: Tell, engine: ProviderProcess, poor_gateway: GatewayProcess, poor_token: str, name: str
) -> None:
    said = tell(base_url=f"{poor_gateway.url}/v1", token=poor_token)
    _is_refused(said, name, "RateLimitError", 429, "budget_exhausted")
    assert engine.state().generation_count == 0


def test_dup_01_an_unknown_outcome_is_one_request_although_the_client_retries(
    tell: Tell, engine: ProviderProcess, name: str
) -> None:
    engine.answer_by_default(Behaviour(delivery="drop"))
    key = str(uuid.uuid4())
    said = tell(key=key)
    # curl repeats every 502, and is then told that the outcome is still unknown.
    assert (said["status"], said["code"]) == (409 if name == "curl" else 502, "outcome_unknown")
    assert engine.state().generation_count == 1
    engine.answer_by_default(Behaviour())
    assert (tell(key=key)["status"], engine.state().generation_count) == (409, 1)


def test_what_was_not_executed_is_repeated_by_the_client_under_the_same_key(
    tell: Tell, engine: ProviderProcess
) -> None:
    engine.script(Behaviour(status=429, body="{}"))
    assert tell()["content"] == "Hello."
    assert engine.state().generation_count == 2


def test_a_provider_that_stays_busy_is_told_in_the_end(tell: Tell, engine: ProviderProcess, name: str) -> None:
    engine.answer_by_default(Behaviour(status=429, body="{}"))
    _is_refused(tell(), name, "InternalServerError", 503, "provider_busy")
    assert engine.state().generation_count == 3


def test_a_client_that_does_not_wait_gets_the_answer_of_its_first_request(
    tell: Tell, engine: ProviderProcess, name: str
) -> None:
    if name == "curl":
        pytest.skip("curl does not repeat a conflict")
    engine.answer_by_default(Behaviour(content="It is.", delay_ms=1500))
    # It gives up after a second, is told that the operation runs, waits, and is told again.
    said = tell(client={"timeout": 1.0, "max_retries": 4})
    assert (said["content"], said["replayed"]) == ("It is.", True)
    assert engine.state().generation_count == 1


def test_tools_go_there_and_back(tell: Tell, engine: ProviderProcess) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    engine.script(called("look_up", CALLED["arguments"], id_=CALL["id"]), Behaviour(content="A pronoun."))
    question = [{"role": "user", "content": "What is it?"}]
    first = tell(messages=question, options={"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": False})
    assert first["calls"] == [{"id": "call_1", "name": "look_up", "arguments": {"word": "it"}}]
    assert first["finish"] == "tool_calls"
    result = {"role": "tool", "tool_call_id": "call_1", "content": "pronoun"}
    last = tell(messages=[*question, message, result], options={"tools": [TOOL]})
    assert last["content"] == "A pronoun."
    first_sent, last_sent = (sent.json() for sent in engine.state().generations)
    assert first_sent["tools"] == [TOOL]
    assert [turn["role"] for turn in last_sent["messages"]] == ["user", "assistant", "tool"]
    assert last_sent["messages"][1]["tool_calls"] == [CALL]


def test_an_answer_in_a_given_shape(tell: Tell, engine: ProviderProcess) -> None:
    engine.answer_by_default(Behaviour(content='{"yes": true}'))
    said = tell(options={"response_format": SHAPE})
    assert json.loads(said["content"]) == {"yes": True}
    assert engine.state().generations[0].json()["response_format"]["json_schema"]["name"] == "verdict"


def _is_refused(said: dict[str, Any], name: str, class_name: str, status: int, code: str) -> None:
    assert (said["status"], said["code"]) == (status, code)
    # langchain-openai has classes of its own below those of OpenAI's SDK; curl has none.
    assert name == "curl" or class_name in said["classes"]
