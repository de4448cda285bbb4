"""Does a hosted profile's translation work, for everything that the profile lists? Tried before it is put in force."""

from collections.abc import Iterator, Mapping

from adapters.transport.hosted import DIALECTS
from adapters.transport.litellm_translation import NotTranslated, Translation
from gateway.domain.grant import unsendable
from gateway.domain.message import AssistantMessage, ImagePart, ImageUrl, SystemMessage, ToolMessage, UserMessage
from gateway.domain.profile import Capability, Profile
from gateway.domain.request import Request
from gateway.domain.tools import (
    CalledFunction,
    FunctionSpec,
    JsonObjectFormat,
    JsonSchemaFormat,
    JsonSchemaSpec,
    Tool,
    ToolCall,
)

_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_TOOLS = (Tool(type="function", function=FunctionSpec(name="weather", description="Of a city.", parameters=_SCHEMA)),)
_SAID = (SystemMessage("Be brief."), UserMessage("Say hello."))
_CALLED = (
    *_SAID,
    AssistantMessage(tool_calls=(ToolCall(id="call_1", function=CalledFunction("weather", '{"city":"Oslo"}')),)),
    ToolMessage("Rain.", "call_1"),
)
# Its head alone: nobody looks at it.
_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_SHOWN = (*_SAID, UserMessage((ImagePart(ImageUrl(_PIXEL)),)))

TRIALS: Mapping[Capability, Request] = {
    "chat": Request(model="trial", messages=_SAID),
    "tools": Request(model="trial", messages=_CALLED, tools=_TOOLS, tool_choice="auto"),
    "parallel_tool_calls": Request(model="trial", messages=_SAID, tools=_TOOLS, parallel_tool_calls=False),
    "images": Request(model="trial", messages=_SHOWN),
    "json_object": Request(model="trial", messages=_SAID, response_format=JsonObjectFormat()),
    "json_schema": Request(
        model="trial",
        messages=_SAID,
        response_format=JsonSchemaFormat(JsonSchemaSpec(name="place", schema=_SCHEMA, strict=True)),
    ),
    "logprobs": Request(model="trial", messages=_SAID, logprobs=True, top_logprobs=2),
    "penalties": Request(model="trial", messages=_SAID, presence_penalty=0.5, frequency_penalty=0.5),
    "reasoning_effort": Request(model="trial", messages=_SAID, reasoning_effort="low"),
    "seed": Request(model="trial", messages=_SAID, seed=7),
}
"""A request for each capability. They are sent to nobody."""


def not_carried(translation: Translation, profile: Profile) -> Iterator[Capability]:
    """Capabilities of the profile that do not pass through its translation without loss."""
    for capability in profile.capabilities:
        try:
            DIALECTS[profile.adapter].body(translation, unsendable(profile, TRIALS[capability]))
        except NotTranslated:
            yield capability
