"""The server side of one connection, at the level of bytes, so that it can misbehave there."""

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from typing import Any, cast

from msgspec import Struct


class Received(Struct, frozen=True):
    """One request, as it arrived."""

    connection: int
    """Number of the connection, from 1."""
    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    def json(self) -> Any:
        """The body, parsed.

        :raises ValueError: if it is not JSON.
        """
        return json.loads(self.body)


class Connection(asyncio.Protocol):
    """Collects requests and hands each to ``serve``, which writes the answer itself."""

    def __init__(
        self, number: int, serve: Callable[["Connection", Received], None], closed: Callable[["Connection"], None]
    ) -> None:
        self.number = number
        self._serve = serve
        self._closed = closed
        self._buffer = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._closed(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (request := self._take()) is not None:
            self._serve(self, request)

    def write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        """Send what is buffered, then FIN."""
        self.transport.close()

    def reset(self) -> None:
        """RST instead of FIN."""
        sock: socket.socket = self.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _take(self) -> Received | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        request_line, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body_end = end + 4 + int(headers.get("content-length", 0))
        if len(self._buffer) < body_end:
            return None
        body, self._buffer = self._buffer[end + 4 : body_end], self._buffer[body_end:]
        method, path, _ = request_line.split(" ")
        return Received(self.number, method, path, headers, body)
