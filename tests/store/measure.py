"""Cost of the store: python tests/store/measure.py [OPERATIONS]. CPU is of the whole process, tasks included.

With a number, also what an operator reads from a ledger of so many operations, of which few are unlike the others.
"""

import asyncio
import hashlib
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import uuid_utils
from contract.ledger_ends import (
    CREDENTIAL,
    a_claim,
    a_key,
    budgets,
    decision,
    dispatched,
    grant,
    granted,
    key_hash,
    left_unknown,
    outcome,
    put_keys,
)
from store_support import StoreEnds

from gateway.domain.limits import Ceilings
from gateway.domain.operation import Identity, State
from gateway.domain.request import SourceRef
from gateway.ports.reads import OperationFilter

BODY = b"x" * 600


class SystemClock:
    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def boot_s(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def measured(name: str, act: Callable[[str], Awaitable[None]], at_once: int, total: int, ends: StoreEnds) -> None:
    keys = iter(range(total))
    latencies: list[float] = []

    async def worker() -> None:
        for key in keys:
            begun = time.perf_counter()
            await act(f"{name} {at_once} {key}")
            latencies.append(time.perf_counter() - begun)

    commits, begun, cpu = len(ends.events.commits), time.perf_counter(), cpu_s()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    cpu, wall = cpu_s() - cpu, time.perf_counter() - begun
    latencies.sort()
    p50, p99 = latencies[total // 2], latencies[total * 99 // 100]
    print(
        f"{name:10} {at_once:3} at once: {total / wall:7.0f}/s  {cpu / total * 1e6:6.0f} us CPU  "
        f"p50 {p50 * 1e3:6.2f} ms  p99 {p99 * 1e3:6.2f} ms  {len(ends.events.commits) - commits} commits"
    )


async def read(name: str, act: Callable[[], Awaitable[object]], times: int = 5_000) -> None:
    begun = time.thread_time()
    for _ in range(times):
        await act()
    print(f"{name:16} {(time.thread_time() - begun) / times * 1e6:5.1f} us")


async def lists(ends: StoreEnds, total: int) -> None:
    """Searches whose matches are the newest, the oldest or none, and the reads of single operations."""
    credential = hashlib.sha256(b"of another tenant").digest()
    await ends.keys.create(a_key("key-2", tenant="umbrella", principal="mailer"), credential, actor=None)
    other = {"identity": Identity("umbrella", "mailer", key_hash("other")), "credential_hash": credential}
    await left_unknown(ends, "the oldest", profile="large", **other)
    keys = iter(range(total))
    decided: list[str] = []

    async def worker() -> None:
        for key in keys:
            decided.append(str(uuid_utils.uuid7()))
            sent = await dispatched(ends, f"filled {key}", access=decision("access", id=decided[-1]))
            state = State.UNKNOWN if key % 1_000 == 0 else State.COMPLETED
            await ends.ledger.settle(outcome(sent.dispatch_id, state, body=BODY))

    await asyncio.gather(*(worker() for _ in range(256)))
    searches = {
        "newest": OperationFilter(),
        "completed": OperationFilter(states=(State.COMPLETED,)),
        "unknown": OperationFilter(states=(State.UNKNOWN,)),
        "granted: none": OperationFilter(states=(State.GRANTED,)),
        "all states but one": OperationFilter(states=tuple(set(State) - {State.GRANTED}), limit=500),
        "large tenant": OperationFilter(tenant="acme"),
        "oldest's tenant": OperationFilter(tenant="umbrella"),
        "oldest's profile": OperationFilter(profile="large"),
        "unknown of tenant": OperationFilter(states=(State.UNKNOWN,), tenant="umbrella"),
    }
    for name, wanted in searches.items():
        before_s, found = time.perf_counter(), await ends.operations.search(wanted)
        print(f"search {name:20} {(time.perf_counter() - before_s) * 1e3:7.1f} ms, {len(found)} found")
    (audited,) = ends.rows("SELECT count(*) FROM audit")[0]
    for name, wanted_id in {
        "first": decided[0],
        "last": decided[-1],
        "missing": str(uuid_utils.uuid7()),
        "of another day": "018cc251-f400-7000-8000-000000000000",
    }.items():
        before_s, decided_so = time.perf_counter(), await ends.decisions.find(wanted_id)
        took_ms = (time.perf_counter() - before_s) * 1e3
        print(f"decision {name:16} {took_ms:7.1f} ms of {audited} rows, {'found' if decided_so else 'none'}")
    before_s, in_use = time.perf_counter(), await ends.accounts.in_use()
    print(f"in use {(time.perf_counter() - before_s) * 1e3:.1f} ms, {len(in_use.principals)} principals")
    before_s, stranded = time.perf_counter(), await ends.accounts.stranded()
    print(f"stranded {(time.perf_counter() - before_s) * 1e3:.1f} ms, {len(stranded)} found")
    lost = (await ends.operations.search(searches["unknown"]))[0].id
    await read("timeline", lambda: ends.operations.timeline(lost))


async def main(ends: StoreEnds) -> None:
    await put_keys(ends)

    async def claim(key: str) -> None:
        await granted(ends, key)

    many = dict.fromkeys(Ceilings.__struct_fields__, 2**50)
    limits = budgets(of_profile=many, of_quota_scope=many, of_tenant=many)

    async def limited(key: str) -> None:
        await granted(ends, key, budgets=limits)

    async def lifecycle(key: str) -> None:
        sent = await dispatched(ends, key)
        await ends.ledger.settle(outcome(sent.dispatch_id, State.COMPLETED, body=BODY))

    async def granting(key: str) -> None:
        await grant(ends, key)

    refs = tuple(SourceRef(name, "r1") for name in ("handbook", "faq", "contracts"))
    for ref in refs:
        await grant(ends, ref.id)

    async def citing(key: str) -> None:
        await granted(ends, key, sources=refs, source_versions=(1, 1, 1))

    await measured("warm-up", lifecycle, 64, 500, ends)
    for name, act, total in (
        ("claim", claim, 8_000),
        ("all limits", limited, 8_000),
        ("3 sources", citing, 8_000),
        ("lifecycle", lifecycle, 4_000),
        ("grant", granting, 4_000),
    ):
        for at_once in (1, 16, 64):
            await measured(name, act, at_once, total if at_once > 1 else total // 8, ends)

    sent = await dispatched(ends, "read")
    await ends.ledger.settle(outcome(sent.dispatch_id, State.COMPLETED, body=BODY))
    identity = a_claim("read").identity
    await read("operations.find", lambda: ends.operations.find(identity))
    await read("operations.get", lambda: ends.operations.get(sent.operation_id))
    await read("result", lambda: ends.operations.result(sent.operation_id))
    await read("keys.find", lambda: ends.keys.find(CREDENTIAL))
    await read("facts of 1", lambda: ends.sources.facts(refs[:1]))
    await read("facts of 3", lambda: ends.sources.facts(refs))
    if sys.argv[1:]:
        await lists(ends, int(sys.argv[1]))
    begun = time.perf_counter()
    assert ends.store.verify() == []
    took_s = time.perf_counter() - begun
    (operations,) = ends.rows("SELECT count(*) FROM operation")[0]
    size = sum(path.stat().st_size for path in ends.directory.iterdir())
    print(f"verify: {took_s:.2f} s for {operations} operations of {size / operations / 1e3:.1f} kB each")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        opened = StoreEnds(Path(folder), clock=SystemClock())
        asyncio.run(main(opened))
        opened.store.close()
