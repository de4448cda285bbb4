"""Asks OPA, and takes nothing for an answer but the one closed shape at the one revision.

The only module that imports opa_client. Its session set-up is replaced for a Unix socket, and so that bytes
are encoded and decoded once, on our side.
"""

import asyncio
import os
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

import aiohttp
import msgspec
from msgspec import UNSET, Struct, UnsetType
from opa_client import AsyncOpaClient

from gateway.domain.errors import PolicyUnavailable
from gateway.ports.events import Decided, Events

A = TypeVar("A")
_DEADLINE_S = 1.0
_PARAMETERS = {"strict-builtin-errors": "true", "provenance": "true"}
_encode = msgspec.json.Encoder().encode


class Reason(StrEnum):
    """Why there is no decision. Stable and safe to log."""

    CLOSED = "closed"
    EVALUATION_FAILED = "evaluation_failed"
    FOREIGN_REVISION = "foreign_revision"
    INCOHERENT = "incoherent"
    MALFORMED = "malformed"
    TIMEOUT = "timeout"
    UNDEFINED = "undefined"
    UNREACHABLE = "unreachable"


class _Bundle(Struct, frozen=True):
    revision: str


class _Provenance(Struct, frozen=True):
    version: str
    bundles: dict[str, _Bundle]


class Envelope(Struct, Generic[A], frozen=True, forbid_unknown_fields=True):
    """OPA's answer around ours. Without ``result`` the rule is undefined."""

    provenance: _Provenance
    result: A | UnsetType = UNSET


class Engine:
    """One OPA at one revision, for one event loop."""

    def __init__(self, socket: Path, *, revision: str, version: str, events: Events) -> None:
        self._client = _SocketClient(socket)
        self._bundle = _Bundle(revision)
        self._version = version
        self._events = events
        self._gate = asyncio.Semaphore(4 * (os.cpu_count() or 1))
        """Without it OPA thrashes under load, and decisions miss their deadline."""
        self._waiting = 0
        self._idle = asyncio.Event()
        self._closed = False

    async def open(self) -> None:
        """Open the pool of connections; none is made yet."""
        await self._client.__aenter__()

    async def health(self) -> Reason | None:
        """None: OPA answers and has its bundle. Raises nothing."""
        try:
            async with asyncio.timeout(_DEADLINE_S):
                return None if await self._client.check_health() else Reason.UNREACHABLE
        except TimeoutError:
            return Reason.TIMEOUT

    async def ask(
        self, package: str, question: bytes, decode: Callable[[Any], Envelope[A]], coherent: Callable[[A], bool]
    ) -> A:
        """The answer of a package (gateway/access, for example) to a question in JSON.

        :raises PolicyUnavailable: anything else came back, or nothing within the deadline.
        """
        watch = _Watch()
        failure = "cancelled"
        self._waiting += 1
        try:
            answer = await self._answer(package, question, decode, coherent, watch)
        except PolicyUnavailable as unavailable:
            failure = unavailable.reason
            raise
        else:
            failure = ""
            return answer
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()
            self._events.emit(watch.stopped(package.rpartition("/")[2], failure))

    async def close(self) -> None:
        """Refuse new questions, wait for those in flight, and close the connections."""
        self._closed = True
        self._idle.clear()
        if self._waiting:
            await self._idle.wait()
        await self._client.close_connection()

    async def _answer(
        self,
        package: str,
        question: bytes,
        decode: Callable[[Any], Envelope[A]],
        coherent: Callable[[A], bool],
        watch: "_Watch",
    ) -> A:
        if self._closed:
            raise PolicyUnavailable(Reason.CLOSED)
        text = await self._query(package, question, watch)
        try:
            envelope = decode(text)
        except msgspec.DecodeError:
            raise PolicyUnavailable(Reason.MALFORMED) from None
        bundles = list(envelope.provenance.bundles.values())
        if bundles != [self._bundle] or envelope.provenance.version != self._version:
            raise PolicyUnavailable(Reason.FOREIGN_REVISION)
        if isinstance(envelope.result, UnsetType):
            raise PolicyUnavailable(Reason.UNDEFINED)
        if not coherent(envelope.result):
            raise PolicyUnavailable(Reason.INCOHERENT)
        return envelope.result

    async def _query(self, package: str, question: bytes, watch: "_Watch") -> str:
        try:
            async with asyncio.timeout(_DEADLINE_S), self._gate:
                watch.turn_comes()
                text: str = await self._client.query_rule(msgspec.Raw(question), package, "answer", _PARAMETERS)
        except TimeoutError:
            raise PolicyUnavailable(Reason.TIMEOUT) from None
        except (aiohttp.ContentTypeError, aiohttp.ClientPayloadError, ValueError):
            raise PolicyUnavailable(Reason.MALFORMED) from None
        except aiohttp.ClientResponseError:
            raise PolicyUnavailable(Reason.EVALUATION_FAILED) from None
        except (aiohttp.ClientError, OSError):
            raise PolicyUnavailable(Reason.UNREACHABLE) from None
        return text


class _Watch:
    """Measures one question, from its construction on."""

    def __init__(self) -> None:
        self._started_s = time.perf_counter()
        self._turn_s: float | None = None

    def turn_comes(self) -> None:
        """The wait is over."""
        self._turn_s = time.perf_counter()

    def stopped(self, entrypoint: str, failure: str) -> Decided:
        """A question whose turn never came has waited all of its time."""
        now_s = time.perf_counter()
        waited_s = (now_s if self._turn_s is None else self._turn_s) - self._started_s
        return Decided(entrypoint, failure, waited_s=waited_s, seconds=now_s - self._started_s)


class _SocketClient(AsyncOpaClient):  # type: ignore[misc]  # opa_client has no types
    """The client over a Unix socket; retries would triple a deterministic failure."""

    def __init__(self, socket: Path) -> None:
        super().__init__(retries=0)
        self._socket = str(socket)

    async def _init_session(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.UnixConnector(self._socket, limit=0),
            timeout=aiohttp.ClientTimeout(total=None),  # the deadline above covers wait and call
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "identity"},
            json_serialize=lambda value: _encode(value).decode(),
            response_class=_UnparsedResponse,
        )


class _UnparsedResponse(aiohttp.ClientResponse):
    """Checks the media type as usual, and leaves the text for the one closed decoder."""

    async def json(self, **_: Any) -> Any:
        return await super().json(loads=str) or ""
