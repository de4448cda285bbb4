"""Failures of other systems around bodies that two readers read differently, by the ids of the collection of cases.

Each is sent over HTTP to a real gateway whose profile serves everything, so that nothing but the reader can refuse
it: no engine is called, nothing is reserved, and no row is written.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.registry_edits import PROFILE
from gateway.testkit.registry_copy import Edit
from gateway.testkit.world import Ask

EVERYTHING = (
    Edit(
        file=PROFILE,
        old="capabilities: [chat, ",
        new="capabilities: [chat, tools, parallel_tool_calls, images, reasoning_effort, ",
    ),
    Edit(file=PROFILE, old="  per_request: 32\n", new="  per_request: 32\n  per_image: 400\n"),
)
USER = {"role": "user", "content": "Is it?"}
BASE: dict[str, Any] = {"model": "chat", "messages": [USER]}
HALF, NUL = "\\ud83d", "\\u0000"
"""As they stand in JSON."""

Row = tuple[bytes, int, str, str | None]
"""A body, and the status, code and field of its refusal."""


def body(**changes: Any) -> bytes:
    return json.dumps(BASE | changes).encode()


def raw(text: str, **changes: Any) -> bytes:
    """A body in which "N" stands for a text that json.dumps would not write."""
    return body(**changes).replace(b'"N"', text.encode())


def function(**fields: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": "f"} | fields}]


def shown(**image: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": image}]}]


def nested(levels: int) -> dict[str, Any]:
    return {"a": nested(levels - 1)} if levels else {}


def caps() -> Iterator[tuple[str, Row]]:
    """Caps on the output, and nulls."""
    both = {"max_tokens": 5, "max_completion_tokens": 9000}
    yield "BND-01", (body(**both), 400, "invalid_value", "max_completion_tokens")
    for alias in ("max_output_tokens", "max_new_tokens", "thinking", "max_length"):
        yield "BND-01", (body(max_tokens=5, **{alias: 9000}), 400, "unknown_field", alias)
    for cap in (True, False, 1.5, 5.0, "10", [], {}, 1e18):
        yield "BND-02", (body(max_tokens=cap), 400, "invalid_value", "max_tokens")
    for cap in (0, -1, -5, 10**18, 10**19, 257):
        code = "output_exceeds_profile" if cap in (257, 10**18) else "invalid_value"
        yield "BND-02", (body(max_tokens=cap), 422, code, "max_tokens")
    yield "BND-02", (raw("1e2", max_tokens="N"), 400, "invalid_value", "max_tokens")
    yield "BND-02", (raw("NaN", max_tokens="N"), 400, "malformed_body", None)
    for field in ("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "gateway"):
        yield "BND-02", (body(**{field: None}), 422, "invalid_value", field)


def spellings() -> Iterator[tuple[str, Row]]:
    """Keys, depths, characters and numbers that two readers could read differently."""
    for text in (
        '{"model":"chat","model":"assist","messages":[]}',
        '{"model":"chat","mod\\u0065l":"assist","messages":[]}',
        '{"model":"chat","messages":[{"role":"user","content":"a","content":"b"}]}',
        '{"model":"chat","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":'
        '{"name":"f","parameters":{"a":1,"a":2}}}]}',
        '{"model":"chat","messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_schema",'
        '"json_schema":{"name":"f","schema":{"deep":[{"a":1,"\\u0061":2}]}}}}',
    ):
        yield "BND-09", (text.encode(), 400, "malformed_body", None)
    for deep in (b"[" * 5000, b'{"a":' * 1000 + b"1" + b"}" * 1000, body(tools=function(parameters=nested(400)))):
        yield "BND-10", (deep, 400, "malformed_body", None)
    for field, value in (
        ("model", "N"),
        ("messages", [{"role": "user", "content": "N"}]),
        ("stop", "N"),
        ("tools", function(description="N")),
        ("tools", function(parameters={"enum": ["N"]})),
        ("tools", function(parameters={"N": 1})),
        ("messages", [USER, {"role": "assistant", "content": "N"}]),
        ("gateway", {"purpose": "N"}),
    ):
        yield "BND-11", (raw(f'"{HALF}"', **{field: value}), 400, "malformed_body", None)
    yield "BND-11", (body().replace(b"Is it?", b"\xff"), 400, "malformed_body", None)
    yield "BND-11", (body().replace(b"Is it?", b"\xed\xa0\xbd"), 400, "malformed_body", None)
    for number in ("9" * 5000, "1e999", "-1e999", "9223372036854775808"):
        for field in ("max_tokens", "seed", "temperature", "presence_penalty", "top_logprobs"):
            yield "BND-13", (raw(number, **{field: "N"}), 0, "", None)
    for number in ("9" * 5000, "9" * 300, "18446744073709551616", "1e999", "-1e999", "NaN", "Infinity"):
        for place in (function(parameters={"maximum": "N"}), function(parameters={"enum": [[1, {"a": "N"}]]})):
            yield "BND-13", (raw(number, tools=place), 0, "", None)


def shapes() -> Iterator[tuple[str, Row]]:
    """What is no request at all."""
    for nothing in (b"[]", b"null", b"1", b'"x"', b"true", b""):
        yield "BND-17", (nothing, 400, "malformed_body", None)
    yield "BND-17", (b"{}", 400, "invalid_value", "model")
    for messages, status, param in (
        ([], 422, "messages"),
        ([None], 422, "messages[0]"),
        ("x", 400, "messages"),
        ([{"role": "root", "content": "x"}], 422, "messages[0].role"),
        ([{"content": "x"}], 400, "messages[0].role"),
        ([{"role": "user", "content": None}], 422, "messages[0].content"),
        ([{"role": "user"}], 400, "messages[0].content"),
        ([USER, {"role": "assistant", "content": None}], 422, "messages[1].content"),
        ([{"role": "tool", "content": "x"}], 400, "messages[0].tool_call_id"),
    ):
        yield "BND-17", (body(messages=messages), status, "invalid_value", param)


def destinations() -> Iterator[tuple[str, Row]]:
    """Names of other models, places, switches and labels."""
    for field in ("fallbacks", "context_window_fallbacks", "models", "route", "allow_fallback"):
        yield "RTE-05", (body(**{field: [{"model": "assist"}]}), 400, "unknown_field", field)
    for extra in ({"max_tokens": 99_999, "stream": True}, {"model": "assist"}, None):
        yield "RTE-07", (body(max_tokens=5, extra_body=extra), 400, "unknown_field", "extra_body")
    for field in ("mock_response", "mock_testing_fallbacks", "mock_timeout", "mock_tool_calls", "mock_delay"):
        yield "RTE-09", (body(**{field: "ok"}), 400, "unknown_field", field)
    for field in ("metadata", "tags", "user", "litellm_metadata", "safety_identifier"):
        value = {"tenant": "tenant-a", "privacy": "public", "tags": ["vip"]}
        yield "RTE-10", (body(**{field: value}), 400, "unknown_field", field)
    for name in ("CHAT", "chat ", "\uff43hat", "chat\u200b", "\u0441hat", "chat/", "chat%20", "chat-v1", "chat\0"):
        yield "RTE-11", (body(model=name), 404, "unknown_model", "model")
    for url in (
        "http://169.254.169.254/",
        "https://example.com/a.png",
        "file:///etc/passwd",
        "data:text/html;base64,AA==",
    ):
        yield "RTE-15", (body(messages=shown(url=url)), 422, "invalid_value", "messages[0].content[0].image_url.url")
    for kind in ("video_url", "audio_url", "input_audio", "file"):
        part = {"type": kind, kind: {"url": "http://169.254.169.254/"}}
        messages = [{"role": "user", "content": [part]}]
        yield "RTE-15", (body(messages=messages), 422, "invalid_value", "messages[0].content[0].type")
    large = "data:image/png;base64," + "A" * 2**20
    yield "RTE-15", (body(messages=shown(url=large)), 413, "body_too_large", None)
    for field in ("prompt_cache_key", "cache_salt", "prompt_cache_retention", "safety_identifier"):
        yield "ENG-09", (body(**{field: "x"}), 400, "unknown_field", field)


CASES = [*caps(), *spellings(), *shapes(), *destinations()]
"""Every case with all its inputs."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpWorld]:
    """One gateway for all that it refuses."""
    world = HttpWorld(tmp_path_factory.mktemp("world"))
    world.edit_registry(*EVERYTHING)
    yield world
    world.close()


def post(world: HttpWorld, sent: bytes, key: str = "k-1", **headers: str) -> tuple[int, dict[str, Any]]:
    status, _, answer = world.request("POST", "/v1/chat/completions", world.headers(Ask(key=key)) | headers, sent)
    return status, json.loads(answer)


@pytest.mark.parametrize("case", sorted({case for case, _ in CASES}))
def test_what_a_case_sends_is_refused_before_anybody_else_sees_it(gateway: HttpWorld, case: str) -> None:
    calls = len(gateway.engine_calls())
    for sent, status, code, param in (row for name, row in CASES if name == case):
        refused, problem = post(gateway, sent)
        found = (refused, problem["code"], problem["error"]["param"])
        if status:
            assert found == (status, code, param), sent[:200]
        else:
            assert found[:2] in {(400, "malformed_body"), (400, "invalid_value"), (422, "invalid_value")}, sent[:200]
    assert (len(gateway.engine_calls()), gateway.held_tokens(), gateway.booked_tokens()) == (calls, 0, 0)


# What is served: the counterpart of each refusal, so that it is not refused for another reason


def image_parts(world: HttpWorld) -> Any:
    return world.engine_calls()[-1]["messages"][0]["content"]


SERVED: dict[str, tuple[dict[str, Any], Callable[[HttpWorld], Any], Any]] = {
    "BND-02": ({"max_tokens": None}, lambda world: world.engine_calls()[-1]["max_tokens"], 256),
    "BND-08": ({"tools": function()}, lambda world: world.engine_calls()[-1]["max_tokens"], 256),
    "BND-10": (
        {"tools": function(parameters=nested(59))},
        lambda world: world.engine_calls()[-1]["tools"][0]["function"]["parameters"],
        nested(59),
    ),
    "BND-11": (
        {"messages": [{"role": "user", "content": "a\0b"}]},
        lambda world: world.engine_calls()[-1]["messages"][0]["content"],
        "a\0b",
    ),
    "BND-13": (
        {"tools": function(parameters={"maximum": 2**64 - 1})},
        lambda world: world.engine_calls()[-1]["tools"][0]["function"]["parameters"]["maximum"],
        2**64 - 1,
    ),
    "RTE-15": (
        {"messages": shown(url="data:image/png;base64,AAAA")},
        image_parts,
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
    ),
}
"""Changes of the body, and what the engine received of them."""


@pytest.mark.parametrize("case", SERVED)
def test_what_is_like_a_case_and_unambiguous_is_served_as_it_came(tmp_path: Any, case: str) -> None:
    changes, received, expected = SERVED[case]
    world = HttpWorld(tmp_path)
    world.edit_registry(*EVERYTHING)
    try:
        status, answer = post(world, body(**changes))
        assert status == 200, answer
        assert received(world) == expected
        assert len(world.engine_calls()) == 1
    finally:
        world.close()


# BND-11: identifiers


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"tools": function(name="f\0")}, "tools[0].function.name"),
        (
            {"messages": [USER, {"role": "assistant", "tool_calls": [{"id": "a\0", "function": {}}]}]},
            "messages[1].tool_calls[0].id",
        ),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "a\0"}]}, "messages[0].tool_call_id"),
    ],
)
def test_bnd_11_a_nul_in_an_identifier_is_refused(gateway: HttpWorld, changes: dict[str, Any], param: str) -> None:
    calls = len(gateway.engine_calls())
    status, problem = post(gateway, body(**changes))
    assert (status, problem["code"], problem["error"]["param"]) == (422, "invalid_value", param)
    assert (len(gateway.engine_calls()), gateway.held_tokens()) == (calls, 0)


def test_bnd_11_a_nul_in_a_source_is_no_source(gateway: HttpWorld) -> None:
    calls = len(gateway.engine_calls())
    cited = {"purpose": "answers", "sources": [{"id": "handbook\0", "revision": "1"}]}
    status, problem = post(gateway, body(gateway=cited))
    assert (status, problem["code"]) == (403, "access_denied")
    assert (len(gateway.engine_calls()), gateway.held_tokens()) == (calls, 0)


# RTE-09, RTE-10: headers


@pytest.mark.parametrize("header", ["X-Mock", "X-Litellm-Tags", "X-Litellm-Mock-Response", "X-Tenant", "X-Privacy"])
def test_rte_09_and_10_a_header_switches_and_labels_nothing(tmp_path: Any, header: str) -> None:
    world = HttpWorld(tmp_path)
    try:
        status, answer = post(world, body(), **{header: "tenant-a"})
        assert (status, answer["choices"][0]["message"]["content"]) == (200, "Hello.")
        (received,) = world._provider.generations
        assert header.lower() not in received.headers
        assert "tenant-a" not in received.body.decode()
        assert world.look_at(answer["id"])["attempt"]["profile"] == "smollm2-135m"
    finally:
        world.close()
