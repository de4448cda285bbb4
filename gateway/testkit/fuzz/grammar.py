"""Bodies that are served, of every shape. Each is a function of its random generator."""

import base64
from collections.abc import Callable
from random import Random
from typing import Any

WORDS = ("Is it?", "Schrödinger’s 猫 🐈", "line\nline", "a\tb", '"quoted" \\ back', "\u0000", "x" * 60, " ", "")
MODEL = "chat"
SOURCE = {"id": "handbook", "revision": "1"}
PNG = "data:image/png;base64," + base64.b64encode(bytes(range(12))).decode()


def body(rng: Random) -> dict[str, Any]:
    """A body that the gateway serves."""
    found: dict[str, Any] = {"model": MODEL, "messages": _messages(rng)}
    if rng.random() < 0.5:
        found[rng.choice(("max_tokens", "max_completion_tokens"))] = rng.choice((1, 16, 64, 256))
    for name, make in OPTIONS.items():
        if rng.random() < 0.15:
            found[name] = make(rng)
    if rng.random() < 0.25:
        found |= _tools(rng)
    if found.get("logprobs") and rng.random() < 0.5:
        found["top_logprobs"] = rng.randrange(21)
    if rng.random() < 0.3:
        found["gateway"] = _extension(rng)
    items = list(found.items())
    rng.shuffle(items)
    return dict(items)


def text(rng: Random) -> str:
    return rng.choice(WORDS)


def _messages(rng: Random) -> list[dict[str, Any]]:
    found = [{"role": rng.choice(("system", "developer")), "content": _content(rng)}] if rng.random() < 0.4 else []
    for _ in range(rng.choice((0, 0, 1, 2))):
        found.append({"role": "user", "content": _content(rng)})
        found += _turn(rng)
    found.append({"role": "user", "content": _content(rng)})
    return found


def _turn(rng: Random) -> list[dict[str, Any]]:
    """What the model said, or what it called with the results."""
    if rng.random() < 0.6:
        return [{"role": "assistant", "content": _content(rng)}]
    ids = [f"call_{number}" for number in range(rng.choice((1, 1, 2)))]
    calls = [
        {"id": id_, "type": "function", "function": {"name": "look_up", "arguments": rng.choice(("{}", "no json"))}}
        for id_ in ids
    ]
    said: dict[str, Any] = {"role": "assistant", "tool_calls": calls}
    if rng.random() < 0.5:
        said["content"] = rng.choice((None, "Let me see."))
    return [said, *({"role": "tool", "tool_call_id": id_, "content": text(rng)} for id_ in ids)]


def _content(rng: Random) -> Any:
    if rng.random() < 0.7:
        return text(rng)
    return [{"type": "text", "text": text(rng)} for _ in range(rng.choice((1, 2)))]


def _tools(rng: Random) -> dict[str, Any]:
    names = ["look_up", "add"][: rng.choice((1, 2))]
    found: dict[str, Any] = {"tools": [_tool(rng, name) for name in names]}
    if rng.random() < 0.5:
        named = {"type": "function", "function": {"name": rng.choice(names)}}
        found["tool_choice"] = rng.choice(("auto", "none", "required", named))
    if rng.random() < 0.3:
        found["parallel_tool_calls"] = rng.random() < 0.5
    return found


def _tool(rng: Random, name: str) -> dict[str, Any]:
    function: dict[str, Any] = {"name": name}
    if rng.random() < 0.5:
        function["description"] = "Looks a word up."
    if rng.random() < 0.7:
        function["parameters"] = {"type": "object", "properties": {"word": {"type": "string"}}}
    return {"type": "function", "function": function}


def _extension(rng: Random) -> dict[str, Any]:
    return rng.choice(({}, {"purpose": "drafting"}, {"purpose": "answers", "sources": [SOURCE]}, {"sources": []}))


def _format(rng: Random) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
    of_schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema, "strict": True}}
    return rng.choice(({"type": "text"}, {"type": "json_object"}, of_schema))


OPTIONS: dict[str, Callable[[Random], Any]] = {
    "temperature": lambda rng: rng.choice((0, 0.0, 1, 2, 0.7, None)),
    "top_p": lambda rng: rng.choice((0, 1, 0.5, None)),
    "stop": lambda rng: rng.choice(("\n", ["a", "b"], None)),
    "seed": lambda rng: rng.choice((0, -1, 2**53, None)),
    "n": lambda rng: rng.choice((1, None)),
    "stream": lambda rng: rng.choice((False, None)),
    "response_format": _format,
    "logprobs": lambda rng: rng.choice((True, False, None)),
    "presence_penalty": lambda rng: rng.choice((-2, 0, 1.5, None)),
    "frequency_penalty": lambda rng: rng.choice((-2, 0, 1.5, None)),
}
