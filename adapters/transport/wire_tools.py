"""Functions and formats of the answer for the wire, field by field, in OpenAI's shape."""

from typing import Any

from msgspec import UNSET

from gateway.domain.profile import Adapter
from gateway.domain.tools import (
    FunctionSpec,
    JsonObjectFormat,
    JsonSchemaFormat,
    JsonSchemaSpec,
    NamedTool,
    ResponseFormat,
    Tool,
    ToolChoice,
)


def wire_tools(tools: tuple[Tool, ...] | None, choice: ToolChoice | None, adapter: Adapter) -> dict[str, Any]:
    """``tools`` and ``tool_choice``, as far as they were asked for.

    llama.cpp reads a choice that is a word, and takes any other for "auto" without a sign (measured): the tool that
    must be called is the only one that it gets.
    """
    if tools is None:
        return {}
    if isinstance(choice, NamedTool) and adapter == "llama_cpp":
        tools = tuple(tool for tool in tools if tool.function.name == choice.function.name)
        choice = "required"
    fields: dict[str, Any] = {"tools": [{"type": "function", "function": _function(tool.function)} for tool in tools]}
    if isinstance(choice, NamedTool):
        fields["tool_choice"] = {"type": "function", "function": {"name": choice.function.name}}
    elif choice is not None:
        fields["tool_choice"] = choice
    return fields


def wire_format(asked: ResponseFormat | None) -> dict[str, Any] | None:
    """``response_format``, or None where it was left out."""
    match asked:
        case None:
            return None
        case JsonSchemaFormat():
            return {"type": "json_schema", "json_schema": _schema(asked.json_schema)}
        case JsonObjectFormat():
            return {"type": "json_object"}
        case _:
            return {"type": "text"}


def _function(function: FunctionSpec) -> dict[str, Any]:
    optional = {
        "description": function.description,
        "parameters": function.parameters,
        "strict": UNSET if function.strict is None else function.strict,
    }
    return {"name": function.name} | _sent(optional)


def _schema(spec: JsonSchemaSpec) -> dict[str, Any]:
    optional = {
        "description": spec.description,
        "schema": spec.schema,
        "strict": UNSET if spec.strict is None else spec.strict,
    }
    return {"name": spec.name} | _sent(optional)


def _sent(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not UNSET}
