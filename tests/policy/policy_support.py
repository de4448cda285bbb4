"""Questions, a policy over the repository's rules, and a stand-in for OPA that says anything."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from snapshots import UNTIL_S, snapshot

from adapters import policy as adapter
from adapters.policy.engine import Engine
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Decision,
    OperateAnswer,
    OperateQuestion,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
    VisibleAnswer,
    VisibleQuestion,
)
from gateway.domain.snapshot import Snapshot
from gateway.domain.source import SourceFact
from gateway.ports.events import Event
from gateway.ports.policy import Decided

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / "policies"
NOW_S = UNTIL_S - 1_000_000
SOURCE = SourceFact(
    known=True,
    cited="3",
    revision="3",
    tenant="a",
    groups=("g", "h"),
    privacy_class="private",
    released_s=NOW_S,
    withdrawn=False,
    as_of_s=NOW_S - 3600,
)
ACCESS = AccessQuestion(
    time_s=NOW_S,
    tenant="a",
    groups=("g",),
    roles=("generate",),
    purpose="answer",
    alias="chat",
    sources=(SOURCE, SOURCE),
)
DRAFT = replace(ACCESS, purpose="draft", sources=())
ROUTES = RoutesQuestion(
    time_s=NOW_S,
    tenant="a",
    purpose="answer",
    alias="chat",
    bundle="chat@1",
    privacy_class="private",
    features=("chat",),
)
REPLAY = ReplayQuestion(
    time_s=NOW_S, tenant="a", groups=("g",), roles=("generate",), purpose="answer", sources=(SOURCE, SOURCE)
)
VISIBLE = VisibleQuestion(time_s=NOW_S, tenant="a", roles=("generate",))
OPERATE = OperateQuestion(tenant="a", roles=("operator",), area="sources", deed="change")
REVISION = "sha256:right"
VERSION = "1.22.3"


class Recorder:
    """Events that were emitted."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)


def opa() -> Path:
    """An accepted OPA, which ``make`` has provided."""
    found = adapter.find()
    assert found is not None, "run: gateway opa install"
    return found


@asynccontextmanager
async def running(
    policies: Path = POLICIES, registry: Snapshot | None = None, events: Recorder | None = None
) -> AsyncIterator[adapter.OpaPolicy]:
    """A policy, closed at the end."""
    policy = await adapter.start(
        snapshot=registry or snapshot(), policies=policies, opa=opa(), events=events or Recorder()
    )
    try:
        yield policy
    finally:
        await policy.close()


class Asked:
    """One OPA for many questions, asked from tests that are no coroutines."""

    def __init__(self, runner: asyncio.Runner, policy: adapter.OpaPolicy) -> None:
        self._runner = runner
        self.policy = policy

    def access(self, question: AccessQuestion) -> AccessAnswer:
        return self._runner.run(self.policy.access(question)).answer

    def routes(self, question: RoutesQuestion) -> RoutesAnswer:
        return self._runner.run(self.policy.routes(question)).answer

    def shown(self, question: ReplayQuestion) -> bool:
        return self._runner.run(self.policy.replay(question)).answer.allow

    def visible(self, question: VisibleQuestion) -> VisibleAnswer:
        return self._runner.run(self.policy.visible(question)).answer

    def operate(self, question: OperateQuestion) -> OperateAnswer:
        return self._runner.run(self.policy.operate(question)).answer

    def decided(self, question: AccessQuestion | RoutesQuestion) -> Decision:
        """What the audit would keep."""

        async def ask() -> Decided[Any]:
            if isinstance(question, AccessQuestion):
                return await self.policy.access(question)
            return await self.policy.routes(question)

        return self._runner.run(ask()).decision

    def codes(self, question: AccessQuestion) -> set[tuple[str, str]]:
        """Codes and remedies as a caller would see them."""
        failed = self.access(question).failed
        explained = [self.policy.explain("request", name) for name in failed.request]
        explained += [self.policy.explain("source", name) for names in failed.source.values() for name in names]
        return {(found.code, found.remedy) for found in explained}


@contextmanager
def asking(registry: Snapshot | None = None) -> Iterator[Asked]:
    """One OPA over this registry, or over the usual one."""
    with asyncio.Runner() as runner:
        context = running(registry=registry)
        policy = runner.run(context.__aenter__())
        try:
            yield Asked(runner, policy)
        finally:
            runner.run(context.__aexit__(None, None, None))


Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def stand_in(socket: Path, script: Script) -> AsyncIterator[Engine]:
    """An engine whose OPA follows a script for each connection."""
    served: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.add(asyncio.create_task(_served(script, reader, writer)))

    engine = Engine(socket, revision=REVISION, version=VERSION, events=Recorder())
    server = await asyncio.start_unix_server(serve, socket)
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()
        server.close()
        for task in served:
            task.cancel()
        await asyncio.gather(*served, return_exceptions=True)
        await server.wait_closed()


async def _served(script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await script(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def says(body: bytes, *, status: str = "200 OK", media: str = "application/json", length: int | None = None) -> Script:
    """One answer; ``length`` is what it claims to be."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {length or len(body)}\r\n\r\n"
        writer.write(head.encode() + body)

    return script


def envelope(**parts: object) -> bytes:
    """OPA's answer as it should be, with some parts replaced; None leaves one out."""
    provenance = {"version": VERSION, "build_commit": "", "bundles": {"bundle.tar.gz": {"revision": REVISION}}}
    whole = {"provenance": provenance, "result": RIGHT} | parts
    return msgspec.json.encode({name: part for name, part in whole.items() if part is not None})


RIGHT = {
    "allow": True,
    "privacy_class": "private",
    "failed": {"request": [], "source": {"0": [], "1": []}},
}
