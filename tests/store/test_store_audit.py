"""One durable audit row for each refusal, transition and disclosure, with nothing confidential in it."""

import asyncio
import json

import pytest
from contract.ledger_ends import (
    CALLER,
    CREDENTIAL,
    OPERATOR,
    a_disclosure,
    a_grant,
    a_key,
    an_act,
    decision,
    dispatched,
    grant,
    granted,
    key_hash,
    left_unknown,
    nobody,
    outcome,
    revoke,
    try_to_change,
    withdraw,
)
from contract.ledger_revoked import CHANGES, NOBODYS, Change
from store_support import StoreEnds, with_store

from gateway.domain.errors import CredentialRevoked
from gateway.domain.operation import State
from gateway.domain.request import SourceRef
from gateway.domain.source import MOST_GROUPS, RevokeSource, SourceAct, WithdrawSource
from gateway.ports.ledger import RefusalRecord, ReloadRecord

TABLES = ("source", "withdrawal", "key", "attempt", "hold", "budget", "evidence", "audit")
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


def test_a_reload_is_kept_with_its_actor_and_what_is_in_force_since() -> None:
    async def use(ends: StoreEnds) -> None:
        for taken in (True, False):
            record = ReloadRecord(actor=CALLER, taken=taken, registry_digest="sha256:r", policy_revision="sha256:p")
            await ends.ledger.reloaded(record)
        _, _, *rows = ends.rows("SELECT kind, tenant, principal, op_id, code, data FROM audit ORDER BY seq")
        assert [row[:-1] for row in rows] == [
            ("reloaded", CALLER.principal.tenant, CALLER.principal.id, None, code) for code in ("taken", "refused")
        ]
        assert json.loads(rows[0][-1]) == {"registry_digest": "sha256:r", "policy_revision": "sha256:p"}

    with_store(use)


def test_numbers_have_no_gap_and_begin_anew_with_each_start() -> None:
    async def use(ends: StoreEnds) -> None:
        await asyncio.gather(*(granted(ends, str(n)) for n in range(5)))
        ends.restart()
        await granted(ends, "after")
        numbers = ends.rows("SELECT incarnation, seq FROM audit ORDER BY incarnation, seq")
        assert numbers == [(1, seq) for seq in range(1, 8)] + [(2, 1)]

    with_store(use)


def test_who_asked_and_who_read_and_who_was_refused_is_kept_with_the_decisions() -> None:
    async def use(ends: StoreEnds) -> None:
        await ends.sources.change(a_grant(), actor=CALLER, os_user=None)
        claim = await granted(ends)
        refs = (SourceRef("handbook", "r1"),)
        disclosure = a_disclosure(operation_id=claim.operation_id, sources=refs, source_versions=(1,))
        await ends.ledger.disclose(disclosure)
        await withdraw(ends)
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
        kinds = ["key_created", "key_created", "source_granted", "granted", "disclosed", "source_withdrawn", "refused"]
        assert [row[0] for row in rows] == kinds
        assert [row[1:3] for row in rows] == [
            *[(None, None)] * 2,
            *[("acme", "reports")] * 3,
            ("system", "operator"),
            ("acme", "reports"),
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


ROW = {
    "tenant": "acme",
    "groups": ["legal", "staff"],
    "privacy_class": "internal",
    "revision": "r1",
    "released_s": 1_700_000_000,
    "withdrawn": False,
    "as_of_s": 1_796_040_000,
    "version": 2,
}


@pytest.mark.parametrize(
    ("act", "kind", "left"),
    [
        (a_grant(groups=("board",)), "source_granted", {"groups": ["board", "legal", "staff"]}),
        (RevokeSource(id="handbook", groups=("staff",)), "source_revoked", {"groups": ["legal"]}),
        (RevokeSource(id="handbook", groups=()), "source_revoked", {"groups": []}),
        (WithdrawSource(id="handbook"), "source_withdrawn", {"withdrawn": True}),
    ],
)
@pytest.mark.parametrize("os_user", [None, "root"])
def test_a_change_of_a_source_leaves_one_row_with_what_the_source_then_is(
    act: SourceAct, kind: str, left: dict[str, object], os_user: str | None
) -> None:
    async def use(ends: StoreEnds) -> None:
        await grant(ends, groups=("staff", "legal"))
        await ends.sources.change(act, actor=OPERATOR, os_user=os_user)
        *_, row = ends.rows("SELECT kind, tenant, principal, op_id, n, code, data FROM audit ORDER BY seq")
        assert row[:-1] == (kind, "system", "operator", None, None, "handbook")
        assert json.loads(row[-1]) == ROW | left | {"os_user": os_user}
        assert len(ends.rows("SELECT 1 FROM audit")) == 4  # two keys', the first grant's and this one

    with_store(use)


@pytest.mark.parametrize(
    "act",
    [
        a_grant(tenant="umbrella"),
        a_grant("faq"),
        a_grant(groups=tuple(f"group-{n}" for n in range(MOST_GROUPS))),
        RevokeSource(id="nothing", groups=()),
        WithdrawSource(id="nothing"),
        WithdrawSource(id="faq"),
    ],
)
def test_what_the_directory_refuses_or_has_done_already_changes_nothing_and_leaves_no_row(act: SourceAct) -> None:
    async def use(ends: StoreEnds) -> None:
        await grant(ends)
        await grant(ends, "faq")
        await withdraw(ends, "faq")
        before = [ends.rows(f"SELECT * FROM {table}") for table in ("source", "withdrawal", "audit")]
        await try_to_change(ends, act)
        assert [ends.rows(f"SELECT * FROM {table}") for table in ("source", "withdrawal", "audit")] == before

    with_store(use)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_whoever_may_not_any_more_changes_nothing_and_leaves_no_row(change: Change) -> None:
    async def use(ends: StoreEnds) -> None:
        await grant(ends)
        before = [ends.rows(f"SELECT * FROM {table}") for table in TABLES]
        with pytest.raises(CredentialRevoked):
            await change(ends, NOBODYS)
        assert [ends.rows(f"SELECT * FROM {table}") for table in TABLES] == before

    with_store(use)


def test_an_act_of_whoever_may_not_any_more_leaves_no_row() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await left_unknown(ends)
        before = [ends.rows(f"SELECT * FROM {table}") for table in TABLES]
        with pytest.raises(CredentialRevoked):
            await ends.ledger.act(an_act(claim, "write_off", actor=NOBODYS))
        assert [ends.rows(f"SELECT * FROM {table}") for table in TABLES] == before

    with_store(use)


def test_each_of_many_changes_at_once_leaves_its_row_with_its_version() -> None:
    async def use(ends: StoreEnds) -> None:
        await asyncio.gather(grant(ends), revoke(ends, "staff"), withdraw(ends), revoke(ends))
        rows = ends.rows("SELECT kind, data FROM audit WHERE code = 'handbook' ORDER BY seq")
        assert [(kind, json.loads(data)["version"]) for kind, data in rows] == [
            ("source_granted", 1),
            ("source_revoked", 2),
            ("source_withdrawn", 3),
            ("source_revoked", 4),
        ]

    with_store(use)


def test_a_key_leaves_one_row_when_it_is_made_and_one_when_it_is_revoked_and_never_its_label() -> None:
    async def use(ends: StoreEnds) -> None:
        made = a_key("key-2", tenant="umbrella", principal="mailer", label="words of somebody")
        await ends.keys.create(made, b"2" * 32, actor=OPERATOR, os_user="root")
        for _ in range(2):
            await ends.keys.revoke("key-2", actor=CALLER, os_user="ops")
        await ends.keys.revoke("nothing", actor=CALLER, os_user="ops")
        rows = ends.rows("SELECT kind, tenant, principal, op_id, code, data FROM audit ORDER BY seq")
        of = {"tenant": "umbrella", "principal": "mailer"}
        assert [(*row[:-1], json.loads(row[-1])) for row in rows[2:]] == [
            ("key_created", "system", "operator", None, "key-2", of | {"os_user": "root", "alone": False}),
            ("key_revoked", "acme", "reports", None, "key-2", of | {"os_user": "ops"}),
        ]
        assert b"words" not in b"".join(row[-1] for row in rows)

    with_store(use)
