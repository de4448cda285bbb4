"""The contract of the ledger on SQLite and on the fake."""

from collections.abc import Iterator
from contextlib import contextmanager

from contract.ledger_contract import LedgerContract
from contract.ledger_ends import ManualClock, ScriptedStanding
from store_support import store_ends

from gateway.testkit.fakes.ledger import FakeStore


class FakeEnds:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.standing = ScriptedStanding()
        store = FakeStore(clock=self.clock, standing=self.standing)
        self.restart = store.restart
        self.ledger, self.operations, self.accounts = store.ledger, store.operations, store.accounts
        self.decisions, self.sources, self.keys = store.decisions, store.sources, store.keys
        self.profiles = store.profiles


class TestFake(LedgerContract):
    @contextmanager
    def ends(self) -> Iterator[FakeEnds]:
        yield FakeEnds()


class TestSqlite(LedgerContract):
    @contextmanager
    def ends(self) -> Iterator[object]:
        with store_ends() as ends:
            yield ends
