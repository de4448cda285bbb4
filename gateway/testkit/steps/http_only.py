"""Steps that only exist over HTTP: bodies, headers, paths, and operators' keys."""

import json
import socket
from typing import Any

from pytest_bdd import given, parsers, then, when

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.http_words import reply
from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import Ask

MESSAGES = [{"role": "user", "content": "Is it?"}]
BODIES: dict[str, bytes] = {
    "no JSON": b"Is it?",
    "a list": b"[1, 2]",
    "a key twice": b'{"model":"chat","model":"other","messages":[]}',
    "deep nesting": b'{"messages":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "half a character": b'{"model":"chat","messages":[{"role":"user","content":"\\ud83d"}]}',
}


def _send(world: HttpWorld, memory: Memory, ask: Ask, body: bytes, *, path: str = "/v1/chat/completions") -> None:
    memory.replies.append(reply(*world.request("POST", path, world.headers(ask), body)))


@when('the assistant asks "Is it?" without a key')
def _without_key(world: HttpWorld, memory: Memory) -> None:
    memory.replies.append(world.ask(Ask(key=None)))


@when(parsers.parse('the assistant asks "Is it?" under a key of {letters:d} letters'))
def _long_key(world: HttpWorld, memory: Memory, letters: int) -> None:
    memory.replies.append(world.ask(Ask(key="k" * letters)))


@when(parsers.parse('the assistant sends the extra field "{field}" under the key "{key}"'))
def _extra_field(world: HttpWorld, memory: Memory, field: str, key: str) -> None:
    parent, _, name = field.rpartition(".")
    extra: dict[str, Any] = {name: "http://127.0.0.1:9/v1"}
    memory.replies.append(world.ask(Ask(key=key, changes={parent: extra} if parent else extra)))


@then(parsers.parse('the refusal is about "{field}"'))
def _about(memory: Memory, field: str) -> None:
    assert memory.last.param == field


@when(parsers.parse('the assistant sends as the body {body} under the key "{key}"'))
def _sends(world: HttpWorld, memory: Memory, body: str, key: str) -> None:
    _send(world, memory, Ask(key=key), BODIES[body])


@when(parsers.parse('the assistant asks "Is it?" under the key "{key}" with both caps'))
def _both_caps(world: HttpWorld, memory: Memory, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes={"max_tokens": 5, "max_completion_tokens": 200})))


@when(parsers.parse('the assistant asks "Is it?" under the key "{key}" as a stream'))
def _as_stream(world: HttpWorld, memory: Memory, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes={"stream": True})))


@when(parsers.parse('the assistant asks "Is it?" under the key "{key}" with "{query}" in the address'))
def _with_query(world: HttpWorld, memory: Memory, key: str, query: str) -> None:
    body = json.dumps({"model": "chat", "messages": MESSAGES}).encode()
    _send(world, memory, Ask(key=key), body, path=f"/v1/chat/completions{query}")


@when(parsers.parse('the assistant sends two million letters under the key "{key}"'))
def _large_body(world: HttpWorld, memory: Memory, key: str) -> None:
    _send(world, memory, Ask(key=key), b"a" * 2_000_000)


@given(parsers.parse("the gateway waits {seconds:d} second for a body"))
def _waits_for_body(world: HttpWorld, seconds: int) -> None:
    world.set(body_within_s=float(seconds))


@when("the assistant sends half a body and waits")
def _half_a_body(world: HttpWorld, memory: Memory) -> None:
    headers = world.headers(Ask(key="k-1")) | {"Host": "gateway", "Content-Length": "1000"}
    head = "POST /v1/chat/completions HTTP/1.1\r\n" + "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    with socket.create_connection(("127.0.0.1", world.port), timeout=10) as connection:
        connection.sendall(head.encode() + b'\r\n{"model":')
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
            answer += connection.recv(65536)
    received, _, body = answer.partition(b"\r\n\r\n")
    lines = received.decode().split("\r\n")
    sent = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines[1:])}
    memory.replies.append(reply(int(lines[0].split()[1]), sent, body))


@when(parsers.parse('a stranger asks "Is it?" under the key "{key}"'))
def _stranger(world: HttpWorld, memory: Memory, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, who="stranger")))


@when(parsers.parse('the assistant asks for the path "{path}"'))
def _path(world: HttpWorld, memory: Memory, path: str) -> None:
    memory.replies.append(reply(*world.request("POST", path, world.headers(Ask()), b"{}")))


@when(parsers.parse('the assistant only reads the path "{path}"'))
def _reads_path(world: HttpWorld, memory: Memory, path: str) -> None:
    memory.replies.append(reply(*world.request("GET", path, world.headers(Ask()))))


@when(parsers.parse('the operator makes a key for "{principal}" of "{tenant}"'))
def _operator_makes_key(world: HttpWorld, memory: Memory, principal: str, tenant: str) -> None:
    _make_key(world, memory, "operator", principal, tenant)


@when(parsers.parse('the assistant makes a key for "{principal}" of "{tenant}"'))
def _assistant_makes_key(world: HttpWorld, memory: Memory, principal: str, tenant: str) -> None:
    _make_key(world, memory, "assistant", principal, tenant)


def _make_key(world: HttpWorld, memory: Memory, who: str, principal: str, tenant: str) -> None:
    status, headers, document = world.make_key(principal, tenant, world.token(who))
    if status >= 400:
        memory.replies.append(reply(status, headers, json.dumps(document).encode()))
    else:
        memory.token = document["token"]


@when(parsers.parse('the assistant asks "{question}" under the key "{key}" with that credential'))
def _ask_with_new_key(world: HttpWorld, memory: Memory, question: str, key: str) -> None:
    assert memory.token is not None
    world.use_token("assistant", memory.token)
    memory.replies.append(world.ask(Ask(question=question, key=key)))


@given("the gateway is draining")
def _draining(world: HttpWorld) -> None:
    world.drain()


@given("the engine repeats the request in an error")
def _echoes(world: HttpWorld) -> None:
    world.engine_does("echo")


@then(parsers.parse('the words "{first}" and "{second}" are found nowhere'))
def _found_nowhere(world: HttpWorld, memory: Memory, first: str, second: str) -> None:
    for word in (first, second):
        assert places(world, memory, word) == []


@then(parsers.parse('the word "{word}" is found in the saved result only'))
def _found_in_result(world: HttpWorld, memory: Memory, word: str) -> None:
    assert places(world, memory, word) == ["the answer", "table result"]


@then("no credential is found anywhere")
def _no_credential(world: HttpWorld, memory: Memory) -> None:
    assert places(world, memory, world.token("assistant")) == []
    assert places(world, memory, world.token("operator")) == ["file operator.key"]


def places(world: HttpWorld, memory: Memory, word: str) -> list[str]:
    """Where a word is found, of all that callers, operators and other programs can read."""
    assert memory.last.operation_id is not None
    texts = {
        "the answer": memory.last.body.decode(),
        "the log": world.log.getvalue(),
        "the metrics": world.request("GET", "/metrics", {})[2].decode(),
        "readiness": world.request("GET", "/readyz", {})[2].decode(),
        "the operation": repr(world.look_at(memory.last.operation_id)),
    }
    assert "gateway_" in texts["the metrics"]
    assert "Dispatched" in texts["the log"]
    return [place for place, text in texts.items() if word in text] + world.stored_places(word)


@given("a spare engine is approved for the same model")
def _spare_engine(world: HttpWorld) -> None:
    world.approve_spare_engine()


@given("the engine never answers")
def _never_answers(world: HttpWorld) -> None:
    world.engine_does("hang")


@then("the spare engine stays idle")
def _spare_idle(world: HttpWorld) -> None:
    assert world.spare_engine_calls() == 0
