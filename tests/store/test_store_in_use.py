"""What is in use is said by the counters too, whatever became of the attempts."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from contract.ledger_ends import dispatched, outcome, put_keys
from store_support import StoreEnds, empty_database

from adapters.store import database
from gateway.domain.operation import State


@pytest.mark.parametrize("counter", ["held_tokens", "slots_used"])
def test_a_scope_that_still_counts_something_is_in_use_without_an_open_attempt(tmp_path: Path, counter: str) -> None:
    (tmp_path / database.FILE).write_bytes(empty_database())
    ends = StoreEnds(tmp_path)

    async def use() -> None:
        await put_keys(ends)
        claim = await dispatched(ends)
        await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
        with closing(sqlite3.connect(tmp_path / database.FILE)) as connection:
            connection.execute(f"UPDATE budget SET {counter} = 1")
            connection.commit()
        found = await ends.accounts.in_use()
        assert (found.tenants, found.profiles, found.quota_scopes) == ({"acme"}, {"small"}, {"engine"})
        assert found.principals == frozenset()

    asyncio.run(use())
    ends.store.close()
