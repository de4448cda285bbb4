"""Seven bugs that the harness must catch, each put into the ports on purpose. Nothing else in the repository has them.

Where a trigger of the database would stop a bug, it is dropped first: the harness has to see what the trigger hides.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from adapters.store.database import open_readable
from gateway.domain.grant import Dispatch
from gateway.domain.limits import BudgetShort, Ceilings
from gateway.domain.outcome import Outcome
from gateway.ports.ledger import Claim, Claimed, Dispatching, Granted, Ledger, Settle, Settled, Superseded, Swept
from gateway.ports.transport import Transport
from gateway.service.assembly import Ports
from gateway.testkit.faults.connection import FaultyConnection
from gateway.testkit.ports import with_ports

_DROP_GUARD = "DROP TRIGGER IF EXISTS attempt_moves"
_GIVE_BACK_BUDGET = """
    UPDATE budget SET
        held_tokens = held_tokens - h.tokens,
        held_cost = held_cost - h.cost,
        slots_used = slots_used - (h.slot = 'held'),
        slots_stranded = slots_stranded - (h.slot = 'held' AND h.state = 'unknown'),
        minute_requests = minute_requests - (h.minute_us = budget.minute_us),
        minute_tokens = minute_tokens - h.tokens * (h.minute_us = budget.minute_us),
        day_tokens = day_tokens - h.tokens * (h.day_us = budget.day_us),
        month_tokens = month_tokens - h.tokens * (h.month_us = budget.month_us),
        month_cost = month_cost - h.cost * (h.month_us = budget.month_us)
    FROM (SELECT hold.*, a.state AS state FROM hold JOIN attempt AS a ON a.op_id = hold.op_id AND a.n = hold.n
          WHERE a.dispatch_id = :id AND hold.spend = 'held') AS h
    WHERE h.scope_kind = budget.scope_kind AND h.scope_id = budget.scope_id"""
_GIVE_BACK_HOLDS = """
    UPDATE hold SET spend = 'released', slot = 'free'
    WHERE spend = 'held' AND (op_id, n) IN (SELECT op_id, n FROM attempt WHERE dispatch_id = :id)"""
_GIVE_BACK = """
    UPDATE attempt SET state = 'released', dispatching_us = NULL, finished_us = granted_us, detail = 'given_back'
    WHERE dispatch_id = :id AND state IN ('granted', 'dispatching', 'unknown')"""


_FREE_ANOTHER = """
    UPDATE budget SET slots_used = slots_used - 1 WHERE scope_kind = 'profile' AND slots_used > slots_stranded"""


def _released_blindly(dispatch_id: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Give an attempt back whatever became of it, with its books in order: no counter gives the bug away."""
    key = {"id": dispatch_id}
    return [(_DROP_GUARD, {}), (_GIVE_BACK_BUDGET, key), (_GIVE_BACK_HOLDS, key), (_GIVE_BACK, key)]


class _Ledger:
    """Passes on what a bug does not touch."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


class SendsBeforeT2(_Ledger):
    """Says that T2 is durable, and commits it while the request is on its way already."""

    def __init__(self, ledger: Ledger, transport: Transport) -> None:
        super().__init__(ledger)
        self._transport = transport

    async def dispatch(self, dispatch_id: str) -> Dispatching:  # noqa: ARG002 - the port's signature
        return Dispatching()

    async def send(self, dispatch: Dispatch) -> Outcome:
        sending = asyncio.ensure_future(self._transport.send(dispatch))
        await asyncio.sleep(0.005)
        await self._ledger.dispatch(dispatch.dispatch_id)
        return await sending


class RegrantsDispatching(_Ledger):
    """Its sweep takes an attempt without a task for one that was never sent."""

    def __init__(self, ledger: Ledger, connection: FaultyConnection) -> None:
        super().__init__(ledger)
        self._connection = connection

    async def sweep(self, alive: Callable[[], frozenset[str]], *, earlier_incarnations: bool) -> Swept:
        swept = await self._ledger.sweep(alive, earlier_incarnations=earlier_incarnations)
        for dispatch_id in swept.unknown:
            self._connection.smuggle(_released_blindly(dispatch_id))
        if swept.unknown:
            await self._ledger.sweep(alive, earlier_incarnations=False)
        return swept


class AcknowledgesBeforeT3(_Ledger):
    """Answers at once and saves in the background."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._saving: set[asyncio.Future[Any]] = set()

    async def settle(self, settle: Settle) -> Settled:
        saving = asyncio.ensure_future(self._save(settle))
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)
        return Settled()

    async def _save(self, settle: Settle) -> None:
        await asyncio.sleep(0.005)
        await self._ledger.settle(settle)


class ReleasesBlindly(_Ledger):
    """Reads which grants are unsent, and gives them back a moment later without looking again."""

    def __init__(self, ledger: Ledger, connection: FaultyConnection, data: Path) -> None:
        super().__init__(ledger)
        self._connection = connection
        self._data = data

    async def sweep(self, alive: Callable[[], frozenset[str]], *, earlier_incarnations: bool) -> Swept:
        if earlier_incarnations:
            return await self._ledger.sweep(alive, earlier_incarnations=True)
        unsent = _granted(self._data)
        await asyncio.sleep(0.05)
        for dispatch_id in unsent:
            self._connection.smuggle(_released_blindly(dispatch_id))
        return await self._ledger.sweep(alive, earlier_incarnations=False)


class AdmitsAbove(_Ledger):
    """Takes every claim as if nothing had a limit."""

    async def claim(self, claim: Claim) -> Claimed:
        return await self._ledger.claim(_without_limits(claim))


class RefusesTooLate(_Ledger):
    """Takes what does not fit, and gives it back before it refuses: the key is used up."""

    async def claim(self, claim: Claim) -> Claimed:
        claimed = await self._ledger.claim(claim)
        if isinstance(claimed, BudgetShort) and isinstance(await self._ledger.claim(_without_limits(claim)), Granted):
            await self._ledger.release(claim.dispatch_id)
        return claimed


class ForgetsSlots(_Ledger):
    """Frees a slot of the profile twice."""

    def __init__(self, ledger: Ledger, connection: FaultyConnection) -> None:
        super().__init__(ledger)
        self._connection = connection

    async def settle(self, settle: Settle) -> Settled | Superseded:
        self._connection.smuggle([(_FREE_ANOTHER, {})])
        return await self._ledger.settle(settle)


def _without_limits(claim: Claim) -> Claim:
    nothing = Ceilings(**dict.fromkeys(Ceilings.__struct_fields__))
    return replace(claim, budgets=tuple(replace(budget, limits=nothing) for budget in claim.budgets))


def _granted(data: Path) -> list[str]:
    connection = open_readable(data)
    try:
        return [row[0] for row in connection.execute("SELECT dispatch_id FROM attempt WHERE state = 'granted'")]
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


def _send_before_t2(ports: Ports, connection: FaultyConnection, data: Path) -> Ports:
    del connection, data
    bug = SendsBeforeT2(ports.ledger, ports.transport)
    return with_ports(ports, ledger=bug, transport=bug)


def _sweep_regrants_dispatching(ports: Ports, connection: FaultyConnection, data: Path) -> Ports:
    del data
    return with_ports(ports, ledger=RegrantsDispatching(ports.ledger, connection))


def _acknowledge_before_t3(ports: Ports, connection: FaultyConnection, data: Path) -> Ports:
    del connection, data
    return with_ports(ports, ledger=AcknowledgesBeforeT3(ports.ledger))


def _release_without_compare_and_set(ports: Ports, connection: FaultyConnection, data: Path) -> Ports:
    return with_ports(ports, ledger=ReleasesBlindly(ports.ledger, connection, data))


def _admit_above_limits(ports: Ports, connection: FaultyConnection, data: Path) -> Ports:
    del connection, data
    return with_ports(ports, ledger=AdmitsAbove(ports.ledger))


def _refuse_after_reserving(ports: Ports, connection: FaultyConnection, data: Path) -> Ports:
    del connection, data
    return with_ports(ports, ledger=RefusesTooLate(ports.ledger))


def _free_slots_twice(ports: Ports, connection: FaultyConnection, data: Path) -> Ports:
    del data
    return with_ports(ports, ledger=ForgetsSlots(ports.ledger, connection))


BUGS: Mapping[str, Callable[[Ports, FaultyConnection, Path], Ports]] = {
    "send_before_t2": _send_before_t2,
    "sweep_regrants_dispatching": _sweep_regrants_dispatching,
    "acknowledge_before_t3": _acknowledge_before_t3,
    "release_without_compare_and_set": _release_without_compare_and_set,
    "admit_above_limits": _admit_above_limits,
    "refuse_after_reserving": _refuse_after_reserving,
    "free_slots_twice": _free_slots_twice,
}
