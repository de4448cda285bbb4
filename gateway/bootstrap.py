"""The one place that knows every adapter: settings in, a running gateway out, everything closed at the end."""

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

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
from gateway.ports.events import Events, Faulted
from gateway.service.active import Active, InForce
from gateway.service.assembly import Ports, Services, assemble
from gateway.service.credentials import Credentials, is_token, new_token
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
        # An earlier server's address: nobody may send the operator's credential to whoever listens there now.
        forget_address(settings.data_folder)
        stack.callback(forget_address, settings.data_folder)
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
        stack.push_async_callback(services.sweeper.sweep_at_end)
        for loop in (services.watch.run(), services.sweeper.run()):
            stack.push_async_callback(_end, _start(loop, telemetry, on_fatal))
        stack.push_async_callback(services.running.drain, settings.drain_s)
        yield Gateway(services, telemetry)


def _start(loop: Coroutine[Any, Any, None], events: Events, on_fatal: Callable[[], None]) -> asyncio.Task[None]:
    """Run a loop that must not end. If it breaks the process stops: it would serve without readiness or sweeps."""

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            events.emit(Faulted("background", type(error).__name__))
            on_fatal()

    task = asyncio.ensure_future(loop)
    task.add_done_callback(ended)
    return task


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


@asynccontextmanager
async def open_administration(settings: Settings) -> AsyncIterator[Administration]:
    """The store alone, while no server has it.

    :raises DirectoryInUse: if a server holds it.
    :raises StartRefused: if the registry has faults.
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
    """The operator's credential of this data directory, made at the first start (mode 0600).

    :raises StartRefused: if the file does not hold a credential.
    """
    path = data / OPERATOR_FILE
    if not path.exists():
        _write_privately(path, new_token() + "\n")
    token = path.read_text(encoding="ascii").strip()
    if not is_token(token):
        raise StartRefused(
            f"The file {OPERATOR_FILE} of the data directory holds no credential. Remove it and start again."
        )
    return token


def _write_privately(path: Path, text: str) -> None:
    """Whole or not at all, and for its owner alone."""
    descriptor, name = tempfile.mkstemp(dir=path.parent)  # mode 0600
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)


def write_address(data: Path, url: str) -> None:
    """Let the command line find this server."""
    _write_privately(data / ADDRESS_FILE, json.dumps({"url": url}) + "\n")


def forget_address(data: Path) -> None:
    """No server of this data directory can be reached any more."""
    (data / ADDRESS_FILE).unlink(missing_ok=True)


def read_address(data: Path) -> str | None:
    """The URL of the server that holds this data directory; None while it starts or ends."""
    try:
        return str(json.loads((data / ADDRESS_FILE).read_text(encoding="ascii"))["url"])
    except FileNotFoundError:
        return None
