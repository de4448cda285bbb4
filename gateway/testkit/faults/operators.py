"""Operators at work while everything breaks: they write off, reconcile and free slots of some unknowns."""

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

from gateway.testkit.faults import client
from gateway.testkit.faults.records import Acted, Call
from gateway.testkit.faults.rooms import PROFILE

ACTS_A_ROUND = 10
LEFT_OPEN = 40
"""Unknowns that are left where there were too many: the slots of the profile are limited."""
AT_ONCE = 8
_ACTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("write-off", {"reason": "Nobody can say any more."}),
    ("reconcile", {"evidence": "The provider's account shows nothing.", "found": "no_effect"}),
    ("reconcile", {"evidence": "The provider's account.", "found": "charged", "used": {"input": 20, "output": 3}}),
    ("free-slot", {"reason": "The engine was started again."}),
)
_WEIGHTS = (40, 20, 20, 20)


class Operators:
    """Keeps what they asked for and what they were told."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(f"{seed}/operators")
        self.acted: list[Acted] = []

    async def act_on_some(self, unknown: Sequence[str], port: int, token: str) -> None:
        """A few acts, one after the other."""
        for operation_id in self._rng.sample(list(unknown), min(ACTS_A_ROUND, len(unknown))):
            name, body = self._rng.choices(_ACTS, _WEIGHTS)[0]
            await self._act(operation_id, name, body, port, token)

    async def make_room(self, unknown: Sequence[str], port: int, token: str) -> None:
        """Write off all but a few, several at once."""
        many = list(unknown[: max(0, len(unknown) - LEFT_OPEN)])
        for first in range(0, len(many), AT_ONCE):
            await asyncio.gather(*(self.write_off(one, port, token) for one in many[first : first + AT_ONCE]))

    async def release(self, port: int, token: str) -> None:
        """Let the profile serve again: an answer of another model has quarantined it. Refused where none has."""
        body = {"reason": "The engine was looked at."}
        await client.send(port, client.request("POST", f"/admin/profiles/{PROFILE}/release", token, body))

    async def write_off(self, operation_id: str, port: int, token: str) -> Call:
        return await self._act(operation_id, *_ACTS[0], port, token)

    async def _act(self, operation_id: str, name: str, body: dict[str, Any], port: int, token: str) -> Call:
        path = f"/admin/operations/{operation_id}/{name}"
        call = await client.send(port, client.request("POST", path, token, body))
        state = json.loads(call.body)["state"] if call.status == 200 else ""
        self.acted.append(Acted(operation_id=operation_id, state=state))
        return call
