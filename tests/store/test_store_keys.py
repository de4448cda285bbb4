"""Keys that were found are kept, and never longer than until a change of keys is acknowledged."""

import asyncio
import hashlib
import sqlite3
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from contract.ledger_ends import CREDENTIAL, OPERATOR, a_claim, a_key, put_keys
from hypothesis import given, settings
from hypothesis import strategies as st
from store_support import FailingDisk, StoreEnds, empty_database, with_store

from adapters.store import database, key_memory, keys
from adapters.store.key_change import Revocation
from gateway.domain.errors import LedgerUncertain
from gateway.ports.reads import Key

ENDED = a_key(active=False)


def hash_of(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


async def revoke(ends: StoreEnds, key_id: str = "key-1") -> Key | None:
    return await ends.keys.revoke(key_id, actor=OPERATOR, os_user=None)


async def end_by_another(ends: StoreEnds) -> None:
    await ends.keys.create(a_key("key-2"), hash_of("key-2"), actor=OPERATOR, alone=True)


def reads_of(ends: StoreEnds) -> list[str]:
    """Statements of the reading connection from now on."""
    statements: list[str] = []
    ends.store._reader.set_trace_callback(statements.append)
    return statements


def test_a_key_is_read_once_until_a_key_changes() -> None:
    async def use(ends: StoreEnds) -> None:
        statements = reads_of(ends)
        assert [await ends.keys.find(CREDENTIAL) for _ in range(3)] == [a_key()] * 3
        assert len(statements) == 1
        await ends.ledger.claim(a_claim())
        assert await ends.keys.find(CREDENTIAL) == a_key()
        assert len(statements) == 1
        await ends.keys.create(a_key("key-2"), hash_of("key-2"), actor=OPERATOR)
        assert await ends.keys.find(CREDENTIAL) == a_key()
        assert len(statements) == 2

    with_store(use)


@pytest.mark.parametrize("change", [revoke, end_by_another])
def test_the_very_next_find_sees_a_change(change: Callable[[StoreEnds], Awaitable[object]]) -> None:
    async def use(ends: StoreEnds) -> None:
        assert await ends.keys.find(CREDENTIAL) == a_key()
        await change(ends)
        assert await ends.keys.find(CREDENTIAL) == ENDED

    with_store(use)


def test_a_key_is_found_as_soon_as_it_is_made() -> None:
    async def use(ends: StoreEnds) -> None:
        assert await ends.keys.find(hash_of("key-2")) is None
        await end_by_another(ends)
        assert await ends.keys.find(hash_of("key-2")) == a_key("key-2")

    with_store(use)


@pytest.mark.parametrize("change", [revoke, end_by_another])
def test_a_change_whose_caller_gave_up_is_seen_too(change: Callable[[StoreEnds], Awaitable[object]]) -> None:
    async def use(ends: StoreEnds) -> None:
        assert await ends.keys.find(CREDENTIAL) == a_key()
        impatient = asyncio.ensure_future(change(ends))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.wait([impatient])
        assert impatient.cancelled()
        await ends.ledger.release("nothing")  # queued after what was given up, and so not before it
        assert await ends.keys.find(CREDENTIAL) == ENDED

    with_store(use)


@pytest.mark.parametrize("change", [revoke, end_by_another])
def test_what_was_kept_is_forgotten_after_the_commit_and_before_anybody_is_told(
    change: Callable[[StoreEnds], Awaitable[object]],
) -> None:
    kept: list[bool] = []

    def is_kept(ends: StoreEnds) -> bool:
        return CREDENTIAL in ends.keys._remembered.now

    async def use(ends: StoreEnds) -> None:
        loop = asyncio.get_running_loop()
        original = loop.call_soon_threadsafe

        def telling(*args: Any, **kwargs: Any) -> Any:
            kept.append(is_kept(ends))
            return original(*args, **kwargs)

        ending = ends.store._writer._connection.ending
        ending.append(lambda: kept.append(is_kept(ends)))
        assert await ends.keys.find(CREDENTIAL) == a_key()
        loop.call_soon_threadsafe = telling  # type: ignore[method-assign]
        await change(ends)

    with_store(use, wrap=Ending)
    assert kept == [True, False]


class Ending:
    """A connection that says on the writer's thread that COMMIT has ended."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.ending: list[Callable[[], None]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        done = self._connection.execute(sql, *parameters)
        if sql == "COMMIT":
            for call in self.ending:
                call()
        return done


def test_a_read_that_began_before_a_change_and_ends_after_it_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(ends: StoreEnds) -> None:
        loop, told = asyncio.get_running_loop(), threading.Event()
        original, key_from = loop.call_soon_threadsafe, keys.key_from

        def telling(*args: Any, **kwargs: Any) -> Any:
            told.set()
            return original(*args, **kwargs)

        def late(row: Any) -> Key:
            """The row has been read. The whole change happens before the read goes on."""
            monkeypatch.setattr(keys, "key_from", key_from)
            revoking = Revocation("key-1", OPERATOR, None)
            changing.append(ends.store._writer.run(ends.keys._revoke, revoking))
            assert told.wait(10)
            return key_from(row)

        changing: list[asyncio.Future[Any]] = []
        loop.call_soon_threadsafe = telling  # type: ignore[method-assign]
        monkeypatch.setattr(keys, "key_from", late)
        assert await ends.keys.find(CREDENTIAL) == a_key()
        assert await ends.keys.find(CREDENTIAL) == ENDED
        assert await changing[0] == ENDED

    with_store(use)


@pytest.mark.parametrize(("when", "found"), [("before", a_key()), ("after", ENDED)])
def test_a_commit_of_which_nobody_can_say_how_it_ended_is_forgotten_for_too(
    tmp_path: Path, when: str, found: Key
) -> None:
    (tmp_path / database.FILE).write_bytes(empty_database())
    disk = FailingDisk()
    ends = StoreEnds(tmp_path, wrap=disk.wrap)

    async def use() -> None:
        await put_keys(ends)
        assert await ends.keys.find(CREDENTIAL) == a_key()
        setattr(disk, when, ("COMMIT",))
        with pytest.raises(LedgerUncertain):
            await revoke(ends)
        statements = reads_of(ends)
        assert await ends.keys.find(CREDENTIAL) == found
        assert len(statements) == 1

    asyncio.run(use())
    ends.store.close()


def test_only_keys_are_kept_and_so_many_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_memory, "MOST_KEPT", 3)

    async def use(ends: StoreEnds) -> None:
        names = [f"key-{n}" for n in range(2, 9)]
        for name in names:
            await ends.keys.create(a_key(name), hash_of(name), actor=None)
        for n in range(100):
            assert await ends.keys.find(hash_of(f"unknown {n}")) is None
        assert ends.keys._remembered.now == {}
        for name in names * 2:
            assert await ends.keys.find(hash_of(name)) == a_key(name)
            assert hash_of(name) in ends.keys._remembered.now
            assert len(ends.keys._remembered.now) <= 3

    with_store(use)


NAMES = "abcd"


class Changing:
    """Keys that are made and ended at once, each looked for all the while. What was acknowledged is known."""

    def __init__(self, ends: StoreEnds) -> None:
        self._ends = ends
        self._begun: set[str] = set()
        self.there: set[str] = set()
        self.ended: set[str] = set()
        self.is_over = False

    async def change(self, kind: str, name: str) -> None:
        match kind:
            case "create" | "alone" if name not in self._begun:
                self._begun.add(name)
                before = set(self.there)
                made = a_key(name)
                await self._ends.keys.create(made, hash_of(name), actor=OPERATOR, alone=kind == "alone")
                self.there.add(name)
                if kind == "alone":
                    self.ended |= before
            case "revoke":
                if await revoke(self._ends, name) is not None:
                    self.ended.add(name)
            case "give up":
                impatient = asyncio.ensure_future(revoke(self._ends, name))
                await asyncio.sleep(0)
                impatient.cancel()
                await asyncio.wait([impatient])

    async def look(self) -> None:
        while not self.is_over:
            for name in NAMES:
                is_there, has_ended = name in self.there, name in self.ended
                found = await self._ends.keys.find(hash_of(name))
                assert found is not None or not is_there
                assert not has_ended or (found is not None and not found.active)
            await asyncio.sleep(0)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["create", "alone", "revoke", "give up"]), st.sampled_from(NAMES)),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 8),
)
def test_nothing_older_is_found_than_what_was_acknowledged(steps: list[tuple[str, str]], at_once: int) -> None:
    """The loop looks while the writer commits on its own thread; both take turns as often as can be."""

    async def use(ends: StoreEnds) -> None:
        changing, left = Changing(ends), iter(steps)

        async def work() -> None:
            for kind, name in left:
                await changing.change(kind, name)

        looking = asyncio.ensure_future(changing.look())
        await asyncio.gather(*(work() for _ in range(at_once)))
        await ends.ledger.release("nothing")  # queued after what somebody gave up, and so not before it
        changing.is_over = True
        await looking
        stored = dict(ends.rows("SELECT credential_hash, active FROM key"))
        for name in NAMES:
            found = await ends.keys.find(hash_of(name))
            assert (None if found is None else int(found.active)) == stored.get(hash_of(name))

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with_store(use)
    finally:
        sys.setswitchinterval(interval_s)
