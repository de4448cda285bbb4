"""Administration over the store alone, while no server holds it: what the command line works on."""

import hashlib
import os
import pwd
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

import msgspec
import uuid_utils
from msgspec import Struct

from adapters import store
from adapters.clock import SystemClock
from adapters.telemetry import Telemetry
from gateway.bootstrap.data_folder import operator_token
from gateway.bootstrap.registry import NO_REGISTRY, load_registry
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PolicyUnavailable, StartRefused
from gateway.domain.principal import BUILT_IN_OPERATOR
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Decision,
    OperateAnswer,
    OperateQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
    VisibleAnswer,
    VisibleQuestion,
)
from gateway.domain.refusal import PolicyCode
from gateway.domain.snapshot import Snapshot
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
    """Where no server runs there is no OPA. Only who administers is answered, and for the built-in operator alone.

    This is the one decision in Python, and it decides nothing: whoever can take the lock and read operator.key owns
    the data directory, and with it the store. It is also the way out when policy denies or cannot be evaluated
    (docs/adr/0014). Where a server runs, none of it is used: the built-in operator is judged by the rules.
    """

    revision = ""
    is_up = False

    async def access(self, question: AccessQuestion) -> Decided[AccessAnswer]:
        _no_server(question)

    async def routes(self, question: RoutesQuestion) -> Decided[RoutesAnswer]:
        _no_server(question)

    async def replay(self, question: ReplayQuestion) -> Decided[ReplayAnswer]:
        _no_server(question)

    async def visible(self, question: VisibleQuestion) -> Decided[VisibleAnswer]:
        _no_server(question)

    async def operate(self, question: OperateQuestion) -> Decided[OperateAnswer]:
        built_in = BUILT_IN_OPERATOR
        allow = (question.tenant, question.roles) == (built_in.tenant, built_in.roles)
        decision = Decision(
            id=str(uuid_utils.uuid7()),
            entrypoint="operate",
            revision=self.revision,
            question_digest=hashlib.sha256(msgspec.json.encode(question, order="deterministic")).hexdigest(),
        )
        return Decided(OperateAnswer(allow, () if allow else ("administers",)), decision)

    def explain(self, level: str, check: str) -> PolicyCode:
        """The code of the only check that fails here."""
        del level, check
        return PolicyCode("administration_not_allowed", "Use the credential in operator.key, or start the server.")


def _no_server(_: object) -> NoReturn:
    raise PolicyUnavailable("no_server")


def _os_user() -> str:
    """Whose process this is, as the system says it. LOGNAME could claim anybody."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _registry(settings: Settings, clock: SystemClock, *, needed: bool) -> Snapshot:
    """The registry. One fault in it must not keep anybody from revoking a key."""
    try:
        return load_registry(settings, clock)
    except StartRefused:
        if needed:
            raise
        return NO_REGISTRY


@asynccontextmanager
async def open_administration(settings: Settings, *, needs_registry: bool) -> AsyncIterator[Administration]:
    """The store alone, while no server has it.

    :param needs_registry: whether what will be done names tenants or classes of the registry.
    :raises DirectoryInUse: if a server holds it.
    :raises StartRefused: if the registry is needed and has faults.
    """
    if not store.exists(settings.data_folder):
        raise StartRefused("There is no store in GATEWAY_DATA. Run gateway serve once, or name its data directory.")
    clock, telemetry = SystemClock(), Telemetry()
    snapshot = _registry(settings, clock, needed=needs_registry)
    opened = store.open_store(settings.data_folder, events=telemetry, clock=clock, standing=None, on_fatal=lambda: None)
    try:
        ports = StorePorts(
            ledger=opened.ledger,
            operations=opened.operations,
            accounts=opened.accounts,
            sources=opened.sources,
            keys=opened.keys,
            decisions=opened.decisions,
            profiles=opened.profiles,
            clock=clock,
        )
        in_force = InForce(Active(snapshot, NoPolicy()), telemetry)
        services = assemble_admin(ports, in_force, os_user=_os_user())
        token = operator_token(settings.data_folder)
        try:
            await services.credentials.ensure_operator(token)
        except (LedgerUnavailable, LedgerUncertain):
            raise StartRefused(
                "The store cannot be written. Make room on the disk of GATEWAY_DATA, or mend it, and try again."
            ) from None
        yield Administration(services, telemetry, token)
    finally:
        opened.close()
