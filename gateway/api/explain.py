"""A refusal of the reader as the gateway words it: the field by its path, and never a value."""

import re
from typing import Any

from gateway.api.expected import expected
from gateway.domain.refusal import Code, Refusal

_UNKNOWN = re.compile(r"^Object contains unknown field `(.*?)`(?: - at `\$?\.?([^`]*)`)?\Z", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(\w+)`(?: - at `\$?\.?(.*)`)?\Z")
_AT = re.compile(r" - at `\$?\.?([^`]*)`\Z")
_WRONG_TYPE = re.compile(r"^Expected `(?:int|float|str|bool|array|object)(?: \| \w+)*`, got `(?!null`)")
MAX_NAME = 64


def explain(text: str, *, in_query: bool = False) -> Refusal:
    """Turn msgspec's sentence into a refusal. It names the field and drops the rest, which may hold a value.

    :param in_query: whether it is about query parameters.
    """
    if found := _UNKNOWN.match(text):
        name = _join(found[2], found[1][:MAX_NAME])
        return Refusal(code=Code.UNKNOWN_FIELD, param=name, fields=(name,), in_query=in_query)
    if found := _MISSING.match(text):
        name = _join(found[2], found[1])
        return Refusal(code=Code.INVALID_VALUE, param=name, facts={"reason": "missing"}, in_query=in_query)
    at = _AT.search(text)
    status: Any = None if _WRONG_TYPE.match(text) else 422
    served = expected(text, at=at[1] if at else "", in_query=in_query)
    return Refusal(
        code=Code.INVALID_VALUE,
        status=status,
        param=at[1] if at else None,
        facts=None if served is None else {"expected": served},
        in_query=in_query,
    )


def _join(parent: str | None, name: str) -> str:
    return f"{parent}.{name}" if parent else name
