"""Cost of the store: python tests/store/measure.py. CPU is of the whole process, tasks and futures included."""

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from contract.ledger_contract import CREDENTIAL, a_claim, a_key, a_source, dispatched, granted, outcome
from store_support import StoreEnds

from gateway.domain.operation import State
from gateway.domain.request import SourceRef

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


async def main(ends: StoreEnds) -> None:
    await ends.keys.create(a_key(), CREDENTIAL, actor=None)

    async def claim(key: str) -> None:
        await granted(ends, key)

    async def lifecycle(key: str) -> None:
        sent = await dispatched(ends, key)
        await ends.ledger.settle(outcome(sent.dispatch_id, State.COMPLETED, body=BODY))

    await measured("warm-up", lifecycle, 64, 500, ends)
    for name, act, total in (("claim", claim, 8_000), ("lifecycle", lifecycle, 4_000)):
        for at_once in (1, 16, 64):
            await measured(name, act, at_once, total if at_once > 1 else total // 8, ends)

    sent = await dispatched(ends, "read")
    await ends.ledger.settle(outcome(sent.dispatch_id, State.COMPLETED, body=BODY))
    await ends.sources.put(a_source())
    identity = a_claim("read").identity
    refs = (SourceRef("handbook", "r1"),)
    await read("operations.find", lambda: ends.operations.find(identity))
    await read("operations.get", lambda: ends.operations.get(sent.operation_id))
    await read("result", lambda: ends.operations.result(sent.operation_id))
    await read("keys.find", lambda: ends.keys.find(CREDENTIAL))
    await read("sources.facts", lambda: ends.sources.facts(refs))
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
