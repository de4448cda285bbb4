"""The service door: the real use cases over fakes of every port, without HTTP, OPA, SQLite or an engine."""

import asyncio
import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from adapters import registry
from adapters.clock import SystemClock
from adapters.telemetry import Telemetry
from adapters.tokens import LocalCounter
from gateway.domain.completion import Completion
from gateway.domain.message import UserMessage
from gateway.domain.operation import HOLDING, Attempt
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.principal import BUILT_IN_OPERATOR, OPERATOR, SYSTEM_TENANT, Caller, credential_hash
from gateway.domain.profile import Profile
from gateway.domain.profile_state import ProfileActKind, Shortfall
from gateway.domain.questions import Failed
from gateway.domain.reconciliation import ActKind
from gateway.domain.refusal import Answer, Refusal
from gateway.domain.request import Request, SourceRef
from gateway.domain.snapshot import Snapshot
from gateway.domain.source import Source, SourceAct
from gateway.domain.tools import CalledFunction, ToolCall
from gateway.domain.usage import Usage
from gateway.ports.reads import Key
from gateway.ports.transport import Readiness
from gateway.service.active import Active, InForce
from gateway.service.assembly import Ports, assemble
from gateway.service.inspect import view
from gateway.service.lifecycle import ProfileView
from gateway.service.path import Arrival, Asked, Session
from gateway.service.readiness import ReadinessBoard
from gateway.service.standing import ProcessStanding
from gateway.testkit.doors.registry_edits import BUDGETS, EDITS, SURFACE
from gateway.testkit.fakes.clock import MovedClock
from gateway.testkit.fakes.ledger import FakeStore
from gateway.testkit.fakes.policy import ScriptedPolicy
from gateway.testkit.fakes.revisions import FakeRevisions
from gateway.testkit.fakes.transport import FakeProbe, FakeTransport
from gateway.testkit.faulty import FaultyLedger
from gateway.testkit.loops import LoopThread, until
from gateway.testkit.registry_copy import Edit, copy_registry, slots
from gateway.testkit.world import Ask, Reply

PROFILE = "smollm2-135m"
SLOTS = 64
"""Calls that the profile allows at once, where a scenario says nothing of it."""
ACCOUNTS = {
    "assistant": ("acme", "assistant"),
    "reporter": ("acme", "reporter"),
    "tenant-a/advisor": ("tenant-a", "advisor"),
    OPERATOR: (BUILT_IN_OPERATOR.tenant, BUILT_IN_OPERATOR.id),
}
"""Tenant and service account of those who ask, by their names in a scenario."""
BEHAVIOURS: dict[str, Outcome] = {
    "refuse_connections": NoEffect("connect_refused"),
    "busy": NoEffect("busy"),
    "reject": NoEffect("rejected"),
    "drop": Unknown("connection_lost"),
    "time_out": Unknown("timeout_after_send"),
}
USED = Usage(input=20, output=3)
FIELDS = {field.name: field.type for field in msgspec.structs.fields(Request)}
WAIT_S = 10.0
WAIT_FOR_LEDGER_S = 0.2


class ServiceWorld:
    """The services of one gateway. Everything runs on one loop, as in the server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._edits: list[Edit] = [*slots(SLOTS)]
        self._loop = LoopThread("services")
        self._loop.call(self._open())

    def _load(self) -> Snapshot:
        return load(copy_registry(Path(tempfile.mkdtemp(dir=self._folder)), self._edits))

    async def _put_in_force(self) -> Active:
        """The registry and the policy that the world starts with."""
        snapshot = self._load()
        self._policy = ScriptedPolicy(snapshot)
        return Active(snapshot, self._policy)

    async def _open(self) -> None:
        clock = self._clock = MovedClock(SystemClock())
        events = Telemetry()
        self._in_force = InForce(await self._put_in_force(), events)
        board = ReadinessBoard(clock)
        self._store = FakeStore(clock=clock, standing=ProcessStanding(self._in_force, board))
        self._ledger = FaultyLedger(self._store.ledger)
        self._transport = FakeTransport(clock)
        self._probe = FakeProbe()
        for other in self._in_force.active.snapshot.profiles.keys() - {PROFILE}:
            self._probe.told[other] = Readiness("unready", "unreachable")  # one engine, as behind every door
        ports = Ports(
            ledger=self._ledger,
            operations=self._store.operations,
            accounts=self._store.accounts,
            sources=self._store.sources,
            keys=self._store.keys,
            decisions=self._store.decisions,
            profiles=self._store.profiles,
            transport=self._transport,
            probe=self._probe,
            counter=LocalCounter(),
            revisions=FakeRevisions(self._in_force.active.snapshot),
            clock=clock,
            events=events,
        )
        self._services = assemble(ports, self._in_force, board)
        self._services.settling.answer_within_s = WAIT_FOR_LEDGER_S
        for who, (tenant, account) in ACCOUNTS.items():
            key = Key(id=who, tenant=tenant, principal=account, active=True, created_us=clock.now_us(), label="")
            await self._store.keys.create(key, credential_hash(_token(who)), actor=None)
        await self._services.watch.look()

    def month_turns(self) -> None:
        """The wall clock shows the first second of the next month; the boot-time clock has not moved."""
        self._clock.to_next_month()

    # Asking

    def ask(self, ask: Ask) -> Reply:
        return self._loop.call(self._ask(ask))

    def ask_at_once(self, asks: list[Ask]) -> list[Reply]:
        async def all_of_them() -> list[Reply]:
            return list(await asyncio.gather(*(self._ask(ask) for ask in asks)))

        return self._loop.call(all_of_them())

    def start_asking(self, ask: Ask) -> None:
        self._waiting = self._loop.start(self._ask(ask))
        until(lambda: len(self._transport.received) == 1, "the engine received no call")

    def finish_asking(self) -> Reply:
        self._loop.run(self._transport.let_go)
        return self._waiting.result(WAIT_S)

    def act(self, kind: ActKind, operation_id: str, words: str, used: Usage | None = None) -> dict[str, Any] | Reply:
        async def act() -> dict[str, Any] | Reply:
            admin = self._services.admin
            permit = await admin.administer(await self._session(OPERATOR), "operations", "change")
            if isinstance(permit, Refusal):
                return _refused(permit)
            done = await admin.operators.act(permit, kind, operation_id, words, used)
            return _refused(done) if isinstance(done, Refusal) else view(done)

        return self._loop.call(act())

    def timeline(self, operation_id: str) -> list[str]:
        entries = self._loop.call(self._store.operations.timeline(operation_id))
        return [entry.event for entry in entries]

    def take_for_dead(self) -> None:
        self._loop.call(self._store.ledger.sweep(frozenset, earlier_incarnations=False))

    def restart(self) -> None:
        self._store.restart()

    async def _session(self, who: str) -> Session:
        session = await self._services.admin.authenticate(_token(who))
        assert not isinstance(session, Refusal)
        return session

    async def _ask(self, ask: Ask) -> Reply:
        asked = Asked(hashlib.sha256((ask.key or "").encode()).digest(), _request(ask))

        async def read() -> Asked | Refusal:
            return asked

        end = await self._services.running.own(self._services.pipeline.run(Arrival(_token(ask.who), read)))
        return _refused(end) if isinstance(end, Refusal) else _answered(end)

    def look_at(self, operation_id: str, who: str = "assistant") -> dict[str, Any] | Reply:
        async def look() -> dict[str, Any] | Reply:
            session = await self._session(who)
            found = await self._services.admin.inspect(session, operation_id)
            return _refused(found) if isinstance(found, Refusal) else view(found)

        return self._loop.call(look())

    # The engine

    def engine_answers(self, text: str) -> None:
        self._text = text
        self._always(Completed(Completion("smollm2-135m@q4_1", text, "stop", USED)))

    def engine_calls_function(self, name: str, arguments: str) -> None:
        call = ToolCall(id="call_1", function=CalledFunction(name, arguments))
        self._always(Completed(Completion("smollm2-135m@q4_1", None, "tool_calls", USED, (call,))))

    def engine_says_it_used(self, tokens: tuple[int, int] | None) -> None:
        usage = None if tokens is None else Usage(*tokens)
        self._always(Completed(Completion("smollm2-135m@q4_1", self._text, "stop", usage)))

    def engine_does(self, behaviour: str) -> None:
        if behaviour in ("slow", "hang"):
            self._loop.run(self._transport.hold)
        else:
            self._always(BEHAVIOURS[behaviour])

    def engine_answers_as(self, model: str) -> None:  # noqa: ARG002 - the transport judges names, and this is its verdict
        self._always(Charged("other_model", USED))

    def _always(self, outcome: Outcome) -> None:
        self._loop.run(lambda: self._transport.default(outcome))

    def engine_shows_other_weights(self) -> None:
        self._probe.told[PROFILE] = Readiness("mismatch", "other_model_file")
        self._loop.run(lambda: self._services.board.note(self._profile(), Readiness("mismatch", "other_model_file")))

    def _profile(self) -> Profile:
        return self._in_force.active.snapshot.profiles[PROFILE]

    def engine_loads(self) -> None:
        raise NotImplementedError("shown over HTTP, where an engine is looked at again and again")

    def engine_has_room_for(self, sequences: int) -> None:
        async def look() -> None:
            short = Shortfall(SLOTS, sequences)
            self._probe.told[PROFILE] = Readiness("mismatch", "too_few_slots", shortfall=short)
            self._services.board.doubt(PROFILE)
            await self._services.watch.look()

        self._loop.call(look())

    def act_on_profile(self, act: ProfileActKind, profile: str | None = None) -> Reply | None:
        async def ask() -> Reply | None:
            admin = self._services.admin
            permit = await admin.administer(await self._session(OPERATOR), "profiles", "change")
            if isinstance(permit, Refusal):
                return _refused(permit)
            done = await admin.lifecycle.act(permit, act, profile or PROFILE, "a scenario says so")
            if isinstance(done, Refusal):
                return _refused(done)
            await self._services.watch.look()
            return None

        return self._loop.call(ask())

    def profile_state(self) -> str:
        return self._profile_view().state

    def quarantine_shortfall(self) -> tuple[int, int]:
        (mark,) = (mark for mark in self._profile_view().marks if mark.kind == "quarantined")
        assert mark.shortfall is not None
        return mark.shortfall.promised, mark.shortfall.reported

    def seen_engine_state(self) -> str:
        return self._profile_view().readiness.state

    def _profile_view(self) -> ProfileView:
        async def look() -> ProfileView:
            admin = self._services.admin
            permit = await admin.administer(await self._session(OPERATOR), "profiles", "read")
            assert not isinstance(permit, Refusal)
            (view,) = (one for one in await admin.lifecycle.all(permit) if one.profile.id == PROFILE)
            return view

        return self._loop.call(look())

    def engine_lost_after_reservation(self) -> None:
        def lose() -> None:
            self._services.board.note(self._profile(), Readiness("unready", "unreachable"))

        self._ledger.before_dispatch = lose

    def engine_calls(self) -> list[dict[str, Any]]:
        return [
            {"max_tokens": dispatch.output_cap, "messages": msgspec.to_builtins(dispatch.request.messages)}
            for dispatch in self._transport.received
        ]

    # Policy, registry, ledger

    def policy_goes_away(self) -> None:
        self._another_policy(self._policy.revision).away = "timeout"

    def policy_names(self, profile: str) -> None:
        self._another_policy(self._policy.revision).routes_override = (profile,)

    def change_registry(self, change: str) -> None:
        """What policy then says is OPA's business, and shown over HTTP; here it is scripted."""
        if change == "the tenant may no longer use the purpose":
            self._another_policy("sha256:later").failed = Failed(request=("purpose",), source={})
            return
        assert change in BUDGETS | SURFACE, change
        self._loop.call(self._reload(EDITS[change]))

    async def _reload(self, edits: Iterable[Edit]) -> None:
        """Another registry, under which policy says the same."""
        self._edits.extend(edits)
        snapshot = self._load()
        self._policy = ScriptedPolicy(snapshot, snapshot.digest)
        self._in_force.swap(Active(snapshot, self._policy))
        await self._services.watch.look()

    def _another_policy(self, revision: str) -> ScriptedPolicy:
        """One of which nothing is remembered: a policy itself never changes what it says."""
        snapshot = self._in_force.active.snapshot
        self._policy = ScriptedPolicy(snapshot, revision)
        self._loop.run(lambda: self._in_force.swap(Active(snapshot, self._policy)))
        return self._policy

    def change_source(self, act: SourceAct) -> Reply | None:
        async def change() -> None:
            actor = Caller(BUILT_IN_OPERATOR, credential_hash(_token(OPERATOR)))
            done = await self._store.sources.change(act, actor=actor, os_user=None)
            assert isinstance(done, Source), done

        self._loop.call(change())
        return None

    def ledger_fails(self, transition: str | None) -> None:
        self._ledger.failing = transition

    def held_slots(self) -> int:
        return sum(self._store.rows.budgets.holds[attempt.dispatch_id].slot_held for attempt in self._attempts())

    def held_tokens(self) -> int:
        return sum(
            attempt.reserved_input + attempt.reserved_output for attempt in self._attempts() if attempt.state in HOLDING
        )

    def booked_tokens(self) -> int:
        return sum((attempt.used_input or 0) + (attempt.used_output or 0) for attempt in self._attempts())

    def _attempts(self) -> Iterator[Attempt]:
        """Of tenants: a readiness canary belongs to none."""
        for operation_id, attempts in self._store.rows.attempts.items():
            if self._store.rows.operations[operation_id].identity.tenant != SYSTEM_TENANT:
                yield from attempts

    def close(self) -> None:
        self._loop.run(self._transport.let_go)
        self._loop.call(self._services.running.drain(2.0))
        self._loop.close()


def load(directory: Path) -> Snapshot:
    """A registry without faults, judged now."""
    loaded = registry.load(directory, at_us=SystemClock().now_us())
    assert not isinstance(loaded, tuple), loaded
    return loaded.snapshot


def _token(who: str) -> str:
    return f"gw_{who}"


def _request(ask: Ask) -> Request:
    """The fields of a request bear OpenAI's names, but for the cap."""
    request = Request(
        model=ask.model,
        messages=(UserMessage(ask.question),),
        purpose=ask.purpose,
        sources=tuple(SourceRef(source, ask.revision) for source in ask.sources),
    )
    changes = {"max_output" if name == "max_tokens" else name: value for name, value in ask.changes.items()}
    return msgspec.structs.replace(
        request, **{name: msgspec.convert(value, FIELDS[name]) for name, value in changes.items()}
    )


def _answered(answer: Answer) -> Reply:
    document = msgspec.json.decode(answer.body)
    return Reply(
        text=document["choices"][0]["message"]["content"],
        body=answer.body,
        operation_id=answer.operation_id,
        replayed=answer.replayed,
    )


def _refused(refusal: Refusal) -> Reply:
    return Reply(
        code=refusal.code,
        title=refusal.meaning.sentence,
        operation_id=refusal.operation_id,
        operation_state=refusal.operation_state,
        replayed=refusal.replayed,
        param=refusal.param,
        fields=refusal.fields,
        policy_codes=tuple((code.code, code.source) for code in refusal.policy_codes),
        facts=refusal.facts or {},
        retry_after_s=refusal.retry_after_s,
        may_retry=refusal.meaning.retry if refusal.retry is None else refusal.retry,
    )
