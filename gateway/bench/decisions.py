"""Decisions without a gateway around them: cold, remembered, and asked by many at once."""

import asyncio
import time
from collections.abc import Callable
from statistics import median

from msgspec import Struct

from gateway.bench import processes, scrape
from gateway.bench.children import BenchFault
from gateway.bench.figures import percentile
from gateway.bench.questions import Asked
from gateway.ports.policy import Policy

HITS = 2_000
TRIES = 5
ASKERS = 64
BURSTS = 20


class Deciding(Struct, frozen=True, kw_only=True):
    """One question, asked again and again. OPA remembers none."""

    question: str
    at_once: int
    decisions: int
    failed: int
    """Without an answer within its deadline; they count in all other figures."""
    per_s: float
    p50_ms: float
    p99_ms: float
    opa_us: float
    """CPU of OPA per decision."""
    client_us: float
    """CPU of the process that asks, per decision: what the gateway spends on it."""


class Hit(Struct, frozen=True, kw_only=True):
    """A question whose decision is remembered."""

    question: str
    cpu_us: float


class Burst(Struct, frozen=True, kw_only=True):
    """64 ask one new question at the same moment."""

    through: str
    all_ms: float
    """Until the last has its answer; the median of the bursts."""
    cpu_us: float
    """CPU of the process that asks, per asker."""
    failed: int
    """Askers without an answer, of all bursts."""
    decisions: float
    """That OPA was asked for, per burst."""


async def deciding(policy: Policy, opa_pid: int, asked: Asked, *, at_once: int, seconds: float) -> Deciding:
    """So many at any time, for so long."""
    took_s: list[float] = []
    failed = 0
    await asked.ask(policy, 0)
    opa_s, client_s, started_s = processes.cpu_s(opa_pid), time.process_time(), time.perf_counter()

    async def ask_on() -> None:
        nonlocal failed
        while (asked_s := time.perf_counter()) < started_s + seconds:
            decided = await asked.ask(policy, 0)
            took_s.append(time.perf_counter() - asked_s)
            failed += not decided

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(ask_on())
    opa_s, client_s = processes.cpu_s(opa_pid) - opa_s, time.process_time() - client_s
    return Deciding(
        question=asked.name,
        at_once=at_once,
        decisions=len(took_s),
        failed=failed,
        per_s=len(took_s) / (time.perf_counter() - started_s),
        p50_ms=percentile(took_s, 0.5) * 1e3,
        p99_ms=percentile(took_s, 0.99) * 1e3,
        opa_us=opa_s * 1e6 / len(took_s),
        client_us=client_s * 1e6 / len(took_s),
    )


async def hit(memo: Policy, asked: Asked) -> Hit:
    """Asks for what was decided.

    :raises BenchFault: OPA does not decide it.
    """
    if not any([await asked.ask(memo, 0) for _ in range(TRIES)]):
        raise BenchFault(f"{asked.name}: OPA gave no decision {TRIES} times.")
    client_s = time.process_time()
    for _ in range(HITS):
        await asked.ask(memo, 0)
    return Hit(question=asked.name, cpu_us=(time.process_time() - client_s) * 1e6 / HITS)


async def burst(policy: Policy, through: str, asked: Asked, counted: Callable[[], dict[str, float]]) -> Burst:
    """Each burst asks of another second, so that none finds the decision of the one before.

    :param counted: reads the metrics of the process that asks.
    """
    took_s: list[float] = []
    failed = 0
    before, client_s = counted(), time.process_time()
    for second in range(1, BURSTS + 1):
        started_s = time.perf_counter()
        decided = await asyncio.gather(*[asked.ask(policy, second) for _ in range(ASKERS)])
        failed += decided.count(False)
        took_s.append(time.perf_counter() - started_s)
    client_s = time.process_time() - client_s
    return Burst(
        through=through,
        all_ms=median(took_s) * 1e3,
        cpu_us=client_s * 1e6 / (BURSTS * ASKERS),
        failed=failed,
        decisions=scrape.count(before, counted(), "gateway_decision_seconds") / BURSTS,
    )
