"""What msgspec would have taken, in the words of docs/api.md. It may quote the value; these words never do."""

import re

import msgspec

from gateway.domain.registry import Id

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
_PATTERN = re.compile(r"^Expected `str` matching regex ")
_INSTANT = "Invalid RFC3339 encoded datetime"
_LARGE = {str(2**63 - 1): "2^63-1", str(-(2**63)): "-2^63"}
_ID = f"an id: {msgspec.json.schema(Id)['description'].partition(';')[0].lower()} characters"


def expected(text: str, *, in_query: bool = False) -> str | None:
    """The type and range that msgspec's sentence names; None where it names none.

    :param in_query: a query parameter cannot be null.
    """
    if text.startswith(_INSTANT):
        return _TYPES["datetime"]
    if _PATTERN.match(text):
        # Ids are the only texts that have a pattern.
        return _ID
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
