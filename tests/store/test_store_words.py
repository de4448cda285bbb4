"""No error of the store holds what a statement was given: that may be a name or a digest of a request (OBS-01)."""

import logging
import sqlite3
import traceback
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from contract.ledger_ends import a_claim
from msgspec.structs import replace
from sqlalchemy import text
from store_support import StoreEnds, with_store

from adapters.store import database
from adapters.store.errors import translated
from gateway.domain.errors import LedgerUnavailable

SECRET = "canary-in-a-row"


def test_obs_01_a_migration_that_fails_does_not_show_its_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(config: Any, _: str) -> None:
        config.attributes["connection"].execute(text("INSERT INTO absent VALUES (:word)"), {"word": SECRET})

    monkeypatch.setattr(command, "upgrade", fail)
    with pytest.raises(Exception, match="no such table") as failed:
        database.prepare(tmp_path)
    assert SECRET not in "".join(traceback.format_exception(failed.value))


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.OperationalError(f"near {SECRET}"),
        sqlite3.IntegrityError(f"CHECK constraint failed: {SECRET}"),
        OverflowError(SECRET),
        UnicodeEncodeError("utf-8", SECRET, 0, 1, SECRET),
    ],
)
def test_obs_01_the_driver_s_words_are_told_to_nobody(error: Exception) -> None:
    told = translated(error)
    assert isinstance(told, LedgerUnavailable)
    assert SECRET not in repr(told)


def test_obs_01_a_statement_that_fails_names_no_parameter(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def use(ends: StoreEnds) -> None:
        claim = a_claim("k")
        # A lone surrogate fits into no column: the driver raises, and names the text.
        broken = replace(claim, alias=f"{SECRET}\ud800")
        with pytest.raises(LedgerUnavailable) as failed:
            await ends.ledger.claim(broken)
        assert SECRET not in "".join(traceback.format_exception(failed.value))
        assert SECRET not in repr(ends.events.events)

    with_store(use)
    assert SECRET not in caplog.text
