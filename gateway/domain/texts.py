"""Every text of a request that the model reads: what is counted, and what must hold no control token.

The stop sequences are none of them: an engine compares them with its answer.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from gateway.domain.message import AssistantMessage, ImagePart, Message, ToolMessage, parts_of, role_of
from gateway.domain.request import Request
from gateway.domain.tools import NamedTool, TextFormat, ToolCall

_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_EXPONENT = re.compile(r"[eE](?<=[0-9][eE])[-+0-9]")
_AT_ONCE = 65_536
"""Characters of arguments whose numbers are read one by one, within some twenty milliseconds."""
_LONGEST_NUMBER = "-1.0" * 6
"""Not shorter than any number that Python writes."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


class Countable(Struct, frozen=True, kw_only=True):
    """What of a request takes tokens."""

    texts: tuple[str, ...]
    """Every string, and as JSON what templates lay out as JSON: tools, calls of tools, the shape of the answer."""
    joints: int
    """Line breaks that an engine may put between the parts of a message."""
    messages: int
    tools: int
    """Tools, and calls of tools."""
    images: int


def countable(request: Request) -> Countable:
    """Take a request apart for a counter.

    :raises UnicodeEncodeError: for a lone surrogate within a tool; one in a text is for the counter to find.
    """
    texts: list[str] = []
    joints = tools = images = 0
    for message in request.messages:
        texts.append(role_of(message))
        parts = parts_of(message)
        texts.extend(part.text for part in parts if not isinstance(part, ImagePart))
        images += sum(isinstance(part, ImagePart) for part in parts)
        joints += max(0, len(parts) - 1)
        calls = _calls(message)
        texts.extend(map(_json_of_call, calls))
        tools += len(calls)
        if isinstance(message, ToolMessage):
            texts.append(message.tool_call_id)
    texts.extend(map(_json, request.tools or ()))
    if isinstance(request.tool_choice, NamedTool):
        texts.append(_json(request.tool_choice))
    if request.response_format is not None and not isinstance(request.response_format, TextFormat):
        texts.append(_json(request.response_format))
    if request.reasoning_effort is not None:
        texts.append(request.reasoning_effort)
    return Countable(
        texts=tuple(texts),
        joints=joints,
        messages=len(request.messages),
        tools=tools + len(request.tools or ()),
        images=images,
    )


def read_by_the_model(request: Request) -> Iterator[tuple[str, str]]:
    """Field and text, as an engine may come to read it.

    The parts of a message are joined, because a template may put nothing between them. The arguments of a call come
    also with their JSON escapes undone, because a template may lay them out anew. Keys count as texts of their field.
    """
    for index, message in enumerate(request.messages):
        field = f"messages[{index}]"
        parts = parts_of(message)
        yield f"{field}.content", "".join(part.text for part in parts if not isinstance(part, ImagePart))
        if isinstance(message, ToolMessage):
            yield f"{field}.tool_call_id", message.tool_call_id
        for number, call in enumerate(_calls(message)):
            of_call = f"{field}.tool_calls[{number}]"
            yield f"{of_call}.id", call.id
            yield f"{of_call}.function.name", call.function.name
            yield f"{of_call}.function.arguments", call.function.arguments
            if "\\" in call.function.arguments:
                yield f"{of_call}.function.arguments", _ESCAPE.sub(_unescaped, call.function.arguments)
    for index, tool in enumerate(request.tools or ()):
        yield from _strings_of(f"tools[{index}].function", tool.function)
    if isinstance(request.tool_choice, NamedTool):
        yield "tool_choice.function.name", request.tool_choice.function.name
    if request.response_format is not None:
        yield from _strings_of("response_format", request.response_format)


def _calls(message: Message) -> tuple[ToolCall, ...]:
    return (message.tool_calls or ()) if isinstance(message, AssistantMessage) else ()


def _json(struct: Struct) -> str:
    """On one line with spaces behind commas and colons, as templates write it: not fewer tokens than without."""
    text = msgspec.json.format(msgspec.json.encode(struct), indent=0).decode()
    # Python and llama.cpp write more characters: 1e+16 and 1e-07.
    return json.dumps(msgspec.to_builtins(struct), ensure_ascii=False) if _EXPONENT.search(text) else text


def _json_of_call(call: ToolCall) -> str:
    """Its arguments as they came, or as an engine lays them out anew that reads them first, whichever is longer."""
    function = call.function
    laid_out = _laid_out(function.arguments)
    if _size(laid_out) > _size(function.arguments):
        call = msgspec.structs.replace(call, function=msgspec.structs.replace(function, arguments=laid_out))
    return _json(call)


def _laid_out(arguments: str) -> str:
    """With blanks, and with numbers as they are written anew: 1e15 becomes 1000000000000000.0."""
    with_blanks = arguments.replace(",", ", ").replace(":", ": ")
    try:
        if not _EXPONENT.search(arguments):
            return msgspec.json.format(arguments, indent=0)
        if len(arguments) > _AT_ONCE:
            return with_blanks + _LONGEST_NUMBER * (arguments.count("e") + arguments.count("E"))
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):  # other readers take more for JSON, such as NaN and what is very deep
        return with_blanks


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _strings_of(field: str, struct: Struct) -> Iterator[tuple[str, str]]:
    for name, value in msgspec.to_builtins(struct).items():
        for text in _strings(value):
            yield f"{field}.{name}", text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _SHORT.get(escape[2], escape[2])
