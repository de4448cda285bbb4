"""JSON of the caller that nobody here reads: it goes on as it is, so it must mean one thing to every reader."""

import math
import re
from typing import Any

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**64 - 1
"""What the 64 bits of other readers hold. A larger integer would reach some of them as another number."""
OUT_OF_RANGE = "a number out of range"
EMPTY_RANGE = "a range that nothing is in"
_RANGES = (("minItems", "maxItems"), ("minLength", "maxLength"))
_REPEATED = re.compile(r"(?<!\\)\{0*([0-9]{1,9}),0*([0-9]{1,9})\}")


def unserved(value: Any) -> str | None:
    """What stands in it that is not served; None where all is.

    An integer beyond 64 bits, a float that is not finite (1e999), or a range of a JSON Schema that ends below its
    start. Nothing obeys such a schema; llama.cpp looks for it without an end (measured), and the answer never comes.
    """
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            if _is_empty_range(node):
                return EMPTY_RANGE
            nodes.extend(node.values())
        elif isinstance(node, list):
            nodes.extend(node)
        elif isinstance(node, float):
            if not math.isfinite(node):
                return OUT_OF_RANGE
        elif isinstance(node, int) and not MIN_INTEGER <= node <= MAX_INTEGER:
            return OUT_OF_RANGE
    return None


def _is_empty_range(schema: dict[str, Any]) -> bool:
    for least, most in _RANGES:
        low, high = schema.get(least), schema.get(most)
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            return True
    pattern = schema.get("pattern")
    return isinstance(pattern, str) and any(int(low) > int(high) for low, high in _REPEATED.findall(pattern))
