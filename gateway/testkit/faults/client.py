"""A lean HTTP client: one connection for each request, nothing repeated, and it can hang up."""

import asyncio
import json
import time
from typing import Any

from gateway.testkit.faults.records import Call

ANSWER_WITHIN_S = 20.0
"""Longer than any stop of the process and the gateway's own deadlines together."""


def request(method: str, path: str, token: str, body: Any, key: str | None = None) -> bytes:
    """The bytes of a request."""
    sent = json.dumps(body).encode()
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: gateway",
        "Connection: close",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(sent)}",
    ]
    if key is not None:
        lines.append(f"Idempotency-Key: {key}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + sent


def generation(token: str, label: str) -> bytes:
    """A request for a generation, whose prompt and key are the operation's label."""
    body = {"model": "chat", "messages": [{"role": "user", "content": label}], "max_tokens": 64}
    return request("POST", "/v1/chat/completions", token, body, key=label)


async def send(port: int, raw: bytes, *, leaves_after_s: float | None = None) -> Call:
    """Send one request and note how it ended. Raises nothing."""
    call = Call(started_s=time.monotonic())
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    except OSError:
        call.end, call.ended_s = "lost", call.started_s
        return call
    try:
        async with asyncio.timeout(leaves_after_s or ANSWER_WITHIN_S):
            writer.write(raw)
            call.started_s = time.monotonic()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            status_line, *lines = head.split("\r\n")
            headers = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)}
            call.body = await reader.readexactly(int(headers["content-length"]))
            call.status = int(status_line.split(" ")[1])
            call.operation_id = headers.get("operation-id", "")
            call.replayed = headers.get("idempotent-replayed") == "true"
            if call.status != 200:
                refusal = json.loads(call.body)
                call.code = str(refusal.get("code", ""))
                call.short = str(refusal.get("facts", {}).get("scope", ""))
            call.end = "answered"
    except TimeoutError:
        call.end = "left"
    except (OSError, asyncio.IncompleteReadError):
        call.end = "lost"
    finally:
        call.ended_s = time.monotonic()
        writer.transport.abort()
    return call
