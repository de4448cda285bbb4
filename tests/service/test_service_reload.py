"""A reload takes all of the files or nothing, one after another, and leaves no policy behind."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from service_support import Surroundings, breaking, token

from gateway.domain.errors import LedgerUnavailable
from gateway.domain.fault import Fault
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.ports.events import Faulted, Reloaded
from gateway.ports.ledger import ReloadRecord
from gateway.ports.reads import InUse
from gateway.service.administer import Permit
from gateway.service.path import Session
from gateway.service.reload import DECIDING_S, LastReload, Taken

FAULT = Fault(file="tenants/acme.yaml", line=7, path="/active", sentence="It is not a truth value.", remedy="Mend it.")
BODY_WITHIN_S = 30.0


async def until(true: Callable[[], object]) -> None:
    """Let others run until something is true."""
    async with asyncio.timeout(5):
        while not true():  # noqa: ASYNC110 - the world has no event for it
            await asyncio.sleep(0)


class Files(Surroundings):
    """Surroundings whose files can be edited and reloaded, on one loop."""

    def edit(self, **changes: Any) -> None:
        number = self.called("revisions.prepare")
        self.revisions.snapshot = replace(self.revisions.snapshot, **({"digest": f"sha256:edit {number}"} | changes))

    async def permitted(self) -> Permit:
        session = await self.services.admin.authenticate(token("operator"))
        assert isinstance(session, Session)
        permit = await self.services.admin.administer(session, "registry", "change")
        assert isinstance(permit, Permit)
        return permit

    async def reload(self) -> Taken | Refusal:
        return await self.services.reload(await self.permitted())

    def run(self, story: Callable[[], Awaitable[None]]) -> None:
        async def told() -> None:
            await story()
            await self.services.reload.close()

        asyncio.run(told())


def test_what_the_files_hold_is_in_force_and_what_was_is_told() -> None:
    world = Files()

    async def story() -> None:
        earlier = world.in_force.active
        world.edit()
        taken = await world.reload()
        assert isinstance(taken, Taken)
        assert taken.earlier.snapshot is earlier.snapshot
        assert world.in_force.active.snapshot.digest == "sha256:edit 0"
        assert taken.now is world.in_force.active
        assert taken.now.policy.revision == "sha256:policy of sha256:edit 0"
        assert world.services.reload.last == LastReload(True, world.clock.now_us())
        assert Reloaded(True) in world.events.events

    world.run(story)


def test_faulty_files_change_nothing_and_every_fault_is_told() -> None:
    world = Files()

    async def story() -> None:
        earlier = world.in_force.active
        world.revisions.faults = [FAULT, FAULT]
        refusal = await world.reload()
        assert refusal == Refusal(code=Code.RELOAD_REFUSED, faults=(FAULT, FAULT))
        assert world.in_force.active is earlier
        assert world.services.reload.last == LastReload(False, world.clock.now_us())
        assert Reloaded(False) in world.events.events
        assert isinstance(await world.asking(), Answer)

    world.run(story)


def test_ids_that_the_store_still_needs_are_not_dropped() -> None:
    world = Files()
    used = InUse(tenants=frozenset({"gone"}), principals=frozenset(), profiles=frozenset(), quota_scopes=frozenset())

    async def in_use() -> InUse:
        return used

    async def story() -> None:
        earlier = world.in_force.active
        world.notebook.at("accounts.in_use", in_use)
        refusal = await world.reload()
        assert isinstance(refusal, Refusal)
        assert refusal.code is Code.RELOAD_REFUSED
        (fault,) = refusal.faults
        assert "gone" in fault.file
        assert world.in_force.active is earlier
        assert world.revisions.running == []

    world.run(story)


def test_every_reload_is_on_record_before_whoever_asked_is_told() -> None:
    world = Files()

    async def story() -> None:
        actor = (await world.permitted()).actor("registry", "change")
        world.edit()
        await world.reload()
        world.revisions.faults = [FAULT]
        await world.reload()
        taken, refused = [record for record in world.rows.audit if isinstance(record, ReloadRecord)]
        now = world.in_force.active
        shown = {"registry_digest": now.snapshot.digest, "policy_revision": now.policy.revision}
        assert taken == ReloadRecord(actor=actor, taken=True, **shown)
        assert refused == ReloadRecord(actor=actor, taken=False, **shown)

    world.run(story)


def test_a_reload_that_cannot_be_put_on_record_does_not_stay_in_force() -> None:
    world = Files()

    async def story() -> None:
        earlier = world.in_force.active
        world.edit()
        world.notebook.at("ledger.reloaded", breaking(LedgerUnavailable("full")))
        assert await world.reload() == Refusal(code=Code.LEDGER_UNAVAILABLE)
        assert world.in_force.active.snapshot is earlier.snapshot
        assert world.services.reload.last == LastReload(False, world.clock.now_us())
        assert Reloaded(False) in world.events.events
        assert isinstance(await world.asking(), Answer)

    world.run(story)
    assert world.revisions.running == []


def test_an_operation_that_began_while_the_files_were_read_takes_the_reload_back() -> None:
    world = Files()
    nothing = InUse(tenants=frozenset(), principals=frozenset(), profiles=frozenset(), quota_scopes=frozenset())
    looks = [nothing, replace(nothing, tenants=frozenset({"gone"}))]
    in_force: list[str] = []

    async def in_use() -> InUse:
        in_force.append(world.in_force.active.snapshot.digest)
        return looks.pop(0)

    async def story() -> None:
        earlier = world.in_force.active.snapshot
        world.edit()
        world.notebook.at("accounts.in_use", in_use)
        refusal = await world.reload()
        assert isinstance(refusal, Refusal)
        assert (refusal.code, len(refusal.faults)) == (Code.RELOAD_REFUSED, 1)
        assert in_force == [earlier.digest, "sha256:edit 0"]
        assert world.in_force.active.snapshot is earlier
        assert world.services.reload.last == LastReload(False, world.clock.now_us())
        records = [record for record in world.rows.audit if isinstance(record, ReloadRecord)]
        assert [(record.taken, record.registry_digest) for record in records] == [
            (True, "sha256:edit 0"),
            (False, earlier.digest),
        ]
        assert isinstance(await world.asking(), Answer)

    world.run(story)
    assert world.revisions.running == []


def test_a_store_that_cannot_be_read_leaves_no_policy_behind() -> None:
    world = Files()

    async def story() -> None:
        world.notebook.at("accounts.in_use", breaking(OSError("no disk")))
        with pytest.raises(OSError, match="no disk"):
            await world.reload()
        assert world.revisions.running == []
        assert world.services.reload.last == LastReload(False, world.clock.now_us())

    world.run(story)


def test_a_second_reload_waits_for_the_first_and_reads_the_files_again() -> None:
    world = Files()
    let_go = asyncio.Event()

    async def slow() -> None:
        await let_go.wait()

    async def story() -> None:
        world.notebook.once("revisions.prepare", slow)
        first = asyncio.ensure_future(world.reload())
        second = asyncio.ensure_future(world.reload())
        await until(lambda: world.called("revisions.prepare"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert world.called("revisions.prepare") == 1
        world.edit()
        let_go.set()
        ends = [await first, await second]
        assert all(isinstance(end, Taken) for end in ends)
        assert world.called("revisions.prepare") == 2

    world.run(story)


def test_the_earlier_policy_goes_when_nobody_can_be_pinned_to_it_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Files()
    waits: list[float] = []
    real = asyncio.timeout

    def timeout(seconds: float) -> Any:
        waits.append(seconds)
        return real(0.05)

    async def story() -> None:
        earlier = world.policy
        monkeypatch.setattr(asyncio, "timeout", timeout)
        await world.reload()
        assert world.revisions.retired == []
        assert earlier.away is None
        await asyncio.sleep(0.2)
        assert len(world.revisions.retired) == 1
        assert waits == [BODY_WITHIN_S + DECIDING_S]

    world.run(story)


def test_at_the_end_all_earlier_policies_go_at_once() -> None:
    world = Files()

    async def story() -> None:
        for _ in range(20):
            world.edit()
            assert isinstance(await world.reload(), Taken)
        assert world.revisions.retired == []
        await world.services.reload.close()
        assert len(world.revisions.retired) == 20
        assert len(world.revisions.running) == 1

    world.run(story)


def test_a_policy_that_does_not_end_is_a_fault_and_no_end_of_the_gateway() -> None:
    world = Files()

    async def story() -> None:
        await world.reload()
        world.notebook.at("revisions.retire", breaking(OSError("it hangs")))
        await world.services.reload.close()
        assert Faulted("reload.retire", "OSError") in world.events.events

    world.run(story)


def test_a_reload_ends_although_its_caller_goes_away() -> None:
    world = Files()
    let_go = asyncio.Event()

    async def slow() -> None:
        await let_go.wait()

    async def story() -> None:
        world.edit()
        world.notebook.once("revisions.prepare", slow)
        caller = asyncio.ensure_future(world.reload())
        await until(lambda: world.called("revisions.prepare"))
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        let_go.set()
        await until(lambda: world.services.reload.last)
        assert world.in_force.active.snapshot.digest == "sha256:edit 0"

    world.run(story)


def test_while_the_gateway_ends_nothing_is_reloaded() -> None:
    world = Files()
    never = asyncio.Event()

    async def hang() -> None:
        await never.wait()

    async def story() -> None:
        world.notebook.once("revisions.prepare", hang)
        reloading = asyncio.ensure_future(world.reload())
        await until(lambda: world.called("revisions.prepare"))
        await world.services.running.drain(1.0)
        assert await reloading == Refusal(code=Code.DRAINING)
        assert await world.reload() == Refusal(code=Code.DRAINING)
        assert world.called("revisions.prepare") == 1

    world.run(story)


def test_a_request_in_flight_keeps_its_pair_and_is_decided_again_if_it_comes_too_late() -> None:
    world = Files()

    async def reloading() -> None:
        world.edit()
        assert isinstance(await world.reload(), Taken)

    async def story() -> None:
        world.notebook.once("ledger.claim", reloading)
        answer = await world.asking()
        assert isinstance(answer, Answer)
        assert world.called("ledger.claim") == 2
        assert answer.policy_revision == world.in_force.active.policy.revision

    world.run(story)


def test_rules_alone_are_reason_enough_to_decide_again() -> None:
    """The registry stays the same; only the policies were edited."""
    world = Files()

    async def reloading() -> None:
        assert isinstance(await world.reload(), Taken)

    async def story() -> None:
        world.notebook.once("ledger.claim", reloading)
        answer = await world.asking()
        assert isinstance(answer, Answer)
        assert world.called("ledger.claim") == 2
        assert answer.policy_revision == world.in_force.active.policy.revision

    world.run(story)
