"""Schemas that nothing obeys. An engine that looks for what does would never answer, and a slot would be lost."""

import json
from typing import Any

import pytest

from gateway.api.chat_body import read_chat
from gateway.api.problems import status_of
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request


def offered(schema: dict[str, Any]) -> Request | Refusal:
    return read(tools=[{"type": "function", "function": {"name": "a", "parameters": schema}}])


def wanted(schema: dict[str, Any]) -> Request | Refusal:
    return read(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": schema}})


def read(**fields: Any) -> Request | Refusal:
    return read_chat(json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], **fields}).encode())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 5, "maxLength": 2},
        {"minItems": 2.5, "maxItems": 2},
        {"type": "string", "pattern": "^a{5,2}$"},
        {"type": "string", "pattern": "^[ab]{1,2}(ab){05,2}$"},
    ],
)
@pytest.mark.parametrize("depth", [0, 3])
def test_a_range_that_ends_below_its_start_is_refused(schema: dict[str, Any], depth: int) -> None:
    for _ in range(depth):
        schema = {"anyOf": [{"properties": {"a": schema}}]}
    found = {"tools[0].function.parameters": offered(schema), "response_format.json_schema.schema": wanted(schema)}
    for param, refusal in found.items():
        assert isinstance(refusal, Refusal)
        assert (refusal.code, status_of(refusal), refusal.param) == (Code.INVALID_VALUE, 422, param)


@pytest.mark.parametrize(
    "schema",
    [
        {"minLength": 2, "maxLength": 2, "minItems": 0, "maxItems": 0, "pattern": "^a{2,2}b{0,1}c{3,}d{,2}$"},
        {"pattern": r"^a\{5,2}$", "minItems": "5", "maxItems": "2"},
        {"properties": {"minLength": {"type": "integer"}, "maxLength": {"type": "integer"}, "pattern": {}}},
        {"pattern": "^a{" + "9" * 5000 + ",1}$"},
    ],
)
def test_other_ranges_are_let_be(schema: dict[str, Any]) -> None:
    assert isinstance(offered(schema), Request)
    assert isinstance(wanted(schema), Request)
