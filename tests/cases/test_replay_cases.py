"""Failures of other systems around keys and stored answers, by the ids of the collection of cases."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gateway.api.chat_body import ChatBody, Extension
from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.registry_edits import ACME, PROFILE
from gateway.testkit.registry_copy import EXAMPLE, Edit
from gateway.testkit.world import Ask

BETA = (EXAMPLE / ACME).read_text().replace("id: acme", "id: beta", 1)
CHAT_2 = (EXAMPLE / "bundles" / "chat@1.yaml").read_text().replace("id: chat@1", "id: chat@2")
TWO_TENANTS = (
    Edit(file="tenants/beta.yaml", old="", new=BETA),
    Edit(file=PROFILE, old="prefix_cache: single_tenant\n  tenants: [acme]", new='prefix_cache: "off"\n  tenants: any'),
)


def test_rep_02_the_same_key_of_another_tenant_is_another_operation(world: HttpWorld) -> None:
    world.edit_registry(*TWO_TENANTS)
    world.engine_answers("secret of acme")
    first = world.ask(Ask(who="acme/assistant"))
    world.engine_answers("for beta")
    second = world.ask(Ask(who="beta/assistant"))
    assert (first.text, second.text) == ("secret of acme", "for beta")
    assert not second.replayed
    assert first.operation_id != second.operation_id
    assert len(world.engine_calls()) == 2


def test_rep_09_identical_prompts_under_different_keys_are_never_answered_from_one_another(world: HttpWorld) -> None:
    world.edit_registry(*TWO_TENANTS)
    asks = [Ask(who=who, key=key) for who in ("acme/assistant", "beta/assistant") for key in ("k-1", "k-2")]
    replies = [world.ask(ask) for ask in asks]
    assert not any(reply.replayed for reply in replies)
    assert len(world.engine_calls()) == 4


def test_rep_16_a_foreign_operation_is_an_unknown_one(world: HttpWorld) -> None:
    world.edit_registry(*TWO_TENANTS)
    mine = world.ask(Ask(who="acme/assistant"))
    assert mine.operation_id is not None
    answers = []
    for path in (mine.operation_id, "01a22c2b-0ed8-70b4-b3a7-000000000000", f"{mine.operation_id}/timeline"):
        headers = {"Authorization": f"Bearer {world.token('beta/assistant')}"}
        status, _, body = world.request("GET", f"/v1/operations/{path}", headers)
        answers.append((status, body))
    assert answers[0][0] == 404
    assert len(set(answers)) == 1


def test_rep_08_a_moved_release_changes_no_old_operation(world: HttpWorld) -> None:
    world.engine_answers("of the first bundle")
    first = world.ask(Ask(key="answered"))
    world.engine_does("drop")
    world.ask(Ask(key="lost"))
    world.edit_registry(
        Edit(file="bundles/chat@2.yaml", old="", new=CHAT_2), Edit(file="releases.yaml", old="chat@1", new="chat@2")
    )
    world.restart()
    world.engine_answers("of the second bundle")
    again, lost, fresh = (world.ask(Ask(key=key)) for key in ("answered", "lost", "new"))
    assert (again.body, again.replayed) == (first.body, True)
    assert lost.code == "outcome_unknown"
    assert (fresh.text, fresh.replayed) == ("of the second bundle", False)
    shown = {reply.operation_id: world.look_at(reply.operation_id or "") for reply in (again, lost, fresh)}
    bundles = [shown[reply.operation_id]["bundle"] for reply in (again, lost, fresh)]  # type: ignore[call-overload]
    assert bundles == ["chat@1", "chat@1", "chat@2"]


def test_rep_12_a_replay_reserves_nothing(world: HttpWorld) -> None:
    world.ask(Ask())
    booked = world.booked_tokens()
    assert world.ask(Ask()).replayed
    assert (world.held_tokens(), world.booked_tokens()) == (0, booked)


def test_rep_15_a_replay_has_the_headers_of_the_first_answer(world: HttpWorld) -> None:
    ask = Ask()
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}).encode()
    (_, first, _), (_, again, _) = (
        world.request("POST", "/v1/chat/completions", world.headers(ask), body) for _ in range(2)
    )
    assert again.pop("idempotent-replayed") == "true"
    assert {**first, "date": ""} == {**again, "date": ""}


# REP-05: the fingerprint leaves something out

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"maxLength": 80}}}


def _function(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA} | more}


def _format(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema} | more}}


GROUNDED: dict[str, Any] = {
    "model": "chat",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it?"}],
    "max_tokens": 17,
    "temperature": 0.5,
    "top_p": 0.9,
    "seed": 4,
    "stop": ["END"],
    "tools": [_function("weather"), _function("time")],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "logprobs": True,
    "top_logprobs": 2,
    "presence_penalty": 0.5,
    "frequency_penalty": -1,
    "reasoning_effort": "low",
    "gateway": {"purpose": "answers", "sources": [{"id": "a", "revision": "1"}, {"id": "b", "revision": "1"}]},
} | _format(SCHEMA)
"""A request with every field of the body."""
SERVES_ALL = Edit(file=PROFILE, old="capabilities: [chat, ", new="capabilities: [chat, tools, parallel_tool_calls, ")
REASONS = Edit(file=PROFILE, old=", seed]", new=", seed, reasoning_effort]")


def _message(index: int, **changes: str) -> dict[str, Any]:
    messages = [message | (changes if at == index else {}) for at, message in enumerate(GROUNDED["messages"])]
    return {"messages": messages}


def _sources(*cited: tuple[str, str]) -> dict[str, Any]:
    return {"gateway": GROUNDED["gateway"] | {"sources": [{"id": name, "revision": at} for name, at in cited]}}


OTHERWISE: list[tuple[str, dict[str, Any]]] = [
    ("model", {"model": "assist"}),
    ("messages", _message(0, content="Be brief!")),
    ("messages", _message(1, content="Is it? ")),
    ("messages", _message(0, role="user")),
    ("messages", {"messages": GROUNDED["messages"][1:]}),
    ("messages", {"messages": GROUNDED["messages"][::-1]}),
    ("messages", {"messages": [*GROUNDED["messages"], GROUNDED["messages"][1]]}),
    ("max_tokens", {"max_tokens": 18}),
    ("max_tokens", {"max_tokens": None, "max_completion_tokens": 18}),
    ("max_tokens", {"max_tokens": None}),
    ("temperature", {"temperature": 0.500001}),
    ("temperature", {"temperature": 0}),
    ("temperature", {"temperature": None}),
    ("top_p", {"top_p": 1}),
    ("top_p", {"top_p": None}),
    ("seed", {"seed": 5}),
    ("seed", {"seed": -4}),
    ("seed", {"seed": None}),
    ("stop", {"stop": ["end"]}),
    ("stop", {"stop": ["END", "STOP"]}),
    ("stop", {"stop": None}),
    ("tools", {"tools": [_function("weather")]}),
    ("tools", {"tools": [_function("time"), _function("weather")]}),
    ("tools", {"tools": [_function("weather", description="Of a city."), _function("time")]}),
    ("tools", {"tools": [_function("weather", strict=True), _function("time")]}),
    ("tools", {"tools": [_function("weather", parameters={}), _function("time")]}),
    ("tools", {"tools": [_function("weather", parameters=SCHEMA | {"required": ["city"]}), _function("time")]}),
    ("tool_choice", {"tool_choice": "required"}),
    ("tool_choice", {"tool_choice": {"type": "function", "function": {"name": "time"}}}),
    ("parallel_tool_calls", {"parallel_tool_calls": False}),
    ("response_format", {"response_format": {"type": "text"}}),
    ("response_format", {"response_format": {"type": "json_object"}}),
    ("response_format", _format(SCHEMA, strict=True)),
    ("response_format", _format({"type": "object", "properties": {"city": {"maxLength": 81}}})),
    ("logprobs", {"logprobs": None, "top_logprobs": None}),
    ("top_logprobs", {"top_logprobs": 3}),
    ("top_logprobs", {"top_logprobs": None}),
    ("presence_penalty", {"presence_penalty": 0}),
    ("presence_penalty", {"presence_penalty": None}),
    ("frequency_penalty", {"frequency_penalty": 1}),
    ("reasoning_effort", {"reasoning_effort": "high"}),
    ("reasoning_effort", {"reasoning_effort": None}),
    ("gateway.sources", _sources(("a", "1"), ("b", "2"))),
    ("gateway.sources", _sources(("a", "1"))),
    ("gateway.sources", _sources(("a", "1"), ("b", "1"), ("c", "1"))),
    ("gateway.sources", _sources(("a", "1"), ("c", "1"))),
    ("gateway.sources", {"gateway": {"purpose": "answers"}}),
    ("gateway.purpose", {"gateway": GROUNDED["gateway"] | {"purpose": "drafting"}}),
    ("gateway.purpose", {"gateway": {"sources": GROUNDED["gateway"]["sources"]}}),
]
"""One field each that is sent otherwise, and the name that the conflict gives it."""
THE_SAME: list[dict[str, Any]] = [
    {},
    {"max_tokens": None, "max_completion_tokens": 17},
    {"stop": "END"},
    {"n": 1, "stream": False},
    _sources(("b", "1"), ("a", "1")),
    _format({"properties": {"city": {"maxLength": 80.0}}, "type": "object"}),
    {"frequency_penalty": -1.0, "tools": [_function("weather", strict=None), _function("time")]},
]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpWorld]:
    """One answer under one key."""
    world = HttpWorld(tmp_path_factory.mktemp("world"))
    world.edit_registry(SERVES_ALL, REASONS)
    try:
        for source in ("a", "b"):
            _administer(world, "grant", _granted(source))
        assert _post(world, GROUNDED)[0] == 200
        yield world
    finally:
        world.close()


@pytest.mark.parametrize(("field", "change"), OTHERWISE)
def test_rep_05_one_field_sent_otherwise_is_another_request(
    answered: HttpWorld, field: str, change: dict[str, Any]
) -> None:
    calls = len(answered.engine_calls())
    status, problem = _post(answered, GROUNDED | change)
    fields = ["logprobs", "top_logprobs"] if field == "logprobs" else [field]  # the second needs the first
    assert (status, problem["code"], problem["fields"]) == (422, "operation_key_reused", fields)
    assert (len(answered.engine_calls()), answered.held_tokens()) == (calls, 0)


@pytest.mark.parametrize("change", THE_SAME)
def test_rep_05_the_same_in_other_words_is_the_same_request(answered: HttpWorld, change: dict[str, Any]) -> None:
    calls = len(answered.engine_calls())
    status, answer = _post(answered, GROUNDED | change)
    assert (status, "choices" in answer, len(answered.engine_calls())) == (200, True, calls)


def test_rep_05_every_field_of_a_request_is_tried() -> None:
    """A field that comes to the body later has to be tried too."""
    aside = {"gateway", "max_completion_tokens", "n", "stream"}
    assert {field.name for field in msgspec.structs.fields(ChatBody)} - aside == {
        field for field, _ in OTHERWISE if not field.startswith("gateway.")
    }
    assert {f"gateway.{field.name}" for field in msgspec.structs.fields(Extension)} <= {name for name, _ in OTHERWISE}


# REP-06: one of several sources was revoked


def _granted(source: str, **changes: Any) -> dict[str, Any]:
    whole = {"id": source, "tenant": "acme", "groups": ["staff"], "revision": "1", "privacy_class": "internal"}
    return whole | changes


def _administer(world: HttpWorld, act: str, body: dict[str, Any]) -> None:
    headers = {"Authorization": f"Bearer {world.token('platform/operations')}"}
    status, _, answer = world.request("POST", f"/admin/sources/{act}", headers, json.dumps(body).encode())
    assert status == 200, answer


def _post(world: HttpWorld, body: dict[str, Any], key: str = "k-1") -> tuple[int, dict[str, Any]]:
    headers = world.headers(Ask(key=key))
    status, _, answer = world.request("POST", "/v1/chat/completions", headers, json.dumps(body).encode())
    return status, json.loads(answer)


LOST: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "closed to the group": (("revoke", {"id": "b", "groups": ["staff"]}),),
    "closed to everybody": (("revoke", {"id": "b"}),),
    "at another revision": (("grant", _granted("b", revision="2")),),
    "under embargo": (("grant", _granted("b", released="2100-01-01T00:00:00Z")),),
    "confirmed too long ago": (("grant", _granted("b", as_of="2020-01-01T00:00:00Z")),),
}
"""Ways in which one of three sources can be lost that can be taken back."""


@pytest.mark.parametrize("how", LOST)
def test_rep_06_one_of_several_sources_that_may_not_be_read_today_hides_the_answer(world: HttpWorld, how: str) -> None:
    for source in ("a", "b", "c"):
        _administer(world, "grant", _granted(source))
    world.engine_answers("CANARY-A")
    ask = Ask(key="k-1", purpose="answers", sources=("a", "b", "c"))
    first = world.ask(ask)
    assert (first.text, first.operation_id is None) == ("CANARY-A", False)
    for act, body in LOST[how]:
        _administer(world, act, body)
    for _ in range(3):
        refused = world.ask(ask)
        assert (refused.code, refused.replayed) == ("replay_source_forbidden", False)
        assert not any(word in refused.body for word in (b"CANARY", b"chat@1", b"smollm2", b'"b"'))
    seen = world.look_at(first.operation_id or "")
    assert isinstance(seen, dict)
    assert seen["state"] == "completed"
    assert "CANARY" not in json.dumps(seen)
    for who in ("assistant", "operator"):
        headers = {"Authorization": f"Bearer {world.token(who)}"}
        for path in ("", "/timeline", "?body=true", "/body", "/result"):
            _, _, body = world.request("GET", f"/v1/operations/{first.operation_id}{path}", headers)
            assert b"CANARY" not in body
    _administer(world, "grant", _granted("b"))
    again = world.ask(ask)
    assert (again.body, again.replayed) == (first.body, True)
    assert (len(world.engine_calls()), world.held_tokens()) == (1, 0)


def test_rep_06_each_replay_looks_again_and_at_every_source(world: HttpWorld) -> None:
    """In quick succession, so that nothing that was found a moment ago may serve."""
    names = ("a", "b", "c")
    for source in names:
        _administer(world, "grant", _granted(source))
    ask = Ask(key="k-1", purpose="answers", sources=names)
    first = world.ask(ask)
    for source in names * 2:
        assert world.ask(ask).body == first.body
        _administer(world, "revoke", {"id": source})
        assert world.ask(ask).code == "replay_source_forbidden"
        _administer(world, "grant", _granted(source))
    assert world.ask(ask).body == first.body
    _administer(world, "withdraw", {"id": "c"})
    assert world.ask(ask).code == "replay_source_forbidden"
    assert len(world.engine_calls()) == 1
