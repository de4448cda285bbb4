"""Read a body: bounded in size and in time, whatever its headers promise."""

import asyncio

from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest

from gateway.domain.refusal import Code, Refusal


class BodyBounds(Struct, frozen=True):
    """How large a body may be, and how long it may take."""

    max_bytes: int
    within_s: float


async def read_body(http: HttpRequest, bounds: BodyBounds) -> bytes | Refusal:
    """The whole body, within its bounds."""
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(bounds.within_s):
            async for chunk in http.stream():
                size += len(chunk)
                if size > bounds.max_bytes:
                    return Refusal(code=Code.BODY_TOO_LARGE, facts={"limit": bounds.max_bytes})
                chunks.append(chunk)
    except TimeoutError:
        return Refusal(code=Code.BODY_TIMEOUT)
    except ClientDisconnect:
        return Refusal(code=Code.MALFORMED_BODY, facts={"reason": "disconnected"})
    return b"".join(chunks)
