"""The scripted provider: an OpenAI-compatible engine that answers, or misbehaves, as it is told to.

It also answers what llama.cpp's server and vLLM tell about themselves, so that a profile which points at it turns
ready.
"""

import asyncio
from collections import deque
from collections.abc import Collection
from types import TracebackType
from typing import Any

import msgspec
from msgspec import Struct

from gateway.domain.canary import CANARY_TEXT
from gateway.testkit.provider import vllm_face
from gateway.testkit.provider.behaviours import Behaviour, answer_body, head
from gateway.testkit.provider.connection import Connection, Received

GENERATION_PATHS = frozenset({"/v1/chat/completions", "/v1/completions", "/v1/responses"})

CANARY = Behaviour(
    content="Yes",
    finish_reason="length",
    usage={"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 13},
)
_CANARY_WORDS = CANARY_TEXT.encode()


def is_canary(request: Received) -> bool:
    """Whether a gateway looks whether this engine serves."""
    return _CANARY_WORDS in request.body


class EngineFace(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the provider says of itself under /health, /props, /v1/models, /version and /metrics."""

    health: int = 200
    """Status of /health; 503 is what llama.cpp answers while it loads."""
    alias: str = "scripted@1"
    model_path: str = "/models/scripted.gguf"
    context: int = 4096
    """Tokens per slot."""
    slots: int = 4
    props: Any = None
    """Anything but None is answered under /props as it is."""
    vllm: vllm_face.VllmFace = vllm_face.VllmFace()


class ProviderState(Struct, frozen=True, kw_only=True):
    """What a provider has received."""

    generation_count: int
    connection_count: int
    open_connections: int
    generations: tuple[Received, ...]
    others: tuple[Received, ...]


class Provider:
    """A provider on a loopback port. ``async with Provider() as provider: ...``"""

    def __init__(
        self,
        *,
        port: int = 0,
        default: Behaviour | None = None,
        face: EngineFace | None = None,
        keep: bool = True,
        generation_paths: Collection[str] = GENERATION_PATHS,
    ) -> None:
        """``keep`` False only counts what arrives, as a bench needs it.

        :param generation_paths: with their query; what is asked for elsewhere is no generation.
        """
        self._generation_paths = generation_paths
        self.port = port
        self.default = Behaviour() if default is None else default
        self.face = EngineFace() if face is None else face
        self.generations: list[Received] = []
        self.others: list[Received] = []
        self.generation_count = 0
        self.canaries: list[Received] = []
        """Readiness canaries, of which no other count and no script knows."""
        self.canary: Behaviour | None = CANARY
        """What they are answered; None: as generations like any other."""
        self.connection_count = 0
        self._keep = keep
        self._script: deque[Behaviour] = deque()
        self._open: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._rendered: tuple[Behaviour, EngineFace, bytes] | None = None

    async def __aenter__(self) -> "Provider":
        await self.listen()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.refuse()
        for task in self._tasks:
            task.cancel()
        for connection in tuple(self._open):
            connection.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """Base URL, as a profile's endpoint."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def open_connections(self) -> int:
        return len(self._open)

    def state(self) -> ProviderState:
        return ProviderState(
            generation_count=self.generation_count,
            connection_count=self.connection_count,
            open_connections=self.open_connections,
            generations=tuple(self.generations),
            others=tuple(self.others),
        )

    def script(self, *behaviours: Behaviour) -> None:
        """Behaviours for the next generations, one each; afterwards the default again."""
        self._script.extend(behaviours)

    def reset(self) -> None:
        """Forget the script and what was received."""
        self._script.clear()
        self.generations.clear()
        self.others.clear()
        self.canaries.clear()
        self.generation_count = 0

    async def listen(self) -> None:
        """Accept connections, after ``refuse`` on the same port as before."""
        if self._server is None:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(self._connected, "127.0.0.1", self.port, backlog=1024)
            self.port = self._server.sockets[0].getsockname()[1]

    async def refuse(self) -> None:
        """Refuse connections. Open ones stay."""
        if self._server is not None:
            self._server.close()
            self._server = None
            await asyncio.sleep(0)

    async def cut(self) -> None:
        """Cut all open connections, and let the loop tell them."""
        for connection in tuple(self._open):
            connection.transport.abort()
        await asyncio.sleep(0)

    def _connected(self) -> Connection:
        self.connection_count += 1
        connection = Connection(self.connection_count, self._serve, self._open.discard)
        self._open.add(connection)
        return connection

    def _serve(self, connection: Connection, request: Received) -> None:
        if request.path not in self._generation_paths:
            self.others.append(request)
            connection.write(self._about_itself(request.path))
            return
        if self.canary is not None and is_canary(request):
            # What is scripted is for callers; a gateway that looks whether this engine serves is none.
            self.canaries.append(request)
            behaviour = self.canary
        else:
            self.generation_count += 1
            if self._keep:
                self.generations.append(request)
            behaviour = self._script.popleft() if self._script else self.default
        if behaviour.delivery == "whole" and not behaviour.delay_ms:
            connection.write(self._whole(behaviour))
            return
        task = asyncio.get_running_loop().create_task(self._deliver(connection, behaviour))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _whole(self, behaviour: Behaviour) -> bytes:
        """The default is rendered once, so that a bench measures the gateway and not this."""
        if self._rendered is None or self._rendered[0] is not behaviour or self._rendered[1] is not self.face:
            body = answer_body(behaviour, alias=self.face.alias)
            self._rendered = (behaviour, self.face, head(behaviour, len(body)) + body)
        return self._rendered[2]

    async def _deliver(self, connection: Connection, behaviour: Behaviour) -> None:
        if behaviour.delay_ms:
            await asyncio.sleep(behaviour.delay_ms / 1000)
        body = answer_body(behaviour, alias=self.face.alias)
        match behaviour.delivery:
            case "whole":
                connection.write(self._whole(behaviour))
            case "close_after":
                connection.write(head(behaviour, len(body)) + body)
                await asyncio.sleep(behaviour.interval_ms / 1000)
                connection.close()
            case "hang":
                pass
            case "drop":
                connection.close()
            case "reset":
                connection.reset()
            case "drop_after_headers":
                connection.write(head(behaviour, len(body)))
                connection.close()
            case "truncated":
                connection.write(head(behaviour, len(body)) + body[: len(body) // 2])
                connection.close()
            case "truncated_chunked":
                connection.write(head(behaviour, None) + f"{len(body):x}\r\n".encode() + body + b"\r\n")
                connection.close()
            case "not_http":
                connection.write(b"this is not HTTP\r\n\r\n")
                connection.close()
            case "trickle":
                await self._trickle(connection, head(behaviour, len(body)), body, behaviour.interval_ms / 1000)

    async def _trickle(self, connection: Connection, head_: bytes, body: bytes, interval_s: float) -> None:
        connection.write(head_)
        for position in range(len(body)):
            if connection not in self._open:
                return
            connection.write(body[position : position + 1])
            await asyncio.sleep(interval_s)

    def _about_itself(self, path: str) -> bytes:
        face = self.face
        status = 200
        document: dict[str, Any]
        match path:
            case "/health":
                status = face.health
                document = (
                    {"status": "ok"} if status == 200 else {"error": {"code": status, "message": "Loading model"}}
                )
            case "/props" if face.props is not None:
                document = face.props
            case "/props":
                document = {
                    "default_generation_settings": {"n_ctx": face.context},
                    "total_slots": face.slots,
                    "model_alias": face.alias,
                    "model_path": face.model_path,
                }
            case "/v1/models":
                document = vllm_face.models(face.vllm, face.alias, face.model_path, face.context)
            case "/version":
                return _ok(vllm_face.version(face.vllm))
            case "/metrics":
                return _ok(vllm_face.metrics(face.vllm, context=face.context, slots=face.slots))
            case _:
                status, document = 404, {"error": {"code": 404, "message": "Not found", "type": "not_found_error"}}
        body = msgspec.json.encode(document)
        return head(Behaviour(status=status), len(body)) + body


def _ok(body: bytes) -> bytes:
    return head(Behaviour(), len(body)) + body
