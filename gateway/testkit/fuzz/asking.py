"""Requests to an ASGI application in this process."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.types import ASGIApp


class Said(Struct, frozen=True):
    """An answer. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def request(app: ASGIApp, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Said:
    """One request, with no socket between.

    :raises Exception: whatever the application raises.
    """
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start, *parts = sent
    told = {name.decode(): text.decode() for name, text in start["headers"]}
    return Said(start["status"], told, b"".join(part["body"] for part in parts))
