"""uvicorn's HTTP protocol with the bounds that it lacks: on the head of a request, and on connections.

Without them one connection can fill the memory with headers, idle ones can take every descriptor, and the body of
a request that asks for an upgrade is read as further requests.
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 32 * 1024
"""Request line and headers together; what arrives in the same segment as the head's end is not counted."""
HEADERS = 100
URL_BYTES = 8 * 1024
HEAD_WITHIN_S = 10.0
"""From the connection, or from a request's first byte on it, to the end of the head."""
SHARE_OF_DESCRIPTORS = 2
"""Callers get this part of the descriptors at most; the store, OPA and the engines need the rest."""


class HeadRefused(Exception):
    """Raised within the parser, which then answers 400 and closes the connection."""


class BoundedProtocol(HttpToolsProtocol):
    """Every bound closes the connection, because what follows on it cannot be told apart any more."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._in_head = True
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        if len(self.connections) > resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE_OF_DESCRIPTORS:
            transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > URL_BYTES:
            raise HeadRefused

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if len(self.headers) > HEADERS:
            raise HeadRefused

    def on_headers_complete(self) -> None:
        self._head_arrived()
        if self.parser.should_upgrade():
            # uvicorn would go on parsing, and take the body for the next request.
            raise HeadRefused
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._head_arrived()
        self._in_head, self._head_bytes = True, 0
        self._head_timer = self.loop.call_later(HEAD_WITHIN_S, self.transport.abort)

    def _head_arrived(self) -> None:
        self._in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
