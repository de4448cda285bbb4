"""One HTTP request, exactly once, and what is known of it afterwards.

Whether a byte left is not guessed from an exception. aiohttp keeps the head back until the body writes its first
byte, so the body itself knows; it is also the last place at which the send-by deadline, or a connection that the
peer has closed, can still stop the write. aiohttp repeats no POST; redirects, cookies, netrc and proxy variables
are off (transports.py); one deadline covers everything.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Literal

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from msgspec import Struct

from adapters.transport.wire_result import Answered, LostAfterSend, NotSentResult, TooLarge, WireResult

CONNECTION_TRIES = 4
"""Idle connections that the peer closed are found one by one; nothing was written to any of them."""

# Linux says with POLLRDHUP that the peer has closed; elsewhere POLLHUP says it.
_PEER_CLOSED = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class Call(Struct, frozen=True, kw_only=True):
    """What to send, where, and the bounds on it."""

    url: str
    headers: dict[str, str]
    body: bytes
    connect_s: float
    total_s: float
    send_by_s: float
    """Boot-time clock."""
    max_answer_bytes: int


class _PeerClosed(Struct, frozen=True):
    """Nothing was written, because the peer had closed the connection: another one may be tried."""


class _Withheld(Exception):
    """Stops aiohttp before the first byte; ``_Body.withheld`` says why."""


class _Body(aiohttp.payload.Payload):
    """The request body, whose first write is the first byte on the wire."""

    _autoclose = True

    def __init__(self, call: Call, boot_s: Callable[[], float]) -> None:
        super().__init__(call.body, content_type="application/json")
        self._size = len(call.body)
        self._send_by_s = call.send_by_s
        self._boot_s = boot_s
        self.written = False
        self.withheld: Literal["", "send_by_passed", "peer_closed"] = ""
        self._transport: asyncio.WriteTransport | None = None

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        body: bytes = self._value
        return body.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        if self._boot_s() > self._send_by_s:
            self.withheld = "send_by_passed"
        elif _peer_has_closed(writer.transport):
            self.withheld = "peer_closed"
        if self.withheld:
            raise _Withheld
        self.written = True
        self._transport = writer.transport
        await writer.write(self._value)

    def cut_off(self) -> None:
        """A connection that aiohttp closes would go on writing what is buffered, however long that takes."""
        if self._transport is not None and self._transport.is_closing():
            self._transport.abort()


class Wire:
    """Sends calls over one session. Nothing that happens on the wire is raised."""

    def __init__(self, session: aiohttp.ClientSession, boot_s: Callable[[], float]) -> None:
        self._session = session
        self._boot_s = boot_s

    async def post(self, call: Call) -> WireResult:
        """Send ``call`` once. Raises CancelledError and nothing else."""
        deadline_s = asyncio.get_running_loop().time() + call.total_s
        for _ in range(CONNECTION_TRIES):
            result = await self._try(call, deadline_s)
            if not isinstance(result, _PeerClosed):
                return result
        return NotSentResult("connect_refused")

    async def _try(self, call: Call, deadline_s: float) -> WireResult | _PeerClosed:
        body = _Body(call, self._boot_s)
        answering = False
        try:
            async with asyncio.timeout_at(deadline_s), self._request(call, body) as response:
                answering = True
                return await _read(response, call.max_answer_bytes)
        # RuntimeError: a closed session. ValueError: a header or URL that aiohttp refuses.
        except (aiohttp.ClientError, OSError, RuntimeError, ValueError) as broken:
            return _lost(broken, answering=answering) if body.written else _not_sent(broken, body)
        finally:
            body.cut_off()

    def _request(self, call: Call, body: _Body) -> "aiohttp.client._RequestContextManager":
        return self._session.post(
            call.url,
            data=body,
            headers=call.headers,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=call.connect_s),
        )


async def _read(response: aiohttp.ClientResponse, limit: int) -> Answered | TooLarge:
    """Leaving a response that is not read to its end closes its connection."""
    chunks: list[bytes] = []
    size = 0
    while chunk := await response.content.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            return TooLarge(response.status)
    return Answered(response.status, b"".join(chunks))


def _peer_has_closed(transport: asyncio.BaseTransport | None) -> bool:
    """Whether writing is known to be in vain. Asks the kernel: the loop may not have come round to it yet."""
    if transport is None or transport.is_closing():
        return True
    poll = select.poll()
    poll.register(transport.get_extra_info("socket").fileno(), _PEER_CLOSED)
    return bool(poll.poll(0))


def _not_sent(broken: Exception, body: _Body) -> NotSentResult | _PeerClosed:
    if body.withheld == "send_by_passed":
        return NotSentResult("send_by_passed")
    match broken:
        case aiohttp.ClientConnectorDNSError():
            return NotSentResult("name_not_resolved")
        case aiohttp.ClientSSLError():
            return NotSentResult("tls_failed")
        case TimeoutError():
            return NotSentResult("connect_timeout")
        case aiohttp.ClientConnectorError():
            return NotSentResult("connect_refused")
        case aiohttp.ClientConnectionError():
            return _PeerClosed()
        case _:
            return NotSentResult("connect_refused")


def _lost(broken: Exception, *, answering: bool) -> LostAfterSend:
    match broken:
        case TimeoutError():
            return LostAfterSend("timeout_after_send")
        case aiohttp.ClientResponseError():
            return LostAfterSend("malformed_answer")
        case aiohttp.ClientConnectionError() | aiohttp.ClientPayloadError() | ConnectionError():
            return LostAfterSend("truncated_answer" if answering else "connection_lost")
        case _:
            return LostAfterSend("transport_failed", type(broken).__name__)
