"""A real vLLM's own words, told again over a real socket: what it said is in the folder beside this file."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

RECORDED = Path(__file__).parent / "recorded" / "vllm"
ALIAS, CONTEXT, FINGERPRINT = "tiny-llama@1", 1024, "tiny-llama-1"
PATHS = {"/v1/models": "models.json", "/version": "version.json", "/metrics": "metrics.txt"}


def recorded(name: str) -> bytes:
    return (RECORDED / name).read_bytes()


def models(**changes: Any) -> bytes:
    """The recorded list, its one model changed."""
    document = json.loads(recorded("models.json"))
    document["data"][0] |= changes
    return json.dumps(document).encode()


class RecordedVllm:
    """Answers every path as it did, until a test says otherwise."""

    def __init__(self) -> None:
        self.told: dict[str, tuple[int, bytes]] = {path: (200, recorded(name)) for path, name in PATHS.items()}
        self.told["/health"] = (200, b"")
        self.answer: tuple[int, bytes] = (200, recorded("answer.json"))
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    async def _get(self, request: web.Request) -> web.Response:
        self.asked.append(request.path_qs)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        status, body = self.told.get(request.path, (404, b'{"detail":"Not Found"}'))
        if status in {301, 302, 307, 308}:
            return web.Response(status=status, headers={"Location": body.decode()})
        return web.Response(status=status, body=body)

    async def _post(self, request: web.Request) -> web.Response:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.bodies.append(await request.json())
        status, body = self.answer
        return web.Response(status=status, body=body, content_type="application/json")

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["RecordedVllm"]:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._get)
        app.router.add_post("/v1/chat/completions", self._post)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            yield self
        finally:
            await runner.cleanup()
