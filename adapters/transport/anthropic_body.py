"""The body for Anthropic: litellm makes it, closed structs take it, and it must say what was asked for.

What the caller said must arrive: the same texts, images, calls and results, in their order and from the same side.
litellm would move instructions from the middle of a conversation to the user's side, put sentences of its own in the
place of empty texts, and leave out what it cannot carry. All of that is refused, and nothing is sent.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from adapters.transport.anthropic_shape import Body, Choice, Image, Text, Tool, ToolUse
from adapters.transport.hosted_body import parameters
from adapters.transport.litellm_translation import NotTranslated, Translation
from adapters.transport.wire_body import wire_fields
from gateway.domain.grant import Dispatch

CAP_FIELD = "max_tokens"
_encode = msgspec.json.Encoder().encode
_CHOICES: Mapping[str, Literal["none", "auto", "any"]] = {"none": "none", "auto": "auto", "required": "any"}
Said = tuple[str, str, Any]
"""Whose side, what kind of thing, and the thing itself."""


def anthropic_body(translation: Translation, dispatch: Dispatch) -> bytes:
    """The body of a dispatch.

    :raises NotTranslated: if the request cannot be said in Anthropic's shape without loss.
    """
    body = _encode(wire_fields(dispatch, cap_field=CAP_FIELD))
    asked, given = parameters(body), parameters(body)
    if asked.pop("response_format", {"type": "text"}) != {"type": "text"}:
        raise NotTranslated("response_format")
    given.pop("response_format", None)
    for message in given["messages"]:
        if message["role"] == "developer":  # of OpenAI's newer models: Anthropic has one word for both
            message["role"] = "system"
    made = translation.body("anthropic", dispatch.profile, given.pop("messages"), given)
    try:
        taken = msgspec.convert(made, Body)
    except msgspec.ValidationError:
        raise NotTranslated("another_field") from None
    _check(taken, asked, dispatch)
    try:
        return _encode({"stream": False, **msgspec.to_builtins(taken)})
    except (ValueError, RecursionError):  # half a surrogate pair in the arguments of a call, or a depth without end
        raise NotTranslated("not_encodable") from None


def _check(body: Body, asked: dict[str, Any], dispatch: Dispatch) -> None:
    """:raises NotTranslated: if the body is not what was asked for, or the cap not what was reserved (promise G8)."""
    if (body.model, body.max_tokens) != (dispatch.profile.model, asked.pop("max_tokens")):
        raise NotTranslated("another_model_or_cap")
    try:
        said = list(_asked(asked.pop("messages")))
    except ValueError:
        raise NotTranslated("arguments_are_no_json") from None
    if said != list(_said(body)):
        raise NotTranslated("another_conversation")
    sampling = {"temperature": body.temperature, "top_p": body.top_p, "stop": list(body.stop_sequences) or None}
    if any(asked.pop(name, None) != value for name, value in sampling.items()):
        raise NotTranslated("another_parameter")
    if (body.temperature or 0.0) > 1 or not all(map(str.strip, body.stop_sequences)):
        raise NotTranslated("parameter_out_of_range")
    tools = asked.pop("tools", [])
    if len(tools) != len(body.tools) or not all(map(_is_same_tool, body.tools, tools)):
        raise NotTranslated("another_tool")
    choice, parallel = asked.pop("tool_choice", None), asked.pop("parallel_tool_calls", None)
    if body.tool_choice != _choice(choice, parallel=parallel):
        raise NotTranslated("another_tool_choice")
    if asked:
        raise NotTranslated("parameter_not_carried")


def _is_same_tool(tool: Tool, asked: dict[str, Any]) -> bool:
    """``strict`` is a promise about the arguments, which Anthropic would have to keep as well."""
    function = asked["function"]
    schema = function.get("parameters", {})
    implied = tool.input_schema.keys() - schema.keys() <= {"type", "properties"}
    return (
        (tool.name, tool.description) == (function["name"], function.get("description"))
        and implied
        and all(tool.input_schema.get(key) == value for key, value in schema.items())
        and not function.get("strict", False)
    )


def _choice(asked: Any, *, parallel: bool | None) -> Choice | None:
    if isinstance(asked, dict):
        choice = Choice("tool", asked["function"]["name"])
    elif asked is None and parallel is None:
        return None
    else:
        choice = Choice(_CHOICES[asked or "auto"])
    if parallel is None or choice.type == "none":
        return choice
    return msgspec.structs.replace(choice, disable_parallel_tool_use=not parallel)


def _asked(messages: list[dict[str, Any]]) -> Iterator[Said]:
    """Everything that was said, in the order of OpenAI's messages. Ends of texts may lose blanks."""
    for message in messages:
        side = {"developer": "system", "tool": "user"}.get(message["role"], message["role"])
        kind = "result" if message["role"] == "tool" else "text"
        content = message["content"]
        parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for part in parts:
            if part["type"] == "image_url":
                yield side, "image", part["image_url"]["url"]
            elif part["text"] or side == "user":  # an empty text of the others says nothing
                yield side, kind, part["text"].rstrip()
        for call in message.get("tool_calls", []):
            function = call["function"]
            yield side, "call", (function["name"], _arguments(function["arguments"] or "{}"))


def _arguments(text: str) -> Any:
    """What litellm reads too, but for numbers that JSON does not have: they would be on the wire as null.

    :raises ValueError: if it is no JSON, or holds such a number.
    """
    return json.loads(text, parse_constant=_finite, parse_float=_finite)


def _finite(number: str) -> float:
    if not math.isfinite(value := float(number)):
        raise ValueError
    return value


def _said(body: Body) -> Iterator[Said]:
    """The same of Anthropic's body."""
    for text in body.system:
        yield "system", "text", text.text.rstrip()
    for turn in body.messages:
        for block in turn.content:
            match block:
                case Text(text=said):
                    yield turn.role, "text", said.rstrip()
                case Image(source=source):
                    yield turn.role, "image", f"data:{source.media_type};base64,{source.data}"
                case ToolUse(name=name, input=arguments):
                    yield turn.role, "call", (name, arguments)
                case _:
                    parts = (Text(block.content),) if isinstance(block.content, str) else block.content
                    yield from ((turn.role, "result", part.text.rstrip()) for part in parts)
