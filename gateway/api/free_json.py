"""JSON of the caller that nobody here reads: it goes on as it is, so it must mean one thing to every reader."""

import math
from typing import Any

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**64 - 1
"""What the 64 bits of other readers hold. A larger integer would reach some of them as another number."""


def unserved_number(value: Any) -> bool:
    """Whether an integer beyond 64 bits, or a float that is not finite (1e999), stands anywhere in it."""
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            nodes.extend(node.values())
        elif isinstance(node, list):
            nodes.extend(node)
        elif isinstance(node, float):
            if not math.isfinite(node):
                return True
        elif isinstance(node, int) and not MIN_INTEGER <= node <= MAX_INTEGER:
            return True
    return False
