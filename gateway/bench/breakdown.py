"""What a fresh request is made of: the pipeline's own steps, timed apart, in a process of its own.

Requests walk the path together, in waves: all of a wave take one step, then the clocks are read, then all take the
next. The steps are the real ones over the real store, OPA and transport; only HTTP and the pipeline's own glue are
missing. A wave of 64 is one batch for the writer, as at 64 concurrent requests.
"""

import asyncio
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click
import msgspec
import uvloop
from msgspec import Struct
from starlette.datastructures import Headers

from gateway.api.chat_body import read_chat
from gateway.api.headers import operation_key_hash
from gateway.bench.plan import BODY
from gateway.bootstrap.data_folder import operator_token
from gateway.bootstrap.serving import open_gateway
from gateway.domain.refusal import Answer
from gateway.domain.request import Request
from gateway.service.administer import Permit
from gateway.service.assembly import Ports, Services
from gateway.service.credentials import NewKey
from gateway.service.path import Asked, Session
from gateway.settings import from_environment

READY_WITHIN_S = 10.0
DECISIONS = ("access decision", "routes decision")
OF_REPLAY = "replay: look up, decide, disclose"
"""Not a step of a fresh request: the same key again."""


class Stage(Struct, frozen=True, kw_only=True):
    """One step, CPU per request."""

    name: str
    cpu_us: float
    """All threads of the process."""
    loop_us: float
    """Of it, the thread of the event loop."""


class Walk:
    """One request on its way; each step leaves here what the next one needs."""

    session: Any
    asked: Any
    opening: Any
    access: Any
    routes: Any
    bounded: Any
    grant: Any
    outcome: Any

    def __init__(self, key: str) -> None:
        self.headers = Headers({"idempotency-key": key})


Step = Callable[[Walk], Awaitable[object]]


class Path:
    """The steps of service/pipeline.py, one by one."""

    def __init__(self, services: Services, ports: Ports, token: str) -> None:
        self._pipeline = services.pipeline
        self._ports = ports
        self._token = token
        self._body = BODY.encode()

    def steps(self) -> dict[str, Step]:
        return {
            "credential": self._credential,
            "parse the body": self._parse,
            "fingerprint, look up": self._look_up,
            DECISIONS[0]: self._access,
            DECISIONS[1]: self._routes,
            "bound (count)": self._bound,
            "T1 reserve": self._reserve,
            "T2 dispatching": self._dispatch,
            "engine call": self._send,
            "T3 render, persist": self._persist,
            OF_REPLAY: self._replay,
        }

    async def _credential(self, walk: Walk) -> None:
        walk.session = await self._pipeline.authenticate(self._token)

    async def _parse(self, walk: Walk) -> None:
        key_hash, request = operation_key_hash(walk.headers), read_chat(self._body)
        assert isinstance(key_hash, bytes)
        assert isinstance(request, Request)
        walk.asked = Asked(key_hash, request)

    async def _look_up(self, walk: Walk) -> None:
        walk.opening = await self._pipeline.look_up(walk.session, walk.asked)

    async def _access(self, walk: Walk) -> None:
        walk.access = await self._pipeline.authorise(walk.session, walk.opening)

    async def _routes(self, walk: Walk) -> None:
        walk.routes = await self._pipeline.select(walk.session, walk.opening, walk.access)

    async def _bound(self, walk: Walk) -> None:
        walk.bounded = await self._pipeline.bound(walk.routes, walk.access, walk.asked.request)

    async def _reserve(self, walk: Walk) -> None:
        walk.grant = await self._pipeline.reserve(walk.session, walk.opening, walk.access, walk.routes, walk.bounded)

    async def _dispatch(self, walk: Walk) -> None:
        await self._ports.ledger.dispatch(walk.grant.dispatch_id)

    async def _send(self, walk: Walk) -> None:
        send_by_s = self._ports.clock.boot_s() + 2.0
        walk.outcome = await self._ports.transport.send(walk.grant.spend(walk.asked.request, send_by_s=send_by_s))

    async def _persist(self, walk: Walk) -> None:
        answer = await self._pipeline.persist(walk.session, walk.routes, walk.grant, walk.outcome)
        assert isinstance(answer, Answer), answer

    async def _replay(self, walk: Walk) -> None:
        answer = await self._pipeline.look_up(walk.session, walk.asked)
        assert isinstance(answer, Answer), answer


class Clocks:
    """CPU seconds by step."""

    def __init__(self) -> None:
        self.process_s: dict[str, float] = {}
        self.loop_s: dict[str, float] = {}

    async def take(self, step: str, work: Awaitable[object]) -> None:
        process_s, loop_s = time.process_time(), time.thread_time()
        await work
        self.process_s[step] = self.process_s.get(step, 0.0) + time.process_time() - process_s
        self.loop_s[step] = self.loop_s.get(step, 0.0) + time.thread_time() - loop_s


async def wave(walks: Sequence[Walk], steps: dict[str, Step], clocks: Clocks) -> None:
    """All walks take each step together. Each is one task throughout, because a task owns its attempt."""
    gates = {name: asyncio.Event() for name in steps}
    arrived: asyncio.Queue[str] = asyncio.Queue()

    async def walk_all(walk: Walk) -> None:
        for name, step in steps.items():
            await gates[name].wait()
            await step(walk)
            arrived.put_nowait(name)

    async def all_arrive() -> None:
        for _ in walks:
            await arrived.get()

    async with asyncio.TaskGroup() as group:
        for walk in walks:
            group.create_task(walk_all(walk))
        await asyncio.sleep(0)
        for name, gate in gates.items():
            gate.set()
            await clocks.take(name, all_arrive())


async def measure(waves: int, concurrency: int) -> list[Stage]:
    """The stages over the gateway that the settings describe."""
    captured: list[Ports] = []

    def capture(ports: Ports) -> Ports:
        captured.append(ports)
        return ports

    settings = from_environment(os.environ)
    async with open_gateway(settings, on_fatal=lambda: None, decorate=capture) as gateway:
        services = gateway.services
        await _ready(services)
        session = await services.admin.authenticate(operator_token(settings.data_folder))
        assert isinstance(session, Session), session
        permit = await services.admin.administer(session, "keys", "change")
        assert isinstance(permit, Permit), permit
        made = await services.admin.credentials.create(permit, tenant="acme", principal="assistant", label="bench")
        assert isinstance(made, NewKey), made
        steps = Path(services, captured[0], made.token).steps()
        await wave([Walk(secrets.token_hex(16)) for _ in range(concurrency)], steps, Clocks())  # connections are made
        clocks = Clocks()
        for _ in range(waves):
            await wave([Walk(secrets.token_hex(16)) for _ in range(concurrency)], steps, clocks)
    share = 1e6 / (waves * concurrency)
    return [
        Stage(name=name, cpu_us=clocks.process_s[name] * share, loop_us=clocks.loop_s[name] * share) for name in steps
    ]


async def _ready(services: Services) -> None:
    async with asyncio.timeout(READY_WITHIN_S):
        profiles = services.in_force.active.snapshot.profiles.values()
        while not any(map(services.board.is_ready, profiles)):  # noqa: ASYNC110 - the board has no event to wait for
            await asyncio.sleep(0.01)


@click.command()
@click.option("--waves", required=True, type=int)
@click.option("--concurrency", required=True, type=int)
def main(waves: int, concurrency: int) -> None:
    """Print the stages as a line of JSON."""
    click.echo(msgspec.json.encode(uvloop.run(measure(waves, concurrency))))


if __name__ == "__main__":
    main()
