"""What is done to a good body: at any of its nodes, and to its text."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from gateway.testkit.fuzz.grammar import PNG, body

TRAP = "http://smuggled.invalid/v1"
"""Wherever it stands it must not lead anywhere. Its word marks what must not be on the wire."""
DESTINATIONS: dict[str, Any] = {
    "api_base": TRAP,
    "base_url": TRAP,
    "api_key": "smuggled",
    "api_version": "smuggled",
    "custom_llm_provider": "smuggled",
    "extra_body": {"model": "smuggled"},
    "extra_headers": {"Authorization": "Bearer smuggled"},
    "headers": {"Host": "smuggled.invalid"},
    "route": "smuggled",
    "profile": "smuggled",
    "provider": {"order": ["smuggled"]},
    "models": ["smuggled"],
    "fallbacks": [{"model": "smuggled", "api_base": TRAP}],
    "context_window_fallback_dict": {"chat": "smuggled"},
    "mock_response": "smuggled",
    "num_retries": 9,
    "metadata": {"tags": ["smuggled"]},
    "user": "smuggled",
    "store": True,
    "service_tier": "priority",
    "functions": [{"name": "smuggled"}],
    "privacy_class": "public",
    "cache_salt": "smuggled",
    "id_slot": 0,
    "n_predict": 100_000,
    "max_output": 100_000,
    "ignore_eos": True,
    "min_tokens": 100_000,
    "__class__": "smuggled",
    "": "smuggled",
}
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1.0,
    1.5,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**30,
    1e308,
    5e-324,
    -0.0,
    "",
    " ",
    "1",
    "null",
    "x" * 300,
    "y" * 70_000,
    "<|im_start|>system",
    "\u0000",
    "\ud800",
    "\u202e",
    [],
    {},
    [[]],
    [None],
    {"": {}},
    TRAP,
    {"type": "text", "text": "Is it?"},
    {"type": "image_url", "image_url": {"url": PNG}},
    {"type": "image_url", "image_url": {"url": TRAP + "/cat.png"}},
    {"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,PHN2Zy8+"}},
    {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    {"role": "function", "name": "f", "content": "stray"},
    {"role": "system", "content": "Is it?"},
    {"role": "tool", "tool_call_id": "call_0", "content": "stray"},
    {"type": "web_search"},
    {"type": "mcp", "server_url": TRAP},
    "assist",
    "smollm2-135m",
    "openai/gpt-4.1-mini",
)
Node = tuple[Any, Any]
"""A container, and the key or index in it."""


def mutated(rng: Random) -> bytes:
    """A body to which one to three things were done; now and then its text as well."""
    found = _copy(body(rng))  # parts of the grammar stand in many bodies
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(TREE)(rng, found)
    return rng.choice(TEXT)(rng, _written(rng, found)) if rng.random() < 0.15 else _written(rng, found)


def untouched(rng: Random) -> bytes:
    """A good body, in one of its spellings."""
    return _written(rng, body(rng))


def _written(rng: Random, value: Any) -> bytes:
    # With escapes also a lone surrogate can be written, which UTF-8 cannot hold.
    compact = rng.random() < 0.5
    return json.dumps(value, ensure_ascii=True, separators=(",", ":") if compact else None).encode()


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _nodes(value: Any) -> Iterator[Node]:
    steps = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, child in steps:
        yield value, key
        yield from _nodes(child)


def _node(rng: Random, found: dict[str, Any]) -> Node:
    nodes = list(_nodes(found))
    return rng.choice(nodes) if nodes else (found, "model")


def _replace(rng: Random, found: dict[str, Any]) -> None:
    holder, key = _node(rng, found)
    holder[key] = _copy(rng.choice(ODD))


def _remove(rng: Random, found: dict[str, Any]) -> None:
    holder, key = _node(rng, found)
    if isinstance(holder, list) or key in holder:
        del holder[key]


def _smuggle(rng: Random, found: dict[str, Any]) -> None:
    places = [found] + [holder[key] for holder, key in _nodes(found) if isinstance(holder[key], dict)]
    name = rng.choice(list(DESTINATIONS))
    rng.choice(places)[name] = _copy(DESTINATIONS[name])


def _rename(rng: Random, found: dict[str, Any]) -> None:
    holder, key = _node(rng, found)
    if isinstance(holder, dict) and key in holder:
        holder[rng.choice((key.upper(), key + " ", key.replace("_", "-"), key + "\u0000"))] = holder.pop(key)


def _move(rng: Random, found: dict[str, Any]) -> None:
    """A part of the body in the place of another."""
    holder, key = _node(rng, found)
    other, place = _node(rng, found)
    if isinstance(other, list) or place in other:
        holder[key] = _copy(other[place])


def _wrap(rng: Random, found: dict[str, Any]) -> None:
    holder, key = _node(rng, found)
    value = holder.get(key) if isinstance(holder, dict) else holder[key]
    for _ in range(rng.choice((1, 1, 2, 70))):
        value = [value] if rng.random() < 0.5 else {"type": value}
    holder[key] = value


def _repeat(rng: Random, found: dict[str, Any]) -> None:
    lists = [holder[key] for holder, key in _nodes(found) if isinstance(holder[key], list) and holder[key]]
    if lists:
        some = rng.choice(lists)
        some.extend([some[0]] * rng.choice((1, 2, 40, 200)))


TREE: tuple[Callable[[Random, dict[str, Any]], None], ...] = (
    _replace,
    _replace,
    _replace,
    _remove,
    _smuggle,
    _smuggle,
    _rename,
    _move,
    _wrap,
    _repeat,
)


def _cut(rng: Random, text: bytes) -> bytes:
    return text[: rng.randrange(len(text))]


def _insert(rng: Random, text: bytes) -> bytes:
    at = rng.randrange(len(text))
    piece = rng.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x00", b",", b"}", b"NaN", b"/*x*/", b"\\ud800", b"'"))
    return text[:at] + piece + text[at:]


def _again(rng: Random, text: bytes) -> bytes:
    """A key that stands there already, once more: which of the two counts?"""
    found = json.loads(text)
    name = rng.choice(list(found)) if isinstance(found, dict) and found else "model"
    return text[:-1] + f',{json.dumps(name)}:"assist"}}'.encode()


def _number(rng: Random, text: bytes) -> bytes:
    number = rng.choice((b"1e999", b"NaN", b"-Infinity", b"01", b"1.", b"+1", b"9" * 400, b"1e-999", b"0x10", b"1E2"))
    return text[:-1] + b',"' + rng.choice((b"temperature", b"max_tokens", b"seed", b"top_p")) + b'":' + number + b"}"


def _frame(rng: Random, text: bytes) -> bytes:
    return rng.choice((b"\xef\xbb\xbf" + text, text + b"\n", text + text, b"[" + text + b"]", b"", b"null", b'"' * 9))


def _deep(rng: Random, text: bytes) -> bytes:
    depth = rng.choice((63, 64, 65, 5_000, 100_000))
    return text[:-1] + b',"metadata":' + b"[" * depth + b"]" * depth + b"}"


def _encode(rng: Random, text: bytes) -> bytes:
    return text.decode().encode(rng.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-le")))


def _long(rng: Random, text: bytes) -> bytes:
    return text[:-1] + b" " * rng.choice((1_000, 1_100_000)) + b"}"


TEXT: tuple[Callable[[Random, bytes], bytes], ...] = (_cut, _insert, _again, _number, _frame, _deep, _encode, _long)
