"""Functions that a model may call, and the shape that its answer must have: OpenAI's structs, closed."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

MAX_TOOLS = 128
MAX_TOOL_CALLS = 128

FunctionName = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)", description="1 to 64 letters, digits, _ or -.")
]
CallId = Annotated[str, Meta(pattern=r"^[\x21-\x7e]{1,255}$(?!\n)", description="1 to 255 visible ASCII characters.")]
CalledName = Annotated[
    str,
    Meta(
        pattern=r"^[^\x00-\x1f\x7f]{1,255}$(?!\n)",
        description="1 to 255 characters, none of them a control character.",
    ),
]
"""What a model called: it may invent a name, and that belongs to its answer."""


class FunctionSpec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A function with the JSON Schema of its arguments, which goes to the model as it is.

    Null means absent for ``strict`` alone, as OpenAI documents it.
    """

    name: FunctionName
    description: Annotated[str, Meta(max_length=65_536)] | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType = UNSET
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

    name: CalledName
    arguments: str


class ToolCall(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One call, in an answer and again in the next request's history."""

    id: CallId
    type: Literal["function"] = "function"
    function: CalledFunction


class JsonSchemaSpec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The JSON Schema that the answer must obey."""

    name: FunctionName
    description: Annotated[str, Meta(max_length=65_536)] | UnsetType = UNSET
    schema: dict[str, Any] | UnsetType = UNSET
    strict: bool | None = None


class TextFormat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """Free text, which is also what leaving the format out means."""


class JsonObjectFormat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="json_object"):
    """Some JSON object."""


class JsonSchemaFormat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="json_schema"):
    """A JSON object that obeys a schema."""

    json_schema: JsonSchemaSpec


ResponseFormat = TextFormat | JsonObjectFormat | JsonSchemaFormat
