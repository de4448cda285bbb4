"""Functions that a model may call, and the shape that its answer must have: OpenAI's structs, closed."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

MAX_TOOLS = 128
MAX_TOOL_CALLS = 128

FunctionName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)")]


class FunctionSpec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A function with the JSON Schema of its arguments, which goes to the model as it is."""

    name: FunctionName
    description: Annotated[str, Meta(max_length=65_536)] | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Functions are the only kind of tool that is served: every other kind runs at the provider, unseen."""

    type: Literal["function"]
    function: FunctionSpec


class NamedFunction(Struct, frozen=True, forbid_unknown_fields=True):
    """The function that must be called."""

    name: FunctionName


class NamedTool(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A choice of one tool by its name."""

    type: Literal["function"]
    function: NamedFunction


ToolChoice = Literal["none", "auto", "required"] | NamedTool


class CalledFunction(Struct, frozen=True, forbid_unknown_fields=True):
    """What the model called; the arguments are its own text and need not be JSON."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    arguments: str


class ToolCall(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One call, in an answer and again in the next request's history."""

    id: Annotated[str, Meta(min_length=1, max_length=255)]
    type: Literal["function"] = "function"
    function: CalledFunction


class JsonSchemaSpec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The JSON Schema that the answer must obey."""

    name: FunctionName
    description: Annotated[str, Meta(max_length=65_536)] | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None


class TextFormat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """Free text, which is also what leaving the format out means."""


class JsonObjectFormat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="json_object"):
    """Some JSON object."""


class JsonSchemaFormat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="json_schema"):
    """A JSON object that obeys a schema."""

    json_schema: JsonSchemaSpec


ResponseFormat = TextFormat | JsonObjectFormat | JsonSchemaFormat
