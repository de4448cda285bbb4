"""Administration over the store alone, while no server holds it: what the command line works on."""

import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from msgspec import Struct

from adapters import store
from adapters.clock import SystemClock
from adapters.telemetry import Telemetry
from gateway.bootstrap.data_folder import operator_token
from gateway.bootstrap.registry import load_registry
from gateway.domain.errors import PolicyUnavailable, StartRefused
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
)
from gateway.domain.refusal import PolicyCode
from gateway.ports.events import Events
from gateway.ports.policy import Decided
from gateway.service.active import Active, InForce
from gateway.service.assembly import AdminServices, StorePorts, assemble_admin
from gateway.settings import Settings


class Administration(Struct, frozen=True):
    """The store without a server; it holds the store's lock."""

    services: AdminServices
    events: Events
    token: str
    """The operator's."""


class NoPolicy:
    """Where no server runs there is no OPA, and nothing that needs a decision can be done."""

    revision = ""
    is_up = False

    async def access(self, question: AccessQuestion) -> Decided[AccessAnswer]:
        _no_server(question)

    async def routes(self, question: RoutesQuestion) -> Decided[RoutesAnswer]:
        _no_server(question)

    async def replay(self, question: ReplayQuestion) -> Decided[ReplayAnswer]:
        _no_server(question)

    def explain(self, level: str, check: str) -> PolicyCode:
        _no_server((level, check))


def _no_server(_: object) -> NoReturn:
    raise PolicyUnavailable("no_server")


@asynccontextmanager
async def open_administration(settings: Settings) -> AsyncIterator[Administration]:
    """The store alone, while no server has it.

    :raises DirectoryInUse: if a server holds it.
    :raises StartRefused: if the registry has faults.
    """
    if not store.exists(settings.data_folder):
        raise StartRefused("There is no store in GATEWAY_DATA. Run gateway serve once, or name its data directory.")
    clock, telemetry = SystemClock(), Telemetry()
    snapshot = load_registry(settings, clock)
    opened = store.open_store(settings.data_folder, events=telemetry, clock=clock, standing=None, on_fatal=lambda: None)
    try:
        ports = StorePorts(
            ledger=opened.ledger,
            operations=opened.operations,
            accounts=opened.accounts,
            sources=opened.sources,
            keys=opened.keys,
            clock=clock,
        )
        in_force = InForce(Active(snapshot, NoPolicy()))
        services = assemble_admin(ports, in_force, os_user=getpass.getuser())
        token = operator_token(settings.data_folder)
        await services.credentials.ensure_operator(token)
        yield Administration(services, telemetry, token)
    finally:
        opened.close()
