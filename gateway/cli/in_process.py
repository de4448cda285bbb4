"""Call an ASGI application in this process: one request, one whole answer."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp


async def call_app(
    app: ASGIApp, method: str, target: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, bytes]:
    """Status and body of the answer."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(name.encode("ascii"), text.encode("ascii")) for name, text in headers.items()],
        "server": ("in-process", None),
        "client": None,
    }
    status = 500
    chunks: list[bytes] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            chunks.append(message.get("body", b""))

    await app(scope, receive, send)
    return status, b"".join(chunks)
