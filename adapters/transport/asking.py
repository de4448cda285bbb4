"""Asking an engine about itself: one GET that carries nothing of any request (promise G2)."""

import asyncio

import aiohttp

from adapters.transport.wire_result import Answered

TOTAL_S = 2.0
"""Well below every time to live of a readiness."""
MAX_BYTES = 2**20
"""llama.cpp's /props holds the whole chat template."""


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


def ends_in(path: str, file: str) -> bool:
    """Whether a path that an engine reports ends in whole segments: other-model.gguf does not end in model.gguf."""
    return path == file or path.endswith("/" + file)
