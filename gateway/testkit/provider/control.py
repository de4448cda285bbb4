"""The control port of a provider in a process of its own: what its object can do, over HTTP and JSON."""

import asyncio

import msgspec
from msgspec import Struct

from gateway.testkit.provider.behaviours import Behaviour, head
from gateway.testkit.provider.connection import Connection, Received
from gateway.testkit.provider.server import EngineFace, Provider


class Told(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to change; None leaves it. ``script`` is appended."""

    reset: bool = False
    script: tuple[Behaviour, ...] = ()
    default: Behaviour | None = None
    face: EngineFace | None = None
    refuse: bool | None = None


class Control:
    """``GET /`` tells what was received, ``POST /`` takes a ``Told``. Both answer with the state afterwards."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, port: int) -> int:
        """Listen on the loopback; the port that was taken is returned."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(0, self._serve, lambda _: None), "127.0.0.1", port)
        self._server = server
        taken: int = server.sockets[0].getsockname()[1]
        return taken

    def _serve(self, connection: Connection, request: Received) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(connection, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, connection: Connection, request: Received) -> None:
        status, complaint = 200, ""
        if request.method == "POST":
            try:
                await self._apply(msgspec.json.decode(request.body, type=Told))
            except msgspec.DecodeError as error:
                status, complaint = 400, str(error)
        body = complaint.encode() or msgspec.json.encode(self._provider.state())
        connection.write(head(Behaviour(status=status), len(body)) + body)

    async def _apply(self, told: Told) -> None:
        provider = self._provider
        if told.reset:
            provider.reset()
        provider.script(*told.script)
        provider.default = told.default or provider.default
        provider.face = told.face or provider.face
        if told.refuse is not None:
            await (provider.refuse() if told.refuse else provider.listen())
