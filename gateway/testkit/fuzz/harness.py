"""One gateway with real OPA, SQLite and transport in this process, asked through its ASGI application."""

import asyncio
import json
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct
from starlette.types import ASGIApp

from gateway.api.app import create_app
from gateway.api.body import BodyBounds
from gateway.api.openapi import document
from gateway.api.openapi_answers import ChatCompletion
from gateway.api.openapi_refusals import Problem
from gateway.bootstrap.serving import open_gateway
from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Outcome
from gateway.ports.transport import Transport
from gateway.service.assembly import Ports
from gateway.settings import Settings
from gateway.testkit.doors.http import FACE
from gateway.testkit.fuzz import mutations
from gateway.testkit.fuzz.asking import Said, request
from gateway.testkit.fuzz.grammar import SOURCE
from gateway.testkit.fuzz.reference import PROFILE, NotServed, Reference, cap
from gateway.testkit.fuzz.wire import differences
from gateway.testkit.ports import with_ports
from gateway.testkit.provider.server import Provider
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry, slots
from gateway.testkit.registry_copy import PROFILE as PROFILE_FILE

PATH = "/v1/chat/completions"
NO_EFFECT = 503
AT_ONCE = 16
READY_TRIES, READY_EVERY_S = 400, 0.05
UNTOUCHED = 0.15
"""Part of the bodies that are good: without them nothing would show that the others are refused for a reason."""
WITH_TOOLS = Edit(PROFILE_FILE, "capabilities: [chat, ", "capabilities: [chat, tools, parallel_tool_calls, ")
_case: ContextVar[int] = ContextVar("case", default=-1)


class Tally(Struct):
    """What a run has seen."""

    bodies: int = 0
    dispatches: int = 0
    codes: Counter[str] = msgspec.field(default_factory=Counter)
    violations: list[str] = []
    seconds: float = 0.0

    def blame(self, number: int, seed: int, words: str) -> None:
        self.violations.append(f"body {number} of seed {seed}: {words}")


class Watched:
    """The transport, which remembers for which body each dispatch was."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.sent: dict[int, list[Dispatch]] = {}

    async def send(self, dispatch: Dispatch) -> Outcome:
        # A task has the context of the one that made it, so the case is still known here.
        self.sent.setdefault(_case.get(), []).append(dispatch)
        return await self._transport.send(dispatch)


class Fuzz:
    """Asks, and judges."""

    def __init__(self, app: ASGIApp, watched: Watched, token: str, seed: int) -> None:
        self._app = app
        self._headers = {"host": "gateway", "authorization": f"Bearer {token}"}
        self._watched = watched
        self._seed = seed
        self._reference = Reference()
        responses = document()["paths"][PATH]["post"]["responses"]
        self._documented = {
            (int(status), code)
            for status, response in responses.items()
            if int(status) >= 400
            for code in _codes(response)
        }
        self.tally = Tally()
        self.accepted: dict[str, dict[str, Any]] = {}
        """Bodies that were served, by the id of their dispatch."""

    async def run(self, bodies: int) -> None:
        """Ask them all, some at once."""
        numbers = iter(range(bodies))

        async def work() -> None:
            for number in numbers:
                await self._try(number)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def _try(self, number: int) -> None:
        rng = Random(f"{self._seed}/{number}")
        good = rng.random() < UNTOUCHED
        raw = mutations.untouched(rng) if good else mutations.mutated(rng)
        _case.set(number)
        try:
            said = await request(self._app, "POST", PATH, self._headers | {"idempotency-key": f"k-{number}"}, raw)
        except Exception as error:  # noqa: BLE001 - whatever the application raises is what is looked for
            self.tally.blame(number, self._seed, f"raised {type(error).__name__}")
            return
        sent = self._watched.sent.pop(number, [])
        self.tally.bodies += 1
        self.tally.dispatches += len(sent)
        for words in self._faults(raw, said, sent, good=good):
            self.tally.blame(number, self._seed, words)

    def _faults(self, raw: bytes, said: Said, sent: list[Dispatch], *, good: bool) -> list[str]:
        if said.status != 200:
            return self._refused(said, sent, good=good)
        self.tally.codes["200"] += 1
        if len(sent) != 1:
            return [f"answered after {len(sent)} dispatches"]
        (dispatch,) = sent
        try:
            msgspec.json.decode(said.body, type=ChatCompletion)
            body = self._reference.read(raw)
        except msgspec.ValidationError:
            return ["the answer is no completion"]
        except NotServed as why:
            return [f"served, and must not have been: {why}"]
        self.accepted[dispatch.dispatch_id] = body
        found = [] if dispatch.profile.id == PROFILE else [f"went to {dispatch.profile.id}"]
        if dispatch.output_cap > dispatch.profile.max_output:
            found.append("a cap above the profile's maximum")
        if (asked := cap(body)) is not None and dispatch.output_cap != asked:
            found.append("another cap than was asked for")
        return found

    def _refused(self, said: Said, sent: list[Dispatch], *, good: bool) -> list[str]:
        status = said.status
        # With 503 it was given back unsent, on a busy machine; that nothing was received is checked at the end.
        found = [f"{status} after a dispatch"] if sent and status != NO_EFFECT else []
        try:
            problem = msgspec.json.decode(said.body, type=Problem)
        except msgspec.DecodeError:
            return [*found, f"{status} without a problem"]
        self.tally.codes[f"{status} {problem.code}"] += 1
        if (status, problem.code) not in self._documented:
            found.append(f"{status} {problem.code} is not documented")
        if status == NO_EFFECT:
            return found
        if status >= 500:
            found.append(f"{status} {problem.code}")
        if good:
            found.append(f"a good body was refused: {status} {problem.code} {problem.error.param}")
        if b"smuggled" in said.body:
            found.append("the refusal repeats a value")
        return found


async def fuzz(folder: Path, *, bodies: int, seed: int) -> Tally:
    """Send so many bodies, and judge what came of each and of all."""
    began = time.monotonic()
    async with Provider(face=FACE) as provider, _gateway(folder, provider) as (app, watched):
        administer = _Administrator(app, (folder / "data" / "operator.key").read_text().strip())
        run = Fuzz(app, watched, await administer.prepare(), seed)
        await run.run(bodies)
        tally = run.tally
        received = {one.headers["x-request-id"]: one.json() for one in provider.generations}
        reserved = _reserved(folder / "data" / "gateway.db")
        if received.keys() != run.accepted.keys() or provider.generation_count != len(received):
            tally.violations.append("the provider received something else than what was served")
        for dispatch_id in received.keys() & run.accepted.keys():
            about = differences(received[dispatch_id], run.accepted[dispatch_id], reserved[dispatch_id])
            tally.violations += [f"dispatch {dispatch_id}: {words}" for words in about]
        tally.violations += (await administer.ask("POST", "/admin/ledger/verify", {}))["differences"]
        tally.seconds = time.monotonic() - began
        return tally


def _codes(response: dict[str, Any]) -> list[str]:
    """The codes that the document gives to a refusal."""
    _, only_these = response["content"]["application/problem+json"]["schema"]["allOf"]
    codes: list[str] = only_these["properties"]["code"]["enum"]
    return codes


def _reserved(database: Path) -> dict[str, int]:
    """The reserved cap of every dispatch, as it is stored."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return dict(connection.execute("SELECT dispatch_id, reserved_output FROM attempt").fetchall())
    finally:
        connection.close()


@asynccontextmanager
async def _gateway(folder: Path, provider: Provider) -> AsyncIterator[tuple[ASGIApp, Watched]]:
    """A gateway whose one profile is ready."""
    registry = copy_registry(folder, [*slots(FACE.slots), WITH_TOOLS], engine_port=provider.port)
    # The golden decisions belong to the registry as it is committed; an edit would contradict them.
    shutil.copytree(EXAMPLE.parent / "policies", folder / "policies", ignore=shutil.ignore_patterns("golden"))
    (folder / "data").mkdir()
    settings = Settings(registry=str(registry), policies=str(folder / "policies"), data=str(folder / "data"))
    watched: list[Watched] = []

    def decorate(ports: Ports) -> Ports:
        watched.append(Watched(ports.transport))
        return with_ports(ports, transport=watched[0])

    def broken() -> None:
        raise RuntimeError("the gateway ended")

    async with open_gateway(settings, on_fatal=broken, decorate=decorate) as gateway:
        services = gateway.services
        bounds = BodyBounds(settings.max_body_bytes, settings.body_within_s)
        app = create_app(services, bounds=bounds, render_metrics=gateway.telemetry.render)
        for _ in range(READY_TRIES):
            if (await request(app, "GET", "/readyz", {})).status == 200:
                break
            await asyncio.sleep(READY_EVERY_S)
        yield app, watched[0]


class _Administrator:
    """Does what goes before and after, as an operator does."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._headers = {"host": "gateway", "authorization": f"Bearer {token}"}

    async def ask(self, method: str, path: str, body: dict[str, Any]) -> Any:
        said = await request(self._app, method, path, self._headers, json.dumps(body).encode())
        assert said.status < 300, said.body
        return said.json()

    async def prepare(self) -> str:
        """The source that grammar.py cites, and a key of who may read it."""
        source = {**SOURCE, "tenant": "acme", "groups": ["staff"], "privacy_class": "internal"}
        await self.ask("POST", "/admin/sources/grant", source)
        token: str = (await self.ask("POST", "/admin/keys", {"tenant": "acme", "principal": "assistant"}))["token"]
        return token
