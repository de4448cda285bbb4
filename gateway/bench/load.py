"""The load, in a process of its own, so that its CPU counts against nobody.

A closed loop: each connection has one request under way and sends the next when it has the answer. The client knows
just enough HTTP for that, because a real one costs more CPU than the servers that are measured. One line of JSON in,
a ``Load``; one line out, a ``Loaded``; it ends at the end of its standard input.
"""

import asyncio
import math
import re
import sys
import time
from typing import cast

import msgspec
import uvloop
from msgspec import Struct

from gateway.bench.figures import percentile

GIVE_UP_S = 30.0
"""Beyond the end of the load, for the answers under way."""
MARK = "######"
"""Stands in a body for the request's number, which has as many digits."""
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD_END = b"\r\n\r\n"


class Load(Struct, frozen=True, kw_only=True):
    """What to ask. Request i carries the operation key ``prefix`` and ``first + i``, wrapped at ``keys``."""

    port: int
    path: str
    concurrency: int
    requests: int
    """At most."""
    seconds: float
    """No request starts later."""
    spread_s: float
    """Over which the connections start, evenly. Started at once over a slow engine, they would stay one burst."""
    token: str
    prefix: str
    first: int
    keys: int
    """Number of different keys."""
    body: str
    numbers: int
    """The body's ``MARK`` becomes the number of the request's key, wrapped at this."""


class Loaded(Struct, frozen=True, kw_only=True):
    """What came back."""

    requests: int
    seconds: float
    """Until the last answer."""
    p50_ms: float
    p99_ms: float
    statuses: dict[int, int]
    """Status to count; 0 stands for a connection that ended without an answer."""


class Asking:
    """One load under way."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._prefix = (
            f"POST {load.path} HTTP/1.1\r\nHost: 127.0.0.1:{load.port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {load.token}\r\nContent-Length: {len(load.body.encode())}\r\n"
            f"Idempotency-Key: {load.prefix}"
        ).encode()
        self._suffix = b"\r\n\r\n" + load.body.encode()
        self._mark = MARK.encode()
        self._started = 0
        self._open = load.concurrency
        self._latencies_s: list[float] = []
        self._statuses: dict[int, int] = {}
        self._end_s = math.inf
        self._ended = asyncio.Event()

    async def run(self) -> Loaded:
        loop = asyncio.get_running_loop()
        opened = [
            loop.create_connection(lambda: Connection(self), "127.0.0.1", self._load.port)
            for _ in range(self._load.concurrency)
        ]
        connections = [connection for _, connection in await asyncio.gather(*opened)]
        started_s = time.perf_counter()
        self._end_s = started_s + self._load.seconds
        for position, connection in enumerate(connections):
            loop.call_later(self._load.spread_s * position / len(connections), connection.ask)
        async with asyncio.timeout(self._load.seconds + GIVE_UP_S):
            await self._ended.wait()
        seconds = time.perf_counter() - started_s
        return Loaded(
            requests=self._started,
            seconds=seconds,
            p50_ms=percentile(self._latencies_s, 0.5) * 1000,
            p99_ms=percentile(self._latencies_s, 0.99) * 1000,
            statuses=self._statuses,
        )

    def next(self) -> bytes | None:
        """The next request, or None when there is none left."""
        if self._started >= self._load.requests or time.perf_counter() >= self._end_s:
            return None
        key = (self._load.first + self._started) % self._load.keys
        self._started += 1
        number = b"%0*d" % (len(MARK), key % self._load.numbers)
        return b"%b%d%b" % (self._prefix, key, self._suffix.replace(self._mark, number))

    def note(self, status: int, seconds: float) -> None:
        self._statuses[status] = self._statuses.get(status, 0) + 1
        self._latencies_s.append(seconds)

    def closed(self) -> None:
        self._open -= 1
        if not self._open:
            self._ended.set()


class Connection(asyncio.Protocol):
    """One request after another."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._buffer = b""
        self._asked_s: float | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def ask(self) -> None:
        request = self._asking.next()
        if request is None:
            self._transport.close()
            return
        self._asked_s = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(_HEAD_END)
        if end < 0 or self._asked_s is None:
            return
        found = _LENGTH.search(self._buffer, 0, end)
        if found is None or len(self._buffer) < end + len(_HEAD_END) + int(found[1]):
            return
        self._asking.note(int(self._buffer[9:12]), time.perf_counter() - self._asked_s)
        self._buffer, self._asked_s = b"", None
        self.ask()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if self._asked_s is not None:
            self._asking.note(0, time.perf_counter() - self._asked_s)
        self._asking.closed()


async def _apply(load: Load) -> Loaded:
    return await Asking(load).run()


def main() -> None:
    """Apply one load after another."""
    for line in sys.stdin.buffer:
        loaded = uvloop.run(_apply(msgspec.json.decode(line, type=Load)))
        sys.stdout.buffer.write(msgspec.json.encode(loaded) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
