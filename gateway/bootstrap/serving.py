"""Settings in, a running gateway out, and everything closed at the end, in the reverse order."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from msgspec import Struct

from adapters import store
from adapters.clock import SystemClock
from adapters.telemetry import Telemetry
from adapters.tokens import LocalCounter
from adapters.transport import Transports
from gateway.bootstrap.data_folder import forget_address, operator_token, salt_secret
from gateway.bootstrap.hosted import SecretsInForce
from gateway.bootstrap.revisions import FileRevisions
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, StartRefused
from gateway.domain.snapshot import Snapshot
from gateway.ports.events import Events, Faulted
from gateway.ports.reads import Accounts
from gateway.service.active import Active, InForce
from gateway.service.assembly import Ports, Services, assemble
from gateway.service.in_use import dropped
from gateway.service.readiness import ReadinessBoard
from gateway.service.signals import Signals
from gateway.service.standing import ProcessStanding
from gateway.settings import Settings


class Gateway(Struct, frozen=True):
    """A running gateway without its HTTP server."""

    services: Services
    telemetry: Telemetry
    revisions: FileRevisions


Decorate = Callable[[Ports], Ports]
"""Lets the fault tests put themselves around a port. The gateway itself passes none."""
Wrap = store.Wrap
"""Lets them put themselves around the store's writing connection."""


@asynccontextmanager
async def open_gateway(
    settings: Settings,
    *,
    on_fatal: Callable[[], None],
    decorate: Decorate = lambda ports: ports,
    wrap: Wrap = lambda connection: connection,
) -> AsyncIterator[Gateway]:
    """Everything that serves, from the registry to the readiness watch.

    :raises StartRefused: with a sentence and a remedy, before anything serves.
    """
    clock, telemetry = SystemClock(), Telemetry()
    revisions = FileRevisions(settings, clock, telemetry, on_fatal)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(revisions.close)
        first = await revisions.start()
        in_force = InForce(Active(first.snapshot, first.policy), telemetry)
        board = ReadinessBoard(clock)
        opened = store.open_store(
            settings.data_folder,
            events=telemetry,
            clock=clock,
            standing=ProcessStanding(in_force, board),
            on_fatal=on_fatal,
            wrap=wrap,
        )
        stack.callback(opened.close)
        # An earlier server's address: nobody may send the operator's credential to whoever listens there now.
        forget_address(settings.data_folder)
        stack.callback(forget_address, settings.data_folder)
        secrets, salt = SecretsInForce(revisions.vault, in_force), salt_secret(settings.data_folder)
        transports = await stack.enter_async_context(Transports(clock, telemetry, secrets, salt=salt))
        counter = LocalCounter(revisions.vocabularies)
        stack.callback(counter.close)
        ports = decorate(
            Ports(
                ledger=opened.ledger,
                operations=opened.operations,
                accounts=opened.accounts,
                sources=opened.sources,
                keys=opened.keys,
                decisions=opened.decisions,
                profiles=opened.profiles,
                transport=transports,
                probe=transports,
                counter=counter,
                revisions=revisions,
                clock=clock,
                events=telemetry,
            )
        )
        services = assemble(ports, in_force, board, body_within_s=settings.body_within_s)
        stack.push_async_callback(services.reload.close)
        await services.quarantines.load()
        await _first_writes(services, operator_token(settings.data_folder))
        # After the sweep: a grant that nobody sent any more keeps no id.
        await _keep_ids(opened.accounts, first.snapshot)
        stack.push_async_callback(services.sweeper.sweep_at_end)
        signals = Signals(
            accounts=ports.accounts,
            in_force=in_force,
            running=services.running,
            settling=services.settling,
            queued=opened.queued,
            events=telemetry,
        )
        for loop in (services.watch.run(), services.sweeper.run(), signals.run()):
            stack.push_async_callback(_end, _start(loop, telemetry, on_fatal))
        stack.push_async_callback(services.running.drain, settings.drain_s)
        yield Gateway(services, telemetry, revisions)


async def _keep_ids(accounts: Accounts, snapshot: Snapshot) -> None:
    """Ids that open operations and held budgets name must stay in the registry.

    :raises StartRefused: with a line for each that is gone.
    """
    if faults := dropped(await accounts.in_use(), snapshot):
        text = "The registry drops what the store still needs:\n" + "\n".join(str(fault) for fault in faults)
        raise StartRefused(text, faults)


async def _first_writes(services: Services, token: str) -> None:
    """The operator's key, and what earlier processes left, before anything new is taken.

    :raises StartRefused: if the store does not take them.
    """
    try:
        await services.admin.credentials.ensure_operator(token)
        await services.sweeper.sweep(earlier_incarnations=True)
    except (LedgerUnavailable, LedgerUncertain):
        raise StartRefused(
            "The store cannot be written. Make room on the disk of GATEWAY_DATA, or mend it, and start again."
        ) from None


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
