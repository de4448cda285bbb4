"""What a failing disk does to a batch: all or nothing, and nobody is told "stored" where it is not known."""

import asyncio
from pathlib import Path

import pytest
from contract.ledger_ends import a_claim, granted, put_keys, state_of
from store_support import FailingDisk, StoreEnds, empty_database, with_store

from adapters.store import database
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.operation import State
from gateway.ports.ledger import Dispatching


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
        await put_keys(ends)
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
