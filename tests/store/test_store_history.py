"""Random histories: the real ledger answers as the plain one in memory, and stays in order at every step."""

import asyncio
from typing import Any

from contract.ledger_ends import (
    CALLER,
    OPERATOR,
    a_claim,
    a_disclosure,
    decision,
    key_hash,
    outcome,
    put_keys,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from store_support import StoreEnds, store_ends

from gateway.domain.budget import Reservation
from gateway.domain.errors import IllegalMove
from gateway.domain.operation import Identity, State
from gateway.domain.reconciliation import Act, ActKind
from gateway.domain.usage import Usage
from gateway.ports.ledger import RefusalRecord
from gateway.ports.reads import OperationFilter, OutcomeFilter
from gateway.testkit.fakes.ledger import FakeStore

KEYS = ["a", "b", "c"]
ACTS: list[ActKind] = ["write_off", "no_effect", "charged", "free_slot"]
OUTCOMES = [State.COMPLETED, State.CHARGED, State.NO_EFFECT, State.UNKNOWN]

_claim = st.tuples(st.just("claim"), st.sampled_from(KEYS), st.integers(0, 500))
_on_attempt = st.one_of(
    st.tuples(st.sampled_from(["dispatch", "release"]), st.integers(0, 9)),
    st.tuples(st.just("settle"), st.integers(0, 9), st.sampled_from(OUTCOMES), st.integers(1, 400)),
)
_on_operation = st.one_of(
    st.tuples(st.just("act"), st.sampled_from(KEYS), st.sampled_from(ACTS), st.integers(1, 400)),
    st.tuples(st.sampled_from(["disclose", "refuse"]), st.sampled_from(KEYS)),
)
_around = st.one_of(
    st.tuples(st.just("sweep"), st.sets(st.integers(0, 9)), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([1, 5_000_001, 61_000_000, 90_000_000_000, -120_000_000])),
    st.tuples(st.just("restart")),
)
_step = st.one_of(_claim, _on_attempt, _on_attempt, _on_operation, _around)


class Histories:
    """Runs each step on both ledgers."""

    def __init__(self, ends: StoreEnds) -> None:
        self.real = ends
        self.plain = FakeStore(clock=ends.clock, standing=ends.standing)
        self.sent: list[tuple[str, Reservation]] = []

    async def begin(self) -> None:
        for store in (self.real, self.plain):
            await put_keys(store)

    async def step(self, kind: str, *arguments: Any) -> None:
        match kind:
            case "wait":
                self.real.clock.us += arguments[0]
            case "restart":
                self.real.restart()
                self.plain.restart()
            case "claim":
                key, tokens = arguments
                claim = a_claim(key, reserved=Reservation(tokens, 100))
                await self.both(lambda ledger: ledger.claim(claim))
                self.sent.append((claim.dispatch_id, claim.reserved))
            case "sweep":
                alive = frozenset(self.attempt(n)[0] for n in arguments[0])
                await self.both(lambda ledger: ledger.sweep(lambda: alive, earlier_incarnations=arguments[1]))
            case "settle":
                dispatch_id, reserved = self.attempt(arguments[0])
                await self.both(lambda ledger: ledger.settle(self.outcome(dispatch_id, reserved, *arguments[1:])))
            case "act":
                act = await self.act(*arguments)
                await self.both(lambda ledger: ledger.act(act))
            case "disclose":
                disclosure = a_disclosure(operation_id=await self.operation_id(arguments[0]))
                await self.both(lambda ledger: ledger.disclose(disclosure))
            case "refuse":
                record = RefusalRecord(
                    caller=CALLER,
                    code="a_code",
                    policy_codes=("a_check",),
                    operation_id=await self.operation_id(arguments[0]),
                    decisions=(decision("replay"),),
                )
                await self.both(lambda ledger: ledger.refuse(record))
            case _:
                dispatch_id, _ = self.attempt(arguments[0])
                await self.both(lambda ledger: getattr(ledger, kind)(dispatch_id))

    def attempt(self, n: int) -> tuple[str, Reservation]:
        return self.sent[-1 - n % len(self.sent)] if self.sent else ("nothing", Reservation(0, 0))

    def outcome(self, dispatch_id: str, reserved: Reservation, state: State, output: int) -> Any:
        settle = outcome(dispatch_id, state, used=Usage(reserved.input, output))
        debt = max(0, reserved.input + output - reserved.tokens) if settle.settlement.used else 0
        return replace(settle, settlement=replace(settle.settlement, debt_tokens=debt))

    async def operation_id(self, key: str) -> str:
        found = await self.real.operations.find(Identity("acme", "reports", key_hash(key)))
        return found.id if found else "nothing"

    async def act(self, key: str, kind: ActKind, output: int) -> Act:
        return Act(
            kind=kind,
            operation_id=await self.operation_id(key),
            actor=OPERATOR,
            os_user=None,
            words="found it so",
            used=Usage(100, output) if kind == "charged" else None,
        )

    async def both(self, act: Any) -> None:
        answers = [await _outcome_of(act(store.ledger)) for store in (self.real, self.plain)]
        assert _unordered(answers[0]) == _unordered(answers[1])

    async def compare(self) -> None:
        for key in KEYS:
            identity = Identity("acme", "reports", key_hash(key))
            real, plain = await self.real.operations.find(identity), await self.plain.operations.find(identity)
            assert real == plain
            if real is not None:
                assert await self.real.operations.result(real.id) == await self.plain.operations.result(real.id)
        assert self.real.store.verify() == []

    async def compare_lists(self) -> None:
        for wanted in (
            OperationFilter(),
            OperationFilter(states=(State.UNKNOWN, State.CLOSED)),
            OperationFilter(limit=1),
        ):
            found = await self.real.operations.search(wanted)
            assert found == await self.plain.operations.search(wanted)
            for one in found:
                assert await self.real.operations.timeline(one.id) == await self.plain.operations.timeline(one.id)
        assert await self.real.accounts.stranded() == await self.plain.accounts.stranded()
        assert await self.real.accounts.in_use() == await self.plain.accounts.in_use()
        for counted in (OutcomeFilter(since_us=0), OutcomeFilter(since_us=0, tenant="acme", profile="small")):
            assert await self.real.accounts.outcomes(counted) == await self.plain.accounts.outcomes(counted)


async def _outcome_of(awaitable: Any) -> Any:
    try:
        return await awaitable
    except IllegalMove:
        return IllegalMove


def _unordered(answer: Any) -> Any:
    """A sweep names attempts in no particular order."""
    return (set(answer.released), set(answer.unknown)) if hasattr(answer, "released") else answer


@settings(max_examples=30, deadline=None)
@given(st.lists(_step, max_size=30))
def test_any_history_is_as_in_the_plain_ledger_and_conserves_what_is_reserved(steps: list[tuple[Any, ...]]) -> None:
    with store_ends() as ends:

        async def run() -> None:
            histories = Histories(ends)
            await histories.begin()
            for step in steps:
                await histories.step(*step)
                await histories.compare()
            await histories.compare_lists()

        asyncio.run(run())


def test_histories_reach_every_state() -> None:
    """The strategy above would prove nothing if it never got anywhere."""
    reached: set[State] = set()
    settled = [("settle", 0, state, 350) for state in OUTCOMES]

    async def run(ends: StoreEnds) -> None:
        histories = Histories(ends)
        await histories.begin()
        for settle in settled:
            for step in (("claim", settle[2].value, 1), ("dispatch", 0), settle):
                await histories.step(*step)
                await histories.compare()
        acted = [("act", "a", kind, 350) for kind in ("free_slot", "write_off")]
        late = [("settle", 0, State.COMPLETED, output) for output in (400, 350, 500)]
        for step in (
            ("claim", "a", 1),
            ("dispatch", 0),
            settled[-1],
            *acted,
            *late,
            ("disclose", "a"),
            ("refuse", "a"),
        ):
            await histories.step(*step)
            await histories.compare()
        for step in (("claim", "b", 1), ("release", 0), ("claim", "c", 1), ("claim", "b", 1), ("dispatch", 0)):
            await histories.step(*step)
        await histories.compare_lists()
        reached.update(State(row[0]) for row in ends.rows("SELECT state FROM attempt"))

    with store_ends() as ends:
        asyncio.run(run(ends))
    assert reached == set(State)
