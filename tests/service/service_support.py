"""The services over fakes of every port. Each call of a port is written down, and may be made to go otherwise."""

import asyncio
import hashlib
import inspect
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from contract.ledger_ends import ManualClock
from msgspec.structs import replace

from gateway.domain.message import UserMessage
from gateway.domain.operation import Attempt, Operation, State
from gateway.domain.principal import BUILT_IN_OPERATOR, OPERATOR, SYSTEM_TENANT, Caller, credential_hash
from gateway.domain.profile import Profile
from gateway.domain.refusal import Answer, Refusal
from gateway.domain.request import Request, SourceRef
from gateway.domain.snapshot import Snapshot
from gateway.domain.source import GrantSource, Source, SourceAct
from gateway.ports.events import Event
from gateway.ports.ledger import RefusalRecord
from gateway.ports.reads import Key
from gateway.service.active import Active, InForce
from gateway.service.assembly import Ports, assemble
from gateway.service.path import Arrival, Asked, Session
from gateway.service.readiness import ReadinessBoard
from gateway.service.standing import ProcessStanding
from gateway.testkit.doors.service import load
from gateway.testkit.fakes.ledger import FakeStore
from gateway.testkit.fakes.policy import ScriptedPolicy
from gateway.testkit.fakes.revisions import FakeRevisions
from gateway.testkit.fakes.transport import FakeCounter, FakeProbe, FakeTransport
from gateway.testkit.registry_copy import EXAMPLE

PROFILE = "smollm2-135m"
BUNDLE = "chat@1"
ASKED = Request(model="chat", messages=(UserMessage("Is it?"),))
HANDBOOK = SourceRef("handbook", "r1")
CITING = replace(ASKED, sources=(HANDBOOK,))

Step = Callable[[], object]


@cache
def example() -> Snapshot:
    """The registry of the repository, with one profile in the bundle: a scripted policy leaves none out."""
    snapshot = load(EXAMPLE)
    bundle = snapshot.bundles[BUNDLE]
    members = tuple(member for member in bundle.profiles if member.id == PROFILE)
    return replace(snapshot, bundles={**snapshot.bundles, BUNDLE: replace(bundle, profiles=members)})


def with_another_profile(snapshot: Snapshot, **changes: Any) -> Snapshot:
    """The same registry, whose bundle has a second profile, "another"."""
    another = replace(snapshot.profiles[PROFILE], id="another", **changes)
    bundle = snapshot.bundles[BUNDLE]
    members = (*bundle.profiles, replace(bundle.profiles[0], id="another"))
    return replace(
        snapshot,
        profiles={**snapshot.profiles, "another": another},
        profile_digests={**snapshot.profile_digests, "another": "sha256:another"},
        bundles={**snapshot.bundles, BUNDLE: replace(bundle, profiles=members)},
    )


def token(who: str) -> str:
    return f"gw_{who}"


ADMINISTRATOR = Caller(BUILT_IN_OPERATOR, credential_hash(token(OPERATOR)))


def handbook(**changes: Any) -> GrantSource:
    """The source that CITING cites."""
    grant = GrantSource(
        id=HANDBOOK.id,
        revision=HANDBOOK.revision,
        tenant="acme",
        groups=("staff",),
        privacy_class="internal",
        released_s=0,
        as_of_s=0,
    )
    return replace(grant, **changes)


class Recorded:
    """Events that were emitted."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)


class Watched:
    """A port whose calls are written down as "ledger.claim", before they happen."""

    def __init__(self, port: Any, name: str, notebook: "Notebook") -> None:
        self._port = port
        self._name = name
        self._notebook = notebook

    def __getattr__(self, method: str) -> Any:
        called = getattr(self._port, method)
        if not inspect.iscoroutinefunction(called):
            return called
        name = f"{self._name}.{method}"

        async def call(*args: Any, **kwargs: Any) -> Any:
            self._notebook.calls.append(name)
            if (step := self._notebook.next_step(name)) is not None:
                instead = step()
                if inspect.isawaitable(instead):
                    instead = await instead
                if instead is not None:
                    return instead
            return await called(*args, **kwargs)

        return call


class Notebook:
    """Calls of ports in their order, and what tests do when one comes."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._always: dict[str, Step] = {}
        self._once: dict[str, Step] = {}

    def at(self, name: str, step: Step) -> None:
        """Before every such call. What the step returns or raises takes the place of the call; None: it goes on."""
        self._always[name] = step

    def once(self, name: str, step: Step) -> None:
        """The same, before the next such call alone."""
        self._once[name] = step

    def next_step(self, name: str) -> Step | None:
        return self._once.pop(name, None) or self._always.get(name)


def breaking(error: Exception) -> Step:
    def step() -> None:
        raise error

    return step


class Surroundings:
    """One gateway without HTTP, OPA, SQLite or an engine, on a clock that stands still until it is moved."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self.snapshot = snapshot or example()
        self.clock = ManualClock()
        self.events = Recorded()
        self.notebook = Notebook()
        self.policy = ScriptedPolicy(self.snapshot)
        self.in_force = InForce(Active(self.snapshot, self.watched(self.policy, "policy")), self.events)
        self.board = ReadinessBoard(self.clock)
        self.standing = ProcessStanding(self.in_force, self.board)
        self.store = FakeStore(clock=self.clock, standing=self.standing)
        self.rows = self.store.rows
        self.transport = FakeTransport(self.clock)
        self.probe = FakeProbe()
        self.counter = FakeCounter()
        self.revisions = FakeRevisions(self.snapshot)
        ports = Ports(
            ledger=self.watched(self.store.ledger, "ledger"),
            operations=self.watched(self.store.operations, "operations"),
            accounts=self.watched(self.store.accounts, "accounts"),
            sources=self.watched(self.store.sources, "sources"),
            keys=self.watched(self.store.keys, "keys"),
            decisions=self.watched(self.store.decisions, "decisions"),
            profiles=self.watched(self.store.profiles, "profiles"),
            transport=self.watched(self.transport, "transport"),
            probe=self.watched(self.probe, "probe"),
            counter=self.watched(self.counter, "counter"),
            revisions=self.watched(self.revisions, "revisions"),
            clock=self.clock,
            events=self.events,
        )
        self.services = assemble(ports, self.in_force, self.board)
        for who in ("assistant", "reporter", OPERATOR):
            tenant = SYSTEM_TENANT if who == BUILT_IN_OPERATOR.id else "acme"
            self.put_key(who, tenant=tenant)
        asyncio.run(self.services.watch.look())
        # The canary has answered, and its operation is no test's business but test_service_canary's.
        self.rows.forget_operations()
        self.calls.clear()
        self.events.events.clear()

    def watched(self, port: Any, name: str) -> Any:
        return Watched(port, name, self.notebook)

    @property
    def calls(self) -> list[str]:
        return self.notebook.calls

    def called(self, name: str) -> int:
        return self.calls.count(name)

    # Asking

    def ask(self, request: Request = ASKED, **how: Any) -> Answer | Refusal:
        return asyncio.run(self.asking(request, **how))

    async def asking(
        self, request: Request = ASKED, *, key: str = "k-1", who: str | None = "assistant"
    ) -> Answer | Refusal:
        asked = Asked(hashlib.sha256(key.encode()).digest(), request)

        async def read() -> Asked | Refusal:
            self.calls.append("body.read")
            return asked

        return await self.arriving(read, None if who is None else token(who))

    async def arriving(
        self, read: Callable[[], Awaitable[Asked | Refusal]], credential: str | None
    ) -> Answer | Refusal:
        return await self.services.running.own(self.services.pipeline.run(Arrival(credential, read)))

    def answered(self, request: Request = ASKED, **how: Any) -> Answer:
        end = self.ask(request, **how)
        assert isinstance(end, Answer), end
        return end

    def refused(self, request: Request = ASKED, **how: Any) -> Refusal:
        end = self.ask(request, **how)
        assert isinstance(end, Refusal), end
        return end

    def session(self, who: str = "assistant") -> Session:
        session = asyncio.run(self.services.admin.authenticate(token(who)))
        assert isinstance(session, Session), session
        return session

    # What is stored

    def put_key(self, who: str, *, tenant: str = "acme", active: bool = True) -> None:
        key = Key(id=who, tenant=tenant, principal=who, active=active, created_us=self.clock.us, label="")
        self.rows.keys[credential_hash(token(who))] = key

    def put_source(self, **changes: Any) -> None:
        asyncio.run(self.change_source(handbook(**changes)))

    async def change_source(self, act: SourceAct) -> None:
        """As an administrator does it, also in the middle of a request."""
        done = await self.store.sources.change(act, actor=ADMINISTRATOR, os_user=None)
        assert isinstance(done, Source), done

    @property
    def operation(self) -> Operation:
        """The one operation."""
        (operation_id,) = self._asked_for
        operation = asyncio.run(self.store.operations.get(operation_id))
        assert operation is not None
        return operation

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts of the one operation."""
        (operation_id,) = self._asked_for
        return self.rows.attempts[operation_id]

    @property
    def _asked_for(self) -> list[str]:
        """Operations of tenants, so none of a canary."""
        return [id_ for id_, row in self.rows.operations.items() if row.identity.tenant != SYSTEM_TENANT]

    def put_state(self, state: State, **changes: Any) -> None:
        """The last attempt as if something else had moved it."""
        self.rows.put(replace(self.attempts[-1], state=state, **changes))

    @property
    def refusals(self) -> list[RefusalRecord]:
        """Rows of the audit about refusals."""
        return [row for row in self.rows.audit if isinstance(row, RefusalRecord)]

    # What is in force

    def put_in_force(self, **changes: Any) -> ScriptedPolicy:
        """Another registry with a policy of its own, as after a reload."""
        self.snapshot = replace(self.snapshot, **({"digest": "sha256:later"} | changes))
        policy = ScriptedPolicy(self.snapshot, self.snapshot.digest)
        self.in_force.swap(Active(self.snapshot, self.watched(policy, "policy")))
        return policy

    @property
    def profile(self) -> Profile:
        return self.snapshot.profiles[PROFILE]
