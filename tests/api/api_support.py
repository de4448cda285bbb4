"""The HTTP interface over the services on fakes: called in this process, or over a real socket."""

import asyncio
import http.client
import io
import json
import logging
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from msgspec import Struct
from service.service_support import ASKED, PROFILE, Surroundings, token
from starlette.types import ASGIApp

from adapters.telemetry import Telemetry, set_up_logs
from gateway.api.app import create_app
from gateway.api.body import BodyBounds
from gateway.testkit.loops import until

__all__ = ["ASKED", "CHAT", "PROFILE", "QUESTION", "Api", "Reply", "over_a_socket", "token"]

CHAT = "/v1/chat/completions"
QUESTION: dict[str, Any] = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}
BOUNDS = BodyBounds(max_bytes=10_000, within_s=5.0)

Header = tuple[str, str]


class Reply(Struct, frozen=True):
    """An answer over HTTP. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document


class Api:
    """One gateway's application."""

    def __init__(self) -> None:
        self.world = Surroundings()
        self.telemetry = Telemetry()
        # Both: the tests look at the events, and the metrics are made of them.
        kept, counted = self.world.events.emit, self.telemetry.emit
        self.world.events.emit = lambda event: (kept(event), counted(event))[0]
        self.app: ASGIApp = create_app(self.world.services, bounds=BOUNDS, render_metrics=self.telemetry.render)

    def request(self, method: str, target: str, headers: Sequence[Header] = (), body: bytes = b"") -> Reply:
        return asyncio.run(self.requesting(method, target, headers, body))

    async def requesting(self, method: str, target: str, headers: Sequence[Header] = (), body: bytes = b"") -> Reply:
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), text.encode()) for name, text in (("Host", "gateway"), *headers)],
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 1),
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start, *bodies = sent
        pairs = [(name.decode(), text.decode()) for name, text in start["headers"]]
        assert len(dict(pairs)) == len(pairs), f"a header twice: {pairs}"
        return Reply(start["status"], dict(pairs), b"".join(part["body"] for part in bodies))

    def ask(
        self, *, who: str | None = "assistant", key: str | None = "k-1", target: str = CHAT, **changes: Any
    ) -> Reply:
        """One generation, as a service asks for it."""
        return self.request("POST", target, chat_headers(who, key), json.dumps(QUESTION | changes).encode())


def chat_headers(who: str | None = "assistant", key: str | None = "k-1") -> list[Header]:
    headers = [("Content-Type", "application/json")]
    if who is not None:
        headers.append(("Authorization", f"Bearer {token(who)}"))
    if key is not None:
        headers.append(("Idempotency-Key", key))
    return headers


class Socket:
    """The same application behind uvicorn, as the server runs it."""

    def __init__(self, port: int, log: io.StringIO) -> None:
        self.port = port
        self.log = log

    def request(self, method: str, target: str, headers: Sequence[Header] = (), body: bytes = b"") -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target, body or None, dict(headers))
            answer = connection.getresponse()
            sent = {name.lower(): text for name, text in answer.getheaders()}
            return Reply(answer.status, sent, answer.read())
        finally:
            connection.close()


@contextmanager
def over_a_socket(api: Api) -> Iterator[Socket]:
    """Serve the application on a free port, with its log kept."""
    log = io.StringIO()
    with _kept_logging(), socket.socket() as listener:
        set_up_logs("debug", log, hooks=False)
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            api.app, http="httptools", ws="none", lifespan="off", log_config=None, access_log=False, server_header=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), name="api")
        thread.start()
        try:
            until(lambda: server.started, "the server did not start")
            yield Socket(listener.getsockname()[1], log)
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def _kept_logging() -> Iterator[None]:
    loggers = [logging.getLogger(), logging.getLogger("gateway")]
    before = [(logger.handlers[:], logger.level) for logger in loggers]
    try:
        yield
    finally:
        for logger, (handlers, level) in zip(loggers, before, strict=True):
            logger.handlers[:] = handlers
            logger.setLevel(level)
