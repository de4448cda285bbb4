"""What a failing disk does to a batch: all or nothing, and nobody is told "stored" where it is not known."""

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from contract.ledger_ends import CREDENTIAL, a_claim, a_key, granted, state_of
from store_support import StoreEnds, empty_database, with_store

from adapters.store import database
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.operation import State
from gateway.ports.ledger import Dispatching


class FailingDisk:
    """A connection whose statements fail where a test wants it."""

    def __init__(self) -> None:
        self.before: tuple[str, ...] = ()
        """Fail before a statement that begins so."""
        self.after: tuple[str, ...] = ()
        """Fail after one that begins so."""
        self.failed = 0

    def wrap(self, connection: sqlite3.Connection) -> "FailingDisk":
        self._connection = connection
        return self

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, sql: str, parameters: Mapping[str, Any] = {}, /) -> sqlite3.Cursor:
        self._fail(self.before, sql)
        done = self._connection.execute(sql, parameters)
        self._fail(self.after, sql)
        return done

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        self._fail(self.before, sql)
        return self._connection.executemany(sql, parameters)

    def close(self) -> None:
        self._connection.close()

    def _fail(self, where: tuple[str, ...], sql: str) -> None:
        if sql.startswith(where):
            self.failed += 1
            raise sqlite3.OperationalError("disk I/O error")


@pytest.mark.parametrize("where", ["BEGIN", "UPDATE attempt", "INSERT INTO audit", "UPDATE meta"])
def test_a_statement_that_fails_stores_nothing_and_can_be_tried_again(where: str) -> None:
    disk = FailingDisk()

    async def use(ends: StoreEnds) -> None:
        claims = [await granted(ends, str(n)) for n in range(3)]
        disk.before = (where,)
        failed = await asyncio.gather(
            *(ends.ledger.dispatch(claim.dispatch_id) for claim in claims), return_exceptions=True
        )
        assert [type(answer) for answer in failed] == [LedgerUnavailable] * 3
        assert disk.failed == 4  # once for the batch, once for each alone
        disk.before = ()
        for claim in claims:
            assert await state_of(ends, claim) is State.GRANTED
            assert await ends.ledger.dispatch(claim.dispatch_id) == Dispatching()
        assert not ends.fatal.is_set()

    with_store(use, wrap=disk.wrap)


def test_a_rollback_that_fails_lets_nothing_of_its_batch_into_the_next() -> None:
    disk = FailingDisk()

    async def use(ends: StoreEnds) -> None:
        claim, other = await granted(ends, "one"), await granted(ends, "other")
        disk.before = ("INSERT INTO audit", "ROLLBACK")
        with pytest.raises(LedgerUnavailable):
            await ends.ledger.dispatch(claim.dispatch_id)
        disk.before = ()
        with pytest.raises(LedgerUnavailable):  # its BEGIN meets the transaction that is still open, and ends it
            await ends.ledger.dispatch(other.dispatch_id)
        assert await ends.ledger.dispatch(other.dispatch_id) == Dispatching()
        assert await state_of(ends, claim) is State.GRANTED

    with_store(use, wrap=disk.wrap)


@pytest.mark.parametrize(("when", "found"), [("before", State.GRANTED), ("after", State.DISPATCHING)])
def test_after_a_failed_commit_the_restart_finds_what_the_disk_says(tmp_path: Path, when: str, found: State) -> None:
    (tmp_path / database.FILE).write_bytes(empty_database())
    disk = FailingDisk()
    ends = StoreEnds(tmp_path, wrap=disk.wrap)

    async def use() -> None:
        await ends.keys.create(a_key(), CREDENTIAL, actor=None)
        claim = await granted(ends)
        setattr(disk, when, ("COMMIT",))
        with pytest.raises(LedgerUncertain):
            await ends.ledger.dispatch(claim.dispatch_id)
        assert ends.fatal.wait(5)
        with pytest.raises(LedgerUnavailable):
            await ends.ledger.claim(a_claim("later"))
        setattr(disk, when, ())
        ends.restart()
        assert await state_of(ends, claim) is found
        assert ends.store.verify() == []

    asyncio.run(use())
    ends.store.close()
