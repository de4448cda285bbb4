"""Lists of operations, and of the holds that are stranded."""

import asyncio
import hashlib

import pytest
from contract.ledger_ends import (
    NOW_US,
    Ends,
    WithEnds,
    a_key,
    an_act,
    dispatched,
    granted,
    key_hash,
    left_unknown,
    outcome,
)

from gateway.domain.budget import Scope
from gateway.domain.operation import Identity, State
from gateway.ports.ledger import Claim
from gateway.ports.reads import LONGEST_PAGE, InUse, OperationFilter, StrandedHold


async def some_of_each(ends: Ends) -> dict[str, Claim]:
    """Operations that differ in what can be searched for."""
    credential = hashlib.sha256(b"of another tenant").digest()
    await ends.keys.create(a_key("key-2", tenant="umbrella", principal="mailer"), credential, actor=None)
    other = {"identity": Identity("umbrella", "mailer", key_hash("other")), "credential_hash": credential}
    made = {
        "granted": await granted(ends, "granted"),
        "unknown": await left_unknown(ends, "unknown"),
        "elsewhere": await granted(ends, "elsewhere", profile="large"),
        "other": await left_unknown(ends, "other", **other),
        "completed": await dispatched(ends, "completed"),
        "again": await dispatched(ends, "again"),
    }
    await ends.ledger.settle(outcome(made["completed"].dispatch_id, State.COMPLETED))
    await ends.ledger.settle(outcome(made["again"].dispatch_id, State.NO_EFFECT))
    made["again"] = await granted(ends, "again", profile="large")
    return made


class SearchContract(WithEnds):
    """Searches."""

    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            ({}, {"granted", "unknown", "elsewhere", "other", "completed", "again"}),
            ({"states": (State.UNKNOWN,)}, {"unknown", "other"}),
            ({"states": (State.COMPLETED,)}, {"completed"}),
            ({"states": (State.GRANTED, State.UNKNOWN)}, {"granted", "unknown", "elsewhere", "other", "again"}),
            ({"states": (State.NO_EFFECT,)}, set()),
            ({"tenant": "umbrella"}, {"other"}),
            ({"profile": "large"}, {"elsewhere", "again"}),
            ({"states": (State.UNKNOWN,), "tenant": "acme", "profile": "small"}, {"unknown"}),
            ({"tenant": "nobody"}, set()),
        ],
    )
    def test_operations_are_found_by_their_last_attempt(self, wanted: dict[str, object], expected: set[str]) -> None:
        async def use(ends: Ends) -> None:
            made = await some_of_each(ends)
            found = await ends.operations.search(OperationFilter(**wanted))
            assert {one.id for one in found} == {made[name].operation_id for name in expected}
            for one in found:
                assert one == await ends.operations.get(one.id)

        self._with_ends(use)

    @pytest.mark.parametrize("states", [(), (State.GRANTED, State.UNKNOWN)])
    def test_pages_follow_each_other_newest_first_and_leave_nothing_out(self, states: tuple[State, ...]) -> None:
        async def use(ends: Ends) -> None:
            for n in range(7):
                await (granted if n % 2 else left_unknown)(ends, str(n))
            pages: list[list[str]] = []
            before = None
            while not pages or pages[-1]:
                wanted = OperationFilter(states=states, before=before, limit=3)
                pages.append([one.id for one in await ends.operations.search(wanted)])
                before = pages[-1][-1] if pages[-1] else None
            assert [len(page) for page in pages] == [3, 3, 1, 0]
            ids = [operation_id for page in pages for operation_id in page]
            assert ids == sorted(ids, reverse=True)
            assert len(set(ids)) == 7

        self._with_ends(use)

    def test_a_page_has_its_bound(self) -> None:
        async def use(ends: Ends) -> None:
            await asyncio.gather(*(granted(ends, str(n)) for n in range(LONGEST_PAGE + 1)))
            for limit, given in ((10 * LONGEST_PAGE, LONGEST_PAGE), (0, 0), (-1, 0)):
                assert len(await ends.operations.search(OperationFilter(limit=limit))) == given

        self._with_ends(use)

    def test_holds_of_unknowns_are_stranded_oldest_first(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.accounts.stranded() == ()
            old = await left_unknown(ends, "old")
            ends.clock.us += 7
            young = await left_unknown(ends, "young")
            await dispatched(ends, "running")
            await ends.ledger.act(an_act(young, "free_slot"))
            assert await ends.accounts.stranded() == tuple(
                StrandedHold(
                    operation_id=claim.operation_id,
                    attempt=1,
                    scope=scope,
                    tokens=400,
                    slot_held=claim is old,
                    since_us=since_us,
                )
                for claim, since_us in ((old, NOW_US), (young, NOW_US + 7))
                for scope in (Scope("profile", "small"), Scope("quota_scope", "engine"), Scope("tenant", "acme"))
            )

        self._with_ends(use)

    def test_what_open_operations_count_against_is_in_use(self) -> None:
        async def use(ends: Ends) -> None:
            none: frozenset[str] = frozenset()
            nothing = InUse(tenants=none, principals=frozenset(), profiles=none, quota_scopes=none)
            assert await ends.accounts.in_use() == nothing
            made = await some_of_each(ends)
            everything = InUse(
                tenants=frozenset({"acme", "umbrella"}),
                principals=frozenset({("acme", "reports"), ("umbrella", "mailer")}),
                profiles=frozenset({"small", "large"}),
                quota_scopes=frozenset({"engine"}),
            )
            assert await ends.accounts.in_use() == everything
            await ends.ledger.act(an_act(made["other"], "free_slot"))
            assert await ends.accounts.in_use() == everything
            await ends.ledger.act(an_act(made["other"], "write_off"))
            assert (await ends.accounts.in_use()).principals == {("acme", "reports")}
            for name in ("granted", "elsewhere", "again"):
                await ends.ledger.release(made[name].dispatch_id)
            left = await ends.accounts.in_use()
            assert (left.tenants, left.profiles, left.quota_scopes) == ({"acme"}, {"small"}, {"engine"})
            await ends.ledger.act(an_act(made["unknown"], "write_off"))
            assert await ends.accounts.in_use() == nothing

        self._with_ends(use)

    @pytest.mark.parametrize("state", [State.GRANTED, State.DISPATCHING, State.UNKNOWN])
    def test_an_open_attempt_alone_keeps_its_ids_in_use(self, state: State) -> None:
        async def use(ends: Ends) -> None:
            begin = {State.GRANTED: granted, State.DISPATCHING: dispatched, State.UNKNOWN: left_unknown}[state]
            await begin(ends)
            assert await ends.accounts.in_use() == InUse(
                tenants=frozenset({"acme"}),
                principals=frozenset({("acme", "reports")}),
                profiles=frozenset({"small"}),
                quota_scopes=frozenset({"engine"}),
            )

        self._with_ends(use)

    def test_a_ledger_in_order_has_nothing_to_say(self) -> None:
        async def use(ends: Ends) -> None:
            await some_of_each(ends)
            assert await ends.accounts.verify() == ()

        self._with_ends(use)
