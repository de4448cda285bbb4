"""``verify`` finds every kind of disorder, each by its own check."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from contract.ledger_ends import an_act, dispatched, granted, left_unknown, outcome, put_keys
from store_support import StoreEnds, empty_database

from adapters.store import database, verify
from gateway.domain.operation import State
from gateway.domain.usage import Usage

Check = Callable[[sqlite3.Connection], list[str]]


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with an attempt in each state that has holds of its own kind."""
    directory = tmp_path_factory.mktemp("ledger")
    (directory / database.FILE).write_bytes(empty_database())
    ends = StoreEnds(directory)

    async def fill() -> None:
        await put_keys(ends)
        await granted(ends, "granted")
        for state in (State.COMPLETED, State.NO_EFFECT, State.UNKNOWN):
            claim = await dispatched(ends, state.value)
            await ends.ledger.settle(outcome(claim.dispatch_id, state))
        await ends.ledger.act(an_act(await left_unknown(ends, "charged"), "charged", used=Usage(300, 130)))

    asyncio.run(fill())
    assert ends.store.verify() == []
    ends.store.close()
    return directory


DISORDERS: list[tuple[Check, str]] = [
    (
        verify.i1_one_attempt_with_an_effect,
        "INSERT INTO attempt SELECT op_id, 2, 'granted', 'another', incarnation, profile, profile_digest, "
        "bundle_digest, policy_revision, snapshot_digest, decisions, reserved_input, reserved_output, "
        "reserved_cost, tariff, total_timeout_ms, granted_us, "
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM attempt WHERE state = 'completed'",
    ),
    (verify.i2_slots_are_held_slots, "UPDATE budget SET slots_used = slots_used + 1 WHERE scope_kind = 'tenant'"),
    (verify.i2_slots_are_held_slots, "UPDATE budget SET slots_stranded = 0 WHERE scope_kind = 'tenant'"),
    *(
        (verify.i3_sums_are_conserved, f"UPDATE budget SET {column} = {column} + 1 WHERE scope_kind = 'profile'")
        for column in (
            "held_tokens",
            "held_cost",
            "debt_tokens",
            "debt_cost",
            "minute_requests",
            "minute_tokens",
            "day_tokens",
            "month_tokens",
            "month_cost",
        )
    ),
    (verify.i3_sums_are_conserved, "UPDATE hold SET settled_tokens = settled_tokens - 1 WHERE spend = 'settled'"),
    (verify.i4_used_is_settled, "UPDATE hold SET settled_tokens = settled_tokens - 1 WHERE spend = 'settled'"),
    (verify.i4_used_is_settled, "UPDATE hold SET debt_tokens = debt_tokens - 1 WHERE debt_tokens > 0"),
    (verify.i4_used_is_settled, "UPDATE attempt SET used_output = 1000 WHERE state = 'completed'"),
    (verify.i5_completed_has_its_result, "DELETE FROM result"),
    (verify.i5_completed_has_its_result, "UPDATE result SET digest = 'another'"),
    (
        verify.i5_completed_has_its_result,
        "UPDATE result SET op_id = (SELECT op_id FROM attempt WHERE state = 'unknown')",
    ),
    (
        verify.i6_open_attempts_hold,
        "UPDATE hold SET spend = 'released' WHERE op_id = (SELECT op_id FROM attempt WHERE state = 'unknown')",
    ),
    (
        verify.i6_open_attempts_hold,
        "DELETE FROM hold WHERE op_id = (SELECT op_id FROM attempt WHERE state = 'granted')",
    ),
    (
        verify.i6_open_attempts_hold,
        "UPDATE hold SET tokens = 1 WHERE op_id = (SELECT op_id FROM attempt WHERE state = 'granted')",
    ),
    (
        verify.i6_open_attempts_hold,
        "UPDATE hold SET slot = 'free' WHERE op_id = (SELECT op_id FROM attempt WHERE state = 'granted')",
    ),
    (verify.i7_ended_attempts_hold_nothing, "UPDATE hold SET slot = 'held' WHERE spend = 'settled'"),
    (verify.i7_ended_attempts_hold_nothing, "UPDATE hold SET spend = 'held' WHERE spend = 'released'"),
    (
        verify.i7_ended_attempts_hold_nothing,
        "UPDATE hold SET spend = 'released', settled_tokens = 0 WHERE spend = 'settled'",
    ),
    (verify.i8_audit_agrees_on_dispatches, "DELETE FROM audit WHERE kind = 'dispatching'"),
    (
        verify.i8_audit_agrees_on_dispatches,
        "INSERT INTO audit SELECT incarnation, 1000, 1, 'dispatching', NULL, NULL, op_id, n, '', x'' "
        "FROM attempt WHERE state = 'granted'",
    ),
    (verify.i9_one_operation_per_key, "DELETE FROM attempt WHERE state = 'granted'"),
    (verify.i10_database_is_sound, "DELETE FROM operation"),
]


@pytest.mark.parametrize(("check", "disorder"), DISORDERS)
def test_a_disorder_is_found_by_its_check(in_order: Path, tmp_path: Path, check: Check, disorder: str) -> None:
    shutil.copyfile(in_order / database.FILE, tmp_path / database.FILE)
    with closing(sqlite3.connect(tmp_path / database.FILE, isolation_level=None)) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("DROP INDEX ux_attempt_effect")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert verify.verify(connection) == []
        assert connection.execute(disorder).rowcount > 0
        found = check(connection)
        assert found
        assert set(found) <= set(verify.verify(connection))


def test_two_operations_of_one_key_are_found_where_the_constraint_is_gone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "loose.db")) as connection:
        connection.execute("CREATE TABLE operation (op_id, tenant, principal, key_hash)")
        connection.execute("CREATE TABLE attempt (op_id)")
        connection.executemany("INSERT INTO operation VALUES (?, 't', 'p', 'k')", [("a",), ("b",)])
        connection.executemany("INSERT INTO attempt VALUES (?)", [("a",), ("b",)])
        assert verify.i9_one_operation_per_key(connection) == ["operation a shares its key with another"]


@pytest.mark.parametrize(
    ("overwritten_by", "found"),
    [
        ("ux_attempt_effect", "the database file is damaged"),
        ("attempt", "the database file is damaged: i10_database_is_sound could not be read"),
    ],
)
def test_a_damaged_file_is_found(in_order: Path, tmp_path: Path, overwritten_by: str, found: str) -> None:
    content = bytearray((in_order / database.FILE).read_bytes())
    with closing(sqlite3.connect(in_order / database.FILE)) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    page, other = (slice((roots[n] - 1) * size, roots[n] * size) for n in ("ix_attempt_state", overwritten_by))
    content[page] = content[other]
    (tmp_path / database.FILE).write_bytes(content)
    with closing(sqlite3.connect(tmp_path / database.FILE, isolation_level=None)) as connection:
        assert found in verify.verify(connection)
