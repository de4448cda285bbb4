"""Asking an engine about itself: one GET that carries nothing of any request (promise G2)."""

import asyncio
from typing import TypeVar

import aiohttp
import jiter
import msgspec
from msgspec import Struct

from adapters.transport.wire_result import Answered

TOTAL_S = 2.0
"""Well below every time to live of a readiness."""
MAX_BYTES = 2**20
"""vLLM's /metrics has some kilobytes for each engine core."""
MAX_JSON_BYTES = 2**18
"""llama.cpp's /props holds the whole chat template. Not more: taking apart a megabyte of brackets would hold up
everything else in this process for half a second, at every look."""
Told = TypeVar("Told", bound=Struct)


async def ask(session: aiohttp.ClientSession, endpoint: str, path: str) -> Answered | None:
    """GET ``path`` beside the /v1 of an endpoint. None: no complete answer within the time and size."""
    url = endpoint.rstrip("/").removesuffix("/v1") + path
    try:
        async with asyncio.timeout(TOTAL_S), session.get(url, allow_redirects=False) as response:
            body = b""
            while chunk := await response.content.readany():
                body += chunk
                if len(body) > MAX_BYTES:
                    return None
            return Answered(response.status, body)
    except (aiohttp.ClientError, OSError, RuntimeError, ValueError):
        return None


def told(answered: Answered | None, kind: type[Told]) -> Told | None:
    """What an engine says of itself in JSON. None: it does not say it, or not so that it can be read."""
    if answered is None or answered.status != 200 or len(answered.body) > MAX_JSON_BYTES:
        return None
    try:
        # jiter bounds the depth; msgspec alone would end in a RecursionError.
        return msgspec.convert(jiter.from_json(answered.body, catch_duplicate_keys=True), kind)
    except ValueError:
        return None


def ends_in(path: str, file: str) -> bool:
    """Whether a path that an engine reports ends in whole segments: other-model.gguf does not end in model.gguf."""
    return path == file or path.endswith("/" + file)
