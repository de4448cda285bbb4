"""JSON read one way only: UTF-8, each key once, finite numbers, bounded depth.

What two readers could read differently is refused here, before anything else looks at it.
"""

from typing import Any

import jiter

from gateway.domain.refusal import Code, Refusal

MAX_DEPTH = 64


def parse_object(body: bytes) -> dict[str, Any] | Refusal:
    """One JSON object, or the refusal ``malformed_body``. Nothing of the body goes into the refusal."""
    try:
        value = jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none")
    except ValueError as error:
        fact = "duplicate_key" if "duplicate key" in str(error).lower() else "not_json"
        return Refusal(code=Code.MALFORMED_BODY, facts={"reason": fact})
    if not isinstance(value, dict):
        return Refusal(code=Code.MALFORMED_BODY, facts={"reason": "not_an_object"})
    if _too_deep(body, value):
        return Refusal(code=Code.MALFORMED_BODY, facts={"reason": "too_deep", "limit": MAX_DEPTH})
    return value


def _too_deep(body: bytes, value: dict[str, Any]) -> bool:
    # A body with few opening brackets cannot be deep. That spares the walk for nearly every request.
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
