"""What fields of one request must be to each other. Types and ranges are judged before (chat_body.py)."""

from gateway.api.chat_turns import broken_turn
from gateway.api.free_json import unserved
from gateway.domain.message import ImagePart
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request
from gateway.domain.tools import JsonSchemaFormat, NamedTool

Broken = tuple[str, str] | None
"""A field, and what is wrong with it."""


def broken_rule(request: Request) -> Refusal | None:
    """The first rule that a request breaks, by the field that breaks it."""
    found = _tools(request) or _format(request) or _logprobs(request) or broken_turn(request.messages)
    found = found or _images(request)
    if found is None:
        return None
    param, reason = found
    return Refusal(code=Code.INVALID_VALUE, status=422, param=param, facts={"reason": reason})


def _tools(request: Request) -> Broken:
    if request.tools is None:
        if request.tool_choice is not None:
            return "tool_choice", "needs tools"
        return None if request.parallel_tool_calls is None else ("parallel_tool_calls", "needs tools")
    names: set[str] = set()
    for index, tool in enumerate(request.tools):
        if tool.function.name in names:
            return f"tools[{index}].function.name", "a name twice"
        names.add(tool.function.name)
        if tool.function.parameters and (reason := unserved(tool.function.parameters)) is not None:
            return f"tools[{index}].function.parameters", reason
    if isinstance(request.tool_choice, NamedTool) and request.tool_choice.function.name not in names:
        return "tool_choice.function.name", "none of the tools"
    return None


def _format(request: Request) -> Broken:
    if not isinstance(request.response_format, JsonSchemaFormat):
        return None
    schema = request.response_format.json_schema.schema
    reason = unserved(schema) if schema else None
    return None if reason is None else ("response_format.json_schema.schema", reason)


def _logprobs(request: Request) -> Broken:
    needs = request.top_logprobs is not None and not request.logprobs
    return ("top_logprobs", "needs logprobs") if needs else None


def _images(request: Request) -> Broken:
    for turn, message in enumerate(request.messages):
        for place, part in enumerate(message.content if isinstance(message.content, tuple) else ()):
            if isinstance(part, ImagePart) and not _decodes(part.image_url.url):
                return f"messages[{turn}].content[{place}].image_url.url", "not base64"
    return None


def _decodes(url: str) -> bool:
    """Whether the data of a ``data:`` URL is base64 to its end. Nothing is fetched, and nothing is decoded: of letters
    of its alphabet with at most two signs of padding (ImageUrl), exactly the whole groups of four decode."""
    return (len(url) - url.index(",") - 1) % 4 == 0
