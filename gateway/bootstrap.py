"""The one place that knows every adapter: settings in, a running gateway out, everything closed at the end."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from msgspec import Struct

from adapters import policy as opa
from adapters import registry, store
from adapters.clock import SystemClock
from adapters.telemetry import Telemetry
from adapters.tokens import LocalCounter
from adapters.transport import Transports
from gateway.domain.errors import StartRefused
from gateway.domain.principal import BUILT_IN_OPERATOR, Caller, credential_hash
from gateway.domain.snapshot import Snapshot
from gateway.service.active import Active, InForce
from gateway.service.assembly import Ports, Services, assemble
from gateway.service.credentials import Credentials, new_token
from gateway.service.readiness import ReadinessBoard
from gateway.service.standing import ProcessStanding
from gateway.settings import Settings

OPERATOR_FILE = "operator.key"
ADDRESS_FILE = "address.json"
"""Where the command line finds the running server."""


class Gateway(Struct, frozen=True):
    """A running gateway without its HTTP server."""

    services: Services
    telemetry: Telemetry


class Administration(Struct, frozen=True):
    """The store without a server, for the command line; it holds the store's lock."""

    credentials: Credentials
    caller: Caller
    """The built-in operator."""
    snapshot: Snapshot


Decorate = Callable[[Ports], Ports]
"""Lets the fault tests put themselves around a port. The gateway itself passes none."""


def load_registry(settings: Settings, clock: SystemClock) -> Snapshot:
    """The registry as it stands.

    :raises StartRefused: with every fault, a line each.
    """
    loaded = registry.load(settings.registry_folder, at_us=clock.now_us())
    if isinstance(loaded, tuple):
        raise StartRefused("The registry has faults:\n" + "\n".join(str(fault) for fault in loaded))
    return loaded.snapshot


@asynccontextmanager
async def open_gateway(
    settings: Settings, *, on_fatal: Callable[[], None], decorate: Decorate = lambda ports: ports
) -> AsyncIterator[Gateway]:
    """Everything that serves, from the registry to the readiness watch.

    :raises StartRefused: with a sentence and a remedy, before anything serves.
    """
    clock, telemetry = SystemClock(), Telemetry()
    snapshot = load_registry(settings, clock)
    binary = opa.find()
    if binary is None:
        raise StartRefused("There is no accepted OPA. Run: gateway opa install")
    async with AsyncExitStack() as stack:
        policy = await opa.start(snapshot=snapshot, policies=settings.policies_folder, opa=binary, events=telemetry)
        stack.push_async_callback(policy.close)
        in_force = InForce(Active(snapshot, policy))
        board = ReadinessBoard(clock)
        opened = store.open_store(
            settings.data_folder,
            events=telemetry,
            clock=clock,
            standing=ProcessStanding(in_force, board),
            on_fatal=on_fatal,
        )
        stack.callback(opened.close)
        transports = await stack.enter_async_context(Transports(clock=clock, events=telemetry))
        ports = decorate(
            Ports(
                ledger=opened.ledger,
                operations=opened.operations,
                sources=opened.sources,
                keys=opened.keys,
                transport=transports,
                probe=transports,
                counter=LocalCounter(),
                clock=clock,
                events=telemetry,
            )
        )
        services = assemble(ports, in_force, board)
        await services.credentials.ensure_operator(operator_token(settings.data_folder))
        await services.sweeper.sweep(earlier_incarnations=True)
        stack.push_async_callback(services.sweeper.sweep)
        for loop in (services.watch.run(), services.sweeper.run()):
            stack.push_async_callback(_end, asyncio.ensure_future(loop))
        stack.push_async_callback(services.running.drain, settings.drain_s)
        yield Gateway(services, telemetry)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


@asynccontextmanager
async def open_administration(settings: Settings) -> AsyncIterator[Administration]:
    """The store alone, while no server has it.

    :raises StartRefused: if a server holds the store, or the registry has faults.
    """
    clock, telemetry = SystemClock(), Telemetry()
    snapshot = load_registry(settings, clock)
    opened = store.open_store(settings.data_folder, events=telemetry, clock=clock, standing=None, on_fatal=lambda: None)
    try:
        credentials = Credentials(opened.keys, clock)
        token = operator_token(settings.data_folder)
        await credentials.ensure_operator(token)
        yield Administration(credentials, Caller(BUILT_IN_OPERATOR, credential_hash(token)), snapshot)
    finally:
        opened.close()


def operator_token(data: Path) -> str:
    """The operator's credential of this data directory, made at the first start (mode 0600)."""
    path = data / OPERATOR_FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    token = new_token()
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    return token


def write_address(data: Path, url: str) -> None:
    """Let the command line find this server."""
    (data / ADDRESS_FILE).write_text(json.dumps({"url": url}) + "\n", encoding="ascii")


def read_address(data: Path) -> str | None:
    """The URL that the last server of this data directory wrote, whether or not it still runs."""
    try:
        return str(json.loads((data / ADDRESS_FILE).read_text(encoding="ascii"))["url"])
    except FileNotFoundError:
        return None
