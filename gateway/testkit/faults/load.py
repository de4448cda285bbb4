"""Many clients at once, some of them rude: they hang up, repeat blindly, or come in a crowd with one key."""

import asyncio
import hashlib
import itertools
import random
import time
from collections import deque
from collections.abc import Callable

from gateway.testkit.faults import client
from gateway.testkit.faults.records import Call, Operation
from gateway.testkit.faults.witness import NOT_READ, Witness

CLIENTS = 64
OPERATIONS_A_ROUND = 300
"""At least, unless the gateway ends earlier."""
LEAST_S = 1.3
"""Seconds that a round takes at least: a gateway sweeps every second."""
BLIND_REPEATS = 3
TURNED_AWAY = (
    "budget_exhausted",
    "concurrency_exhausted",
    "draining",
    "ledger_unavailable",
    "no_ready_route",
    "policy_unavailable",
)
TURNED_AWAY_S = 0.2
"""A refusal takes no time; without a pause the clients would do nothing else."""


class Load:
    """All operations of a run, and the clients that ask for them."""

    def __init__(self, seed: int, witness: Witness, violations: list[str]) -> None:
        self._rng = random.Random(f"{seed}/clients")
        self._witness = witness
        self._violations = violations
        self._numbers = itertools.count()
        self._again: deque[Operation] = deque(maxlen=2 * CLIENTS)
        self.operations: dict[str, Operation] = {}
        self.begun: list[Operation] = []
        """Those of the current round."""
        self.has_begun_all = asyncio.Event()
        """Set when no client begins anything any more; most still wait for an answer then."""

    async def run(self, port: int, token: str, is_over: Callable[[], bool]) -> None:
        """One round: new operations, and what was left open in earlier ones, until the round is over."""
        self._again.extend(operation for operation in self.begun if self._is_asked_again(operation))
        self.begun = []

        until_s = time.monotonic() + LEAST_S

        async def work() -> None:
            while not is_over() and (len(self.begun) < OPERATIONS_A_ROUND or time.monotonic() < until_s):
                operation = self._again.popleft() if self._again and self._rng.random() < 0.4 else self._new()
                self.begun.append(operation)
                await self._ask(operation, port, token)
            self.has_begun_all.set()

        await asyncio.gather(*(work() for _ in range(CLIENTS)))

    async def replay(self, operation: Operation, port: int, token: str) -> Call:
        """Ask again for an answer that was given; ``check`` sees that it is the same."""
        return await self._call(operation, port, token)

    def _is_asked_again(self, operation: Operation) -> bool:
        """Whoever lost the connection asks again; of those who were told that it is unknown, some do not believe it."""
        if operation.answer is not None:
            return False
        return not operation.is_settled or self._rng.random() < 0.2

    def _new(self) -> Operation:
        label = f"operation-{next(self._numbers)}"
        operation = self.operations[label] = Operation(label=label)
        return operation

    async def _ask(self, operation: Operation, port: int, token: str) -> None:
        match self._rng.choices(("plain", "leaves", "repeats", "crowd"), (50, 15, 22, 13))[0]:
            case "plain":
                await self._call(operation, port, token)
            case "leaves":
                operation.crowded = True
                await self._call(operation, port, token, leaves_after_s=self._rng.uniform(0.001, 0.06))
                await self._call(operation, port, token)
            case "repeats":
                for _ in range(1 + BLIND_REPEATS):
                    call = await self._call(operation, port, token)
                    if call.status == 200 or (call.end == "lost" and not call.body):
                        return
                    await asyncio.sleep(self._rng.uniform(0.01, 0.1))
            case "crowd":
                operation.crowded = True
                callers = self._rng.randint(2, 5)
                await asyncio.gather(*(self._call(operation, port, token) for _ in range(callers)))

    async def _call(self, operation: Operation, port: int, token: str, *, leaves_after_s: float | None = None) -> Call:
        call = await client.send(port, client.generation(token, operation.label), leaves_after_s=leaves_after_s)
        operation.calls.append(call)
        if call.end == "lost" or call.code in TURNED_AWAY:
            await asyncio.sleep(TURNED_AWAY_S)
        if call.status == 200:
            self._check_durable(call)
        return call

    def _check_durable(self, call: Call) -> None:
        """I13, in the moment of the answer: it is stored, and it is the stored one."""
        stored = self._witness.digest_of(call.operation_id)
        if stored not in (NOT_READ, hashlib.sha256(call.body).hexdigest()):
            self._violations.append(f"I13: operation {call.operation_id} was answered before its answer was durable")
