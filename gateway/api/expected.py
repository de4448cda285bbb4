"""What msgspec would have taken, in the words of docs/api.md. It may quote the value; these words never do."""

import re
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from gateway.domain.message import ImageUrl
from gateway.domain.registry import Id
from gateway.domain.request import ReasoningEffort
from gateway.domain.tools import CalledName, CallId, FunctionName

_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "true or false",
    "datetime": "a time of RFC 3339 with its zone",
}
"""Where the words differ. ``array``, ``object`` and ``null`` are the same in both."""
_SENTENCE = re.compile(r"^Expected `([\w |]+)`(?P<rest>[^,]*?)(?:, got `\w+`)?(?: - at `.*)?\Z", re.DOTALL)
_BOUND = re.compile(r"^ (?P<length>of length )?(?P<side>[<>]=) (?P<number>[\d.e+-]+)\Z")
_PATTERN = re.compile(r"^Expected `str` matching regex (?P<regex>'.*')(?: - at `[^`]*`)?\Z", re.DOTALL)
_CHOICE = re.compile(r"^Invalid (?:enum )?value ")
_INDEX = re.compile(r"\[\d+\]")
_INSTANT = "Invalid RFC3339 encoded datetime"
_LARGE = {str(2**63 - 1): "2^63-1", str(-(2**63)): "-2^63"}
_ID = f"an id: {msgspec.json.schema(Id)['description'].partition(';')[0].lower()} characters"


def _pattern_of(kind: Any) -> str:
    return str(msgspec.json.schema(kind)["pattern"])


def _description_of(kind: Any) -> str:
    return str(msgspec.json.schema(kind)["description"])


_IMAGE = msgspec.json.schema(ImageUrl)["$defs"]["ImageUrl"]["properties"]["url"]
_PATTERNS: Mapping[str, str] = {
    repr(_pattern_of(Id)): _ID,
    **{repr(_pattern_of(kind)): _description_of(kind).rstrip(".") for kind in (FunctionName, CallId, CalledName)},
    repr(_IMAGE["pattern"]): _IMAGE["description"].rstrip("."),
}
"""By the pattern as msgspec quotes it."""
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "messages[].role": ("system", "developer", "user", "assistant", "tool"),
    "messages[].content[].type": ("text", "image_url"),
    "messages[].content[].image_url.detail": ("auto", "low", "high"),
    "messages[].tool_calls[].type": ("function",),
    "tools[].type": ("function",),
    "tool_choice": ("none", "auto", "required", "an object that names one of the tools"),
    "tool_choice.type": ("function",),
    "response_format.type": ("text", "json_object", "json_schema"),
    "reasoning_effort": get_args(ReasoningEffort),
}
"""Words of which one is expected, which msgspec does not list, by their place in a chat's body."""


def expected(text: str, *, at: str = "", in_query: bool = False) -> str | None:
    """The type and range that msgspec's sentence names; None where it names none.

    :param at: the path of the field.
    :param in_query: a query parameter cannot be null.
    """
    if text.startswith(_INSTANT):
        return _TYPES["datetime"]
    if (found := _PATTERN.match(text)) is not None:
        return _PATTERNS.get(found["regex"])
    if _CHOICE.match(text):
        return " or ".join(_CHOICES.get(_INDEX.sub("[]", at), ())) or None
    if (found := _SENTENCE.match(text)) is None:
        return None
    names = [_TYPES.get(name, name) for name in found[1].split(" | ") if not (in_query and name == "null")]
    return " or ".join(names) + _range(found[1], found["rest"])


def _range(kind: str, rest: str) -> str:
    if (bound := _BOUND.match(rest)) is None:
        return ""
    side = "at least" if bound["side"] == ">=" else "at most"
    number = bound["number"].removesuffix(".0")
    unit = (" character" if kind == "str" else " item") + ("" if number == "1" else "s") if bound["length"] else ""
    return f", {side} {_LARGE.get(number, number)}{unit}"
