"""Where a decision is looked for: in the audit rows of its time, which a binary search finds."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from contract.ledger_decisions import FAILED, made, refused
from contract.ledger_ends import NOW_US, decision, decision_id, granted
from store_support import StoreEnds, with_store

from adapters.store import database, decisions
from gateway.domain.questions import Decision

SECOND_US = 1_000_000


def at(seconds: float, entrypoint: str = "access") -> Decision:
    """A decision that was made so many seconds after NOW_US."""
    return decision(entrypoint, id=decision_id(NOW_US + int(seconds * SECOND_US)))


@pytest.mark.parametrize(
    ("written_s", "is_found"), [(-5.001, False), (-5, True), (0, True), (179, True), (180, True), (180.001, False)]
)
@pytest.mark.parametrize("around", [0, 40])
def test_a_row_counts_from_shortly_before_its_decision_to_three_minutes_after(
    written_s: float, is_found: bool, around: int
) -> None:
    async def use(ends: StoreEnds) -> None:
        for second in range(-around, 0):
            ends.clock.us = NOW_US + second * 20 * SECOND_US
            await refused(ends, at(second * 20))
        wanted = at(0)
        ends.clock.us = NOW_US + int(written_s * SECOND_US)
        await refused(ends, wanted)
        for second in range(10, 10 + around):
            ends.clock.us = NOW_US + second * 20 * SECOND_US
            await refused(ends, at(second * 20))
        found = await ends.decisions.find(wanted.id)
        assert (found is not None) == is_found

    with_store(use)


def test_each_of_many_is_found_over_several_starts_and_only_a_few_rows_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    dated = decisions._dated

    def counted(connection: sqlite3.Connection, incarnation: int, seq: int) -> int:
        looked_at.append(seq)
        return dated(connection, incarnation, seq)

    async def use(ends: StoreEnds) -> None:
        kept = []
        for n in range(300):
            if n % 100 == 50:
                ends.restart()
            ends.clock.us += 30 * SECOND_US
            kept.append(decision("access", id=decision_id(ends.clock.us)))
            await refused(ends, kept[-1])
        for one in kept[::7]:
            looked_at.clear()
            found = await ends.decisions.find(one.id)
            assert found is not None
            assert found.decision == one
            assert len(looked_at) < 4 * 2 * 9  # starts, ends of a range, halvings

    monkeypatch.setattr(decisions, "_dated", counted)
    with_store(use)


@pytest.mark.parametrize("set_back_s", [1, 59])
def test_a_clock_that_is_set_back_hides_nothing(set_back_s: int) -> None:
    async def use(ends: StoreEnds) -> None:
        kept = []
        for n in range(240):
            ends.clock.us += SECOND_US if n != 100 else -set_back_s * SECOND_US
            kept.append(decision("access", id=decision_id(ends.clock.us)))
            await refused(ends, kept[-1])
        for one in kept:
            assert await ends.decisions.find(one.id) is not None

    with_store(use)


def test_of_several_rows_the_first_tells_of_it() -> None:
    async def use(ends: StoreEnds) -> None:
        access = at(0)
        claim = await granted(ends, access=access)
        await refused(ends, access)
        found = await ends.decisions.find(access.id)
        assert found is not None
        assert (found.event, found.operation_id) == ("granted", claim.operation_id)

    with_store(use)


@pytest.mark.parametrize("form", [str.upper, "{{{}}}".format, "urn:uuid:{}".format, lambda text: text.replace("-", "")])
def test_only_the_exact_form_of_an_id_is_looked_for(form: object) -> None:
    async def use(ends: StoreEnds) -> None:
        access = at(0)
        await refused(ends, access)
        assert callable(form)
        assert await ends.decisions.find(form(access.id)) is None

    with_store(use)


@pytest.mark.parametrize("stored_id", ["d-access", "5bd2cc3e-9f2b-4bd4-a3cf-0f5b1b9a1f2e"])
def test_an_id_that_tells_no_time_is_not_found(stored_id: str) -> None:
    async def use(ends: StoreEnds) -> None:
        await refused(ends, decision("access", id=stored_id))
        assert await ends.decisions.find(stored_id) is None

    with_store(use)


def test_an_id_that_stands_in_a_row_without_being_its_decision_is_passed_over() -> None:
    async def use(ends: StoreEnds) -> None:
        wanted = at(0)
        await refused(ends, decision("access", id=decision_id(), revision=wanted.id))
        assert await ends.decisions.find(wanted.id) is None
        await refused(ends, wanted)
        found = await ends.decisions.find(wanted.id)
        assert found is not None
        assert found.decision == wanted

    with_store(use)


def test_rows_of_other_kinds_may_name_it() -> None:
    async def use(ends: StoreEnds) -> None:
        wanted = at(0)
        ends.store.close()
        with closing(sqlite3.connect(ends.directory / database.FILE)) as connection:
            connection.execute(
                "INSERT INTO audit VALUES (1, 3, ?, 'a_kind_to_come', NULL, NULL, NULL, NULL, '', ?)",
                (NOW_US, wanted.id.encode()),
            )
            connection.commit()
        ends.restart()
        assert await ends.decisions.find(wanted.id) is None

    with_store(use)


def test_a_row_from_before_failures_were_kept_is_read() -> None:
    async def use(ends: StoreEnds) -> None:
        wanted = at(0)
        ends.store.close()
        with closing(sqlite3.connect(ends.directory / database.FILE)) as connection:
            connection.execute(
                "INSERT INTO audit VALUES (1, 3, ?, 'refused', 'acme', 'reports', NULL, NULL, 'access_denied', ?)",
                (
                    NOW_US,
                    f'{{"policy_codes":[],"decisions":[{{"id":"{wanted.id}","entrypoint":"access",'
                    f'"revision":"{wanted.revision}","question_digest":"{wanted.question_digest}"}}]}}'.encode(),
                ),
            )
            connection.commit()
        ends.restart()
        found = await ends.decisions.find(wanted.id)
        assert found is not None
        assert found.decision == wanted
        assert found.decision.failed == ()

    with_store(use)


def test_what_failed_is_kept_in_the_row_of_the_attempt_too() -> None:
    async def use(ends: StoreEnds) -> None:
        await granted(ends, routes=decision("routes", failed=FAILED))
        ((kept,),) = ends.rows("SELECT decisions FROM attempt")
        for failed in FAILED:
            assert failed.place.encode() in kept

    with_store(use)


def test_it_is_looked_for_aside() -> None:
    async def use(ends: StoreEnds) -> None:
        wanted = made("access")
        await refused(ends, wanted)
        loop_turns = 0

        async def turn() -> None:
            nonlocal loop_turns
            while True:
                loop_turns += 1
                await asyncio.sleep(0)

        turning = asyncio.create_task(turn())
        await ends.decisions.find(wanted.id)
        turning.cancel()
        assert loop_turns > 1

    with_store(use)
