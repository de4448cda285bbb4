"""One durable audit row for each refusal, transition and disclosure, with nothing confidential in it."""

import asyncio

from contract.ledger_ends import (
    CALLER,
    CREDENTIAL,
    a_source,
    decision,
    dispatched,
    granted,
    key_hash,
    nobody,
    outcome,
)
from store_support import StoreEnds, with_store

from gateway.domain.operation import State
from gateway.domain.request import SourceRef
from gateway.ports.ledger import Disclosure, RefusalRecord

KINDS = "SELECT kind, n, code FROM audit WHERE op_id = ? ORDER BY incarnation, seq"


def test_every_transition_leaves_one_row() -> None:
    async def use(ends: StoreEnds) -> None:
        first = await granted(ends)
        await ends.ledger.release(first.dispatch_id)
        second = await dispatched(ends)
        await ends.ledger.settle(outcome(second.dispatch_id, State.NO_EFFECT))
        third = await dispatched(ends)
        await ends.ledger.sweep(nobody, earlier_incarnations=False)
        await ends.ledger.settle(outcome(third.dispatch_id, State.NO_EFFECT))
        await ends.ledger.settle(outcome(third.dispatch_id, State.COMPLETED))
        assert ends.rows(KINDS, first.operation_id) == [
            ("granted", 1, "small"),
            ("released", 1, "given_back"),
            ("granted", 2, "small"),
            ("dispatching", 2, "small"),
            ("no_effect", 2, "detail_no_effect"),
            ("granted", 3, "small"),
            ("dispatching", 3, "small"),
            ("unknown", 3, "no_task"),
            ("evidence", 3, "no_effect"),
            ("completed", 3, "detail_completed"),
        ]

    with_store(use)


def test_numbers_have_no_gap_and_begin_anew_with_each_start() -> None:
    async def use(ends: StoreEnds) -> None:
        await asyncio.gather(*(granted(ends, str(n)) for n in range(5)))
        ends.restart()
        await granted(ends, "after")
        numbers = ends.rows("SELECT incarnation, seq FROM audit ORDER BY incarnation, seq")
        assert numbers == [(1, seq) for seq in range(1, 7)] + [(2, 1)]

    with_store(use)


def test_who_asked_and_who_read_and_who_was_refused_is_kept_with_the_decisions() -> None:
    async def use(ends: StoreEnds) -> None:
        await ends.sources.put(a_source(actor=CALLER))
        claim = await granted(ends)
        refs = (SourceRef("handbook", "r1"),)
        disclosure = Disclosure(
            operation_id=claim.operation_id,
            reader=CALLER,
            decision=decision("replay"),
            sources=refs,
            source_versions=(1,),
        )
        await ends.ledger.disclose(disclosure)
        await ends.sources.put(a_source(withdrawn=True))
        await ends.ledger.disclose(disclosure)
        await ends.ledger.refuse(
            RefusalRecord(
                caller=CALLER,
                code="access_denied",
                policy_codes=("request_alias",),
                operation_id=None,
                decisions=(decision("access"),),
            )
        )
        rows = ends.rows("SELECT kind, tenant, principal, code, data FROM audit ORDER BY seq")
        kinds = ["key_created", "source_changed", "granted", "disclosed", "source_changed", "refused"]
        assert [row[0] for row in rows] == kinds
        assert [row[1:3] for row in rows] == [(None, None)] + [("acme", "reports")] * 3 + [(None, None)] + [
            ("acme", "reports")
        ]
        for kind, decided in (
            ("granted", b"d-access"),
            ("granted", b"d-routes"),
            ("disclosed", b"d-replay"),
            ("refused", b"request_alias"),
        ):
            (data,) = (row[4] for row in rows if row[0] == kind)
            assert decided in data

    with_store(use)


def test_no_row_holds_an_answer_a_key_or_a_credential() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED, body=b"the answer itself"))
        stored = repr(ends.rows("SELECT * FROM audit")).encode() + b"".join(
            data for (data,) in ends.rows("SELECT data FROM audit")
        )
        for secret in (b"the answer itself", key_hash("one"), CREDENTIAL):
            assert secret not in stored
            assert secret.hex().encode() not in stored
            assert repr(secret).encode() not in stored

    with_store(use)
