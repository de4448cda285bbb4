"""Rounds: start the gateway, load it, strike it, check what is left, and start it again on the same data.

The plan, the clients' manners and the provider's misbehaviour are functions of the seed. Which operations are in
flight when a strike comes is not: that is a race, as it is in life. So are the rounds at the end, which go after
whatever has not fired.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from gateway.testkit.faults import checks, client
from gateway.testkit.faults.evidence import AttemptRow, Evidence
from gateway.testkit.faults.gateway_child import GatewayChild, gateway_child
from gateway.testkit.faults.load import Load
from gateway.testkit.faults.misbehaviour import ALL
from gateway.testkit.faults.operators import Operators
from gateway.testkit.faults.plan import OUTSIDE, STRIKES, Failpoint
from gateway.testkit.faults.provider import FaultProvider
from gateway.testkit.faults.report import progress
from gateway.testkit.faults.tally import Tally, Wanted, is_reached, next_round, shortfalls
from gateway.testkit.faults.witness import Witness

SEND_AFTER = "send.after"
REPLAYS_A_ROUND = 40
RELEASES_EVERY_S = 0.2
CROWDED = 56
"""Unknowns that leave too little room in the slots of the profile for a round."""


class Harness:
    """One run on one data directory."""

    def __init__(self, wanted: Wanted, child: GatewayChild, provider: FaultProvider, witness: Witness) -> None:
        self._wanted = wanted
        self._child = child
        self._provider = provider
        self._witness = witness
        self.tally = Tally()
        self._load = Load(wanted.seed, witness, self.tally.violations)
        self._operators = Operators(wanted.seed)
        self._final: dict[str, AttemptRow] = {}
        self._in_flight: set[str] = set()
        self._token = ""
        self._said = 0

    async def run(self, say: Callable[[str], None]) -> Tally:
        """All rounds and the end."""
        started_s = time.monotonic()
        await self._first_start()
        while not is_reached(self._wanted, self.tally):
            await self._round(next_round(self._wanted, self.tally))
            self.tally.rounds += 1
            self._count()
            self._say_new(say)
            self.tally.seconds = time.monotonic() - started_s
            say(progress(self._wanted, self.tally))
        if not self.tally.violations:
            await self._reconcile_everything()
            self._count()
        if self._wanted.bug is None:
            self.tally.violations.extend(shortfalls(self._wanted, self.tally))
        self.tally.seconds = time.monotonic() - started_s
        return self.tally

    def _say_new(self, say: Callable[[str], None]) -> None:
        for sentence in self.tally.violations[self._said :]:
            say(f"VIOLATION {sentence}")
        self._said = len(self.tally.violations)

    async def _first_start(self) -> None:
        """A calm server makes the clients' key."""
        self._child.start()
        await self._child.becomes_ready()
        port = self._child.port
        assert port is not None, "it is ready"
        body = {"tenant": "acme", "principal": "assistant", "label": ""}
        call = await client.send(port, client.request("POST", "/admin/keys", self._child.operator_token, body))
        self._token = json.loads(call.body)["token"]
        await self._child.terminate()

    async def _round(self, failpoints: tuple[Failpoint, ...]) -> None:
        child = self._child
        within = tuple(one for one in failpoints if one.point != SEND_AFTER)
        child.start(within, self._wanted.bug)
        self._witness.forget_slots()
        if await child.becomes_ready(self._make_room):
            self._witness.open(child.data)
            self._provider.on_generation = _strikes_at([one for one in failpoints if one.point == SEND_AFTER], child)
            await self._work()
            self._provider.on_generation = lambda: None
            if not child.has_ended:
                child.strike(OUTSIDE)
            await child.ends()
            self._witness.close()
        self._note_strikes()
        self._check()

    async def _make_room(self, port: int) -> None:
        """A profile that is quarantined, or whose slots are all stranded, is not ready until operators have acted."""
        await self._operators.release(port, self._child.operator_token)
        self._witness.open(self._child.data)
        await self._operators.make_room(self._witness.unknown(), port, self._child.operator_token)
        self._witness.close()

    async def _work(self) -> None:
        port = self._child.port
        assert port is not None, "it is ready"
        child, token = self._child, self._token

        async def look_after() -> None:
            while not child.has_ended:
                child.wake()
                await asyncio.sleep(0.01)

        async def release() -> None:
            while not child.has_ended:
                await self._operators.release(port, child.operator_token)
                await asyncio.sleep(RELEASES_EVERY_S)

        watch = asyncio.gather(look_after(), release())
        await self._replay_some(port)
        if len(self._witness.unknown()) > CROWDED:
            await self._operators.make_room(self._witness.unknown(), port, child.operator_token)
        unknown = self._witness.unknown()
        # The last clients still wait when the last operation has begun: kill -9 finds them in flight.
        self._load.has_begun_all.clear()
        load = asyncio.ensure_future(self._load.run(port, token, lambda: child.has_ended))
        operators = asyncio.ensure_future(self._operators.act_on_some(unknown, port, child.operator_token))
        await self._load.has_begun_all.wait()
        await operators
        if not child.has_ended:
            child.strike(OUTSIDE)
        await load
        await watch

    async def _replay_some(self, port: int) -> None:
        """Answers of the last round, asked for again."""
        answered = [operation for operation in self._load.begun if operation.answer is not None]
        for operation in answered[:REPLAYS_A_ROUND]:
            await self._replay(operation.label, port)

    async def _replay(self, label: str, port: int) -> None:
        operation = self._load.operations[label]
        call = await self._load.replay(operation, port, self._token)
        if call.end != "answered" or call.status == 503:
            return  # struck meanwhile; the checks compare whatever came back
        self.tally.replays += 1
        if call.status != 200 or not call.replayed or call.body != operation.answer:
            self.tally.violations.append(f"I13: the replay of {label} is not its answer ({call.status} {call.code})")

    def _note_strikes(self) -> None:
        fired = self._child.fired
        self.tally.fired.update(one.place for one in fired)
        strikes_s = [one.at_s for one in fired if one.place.action in STRIKES]
        for operation in self._load.begun:
            if any(operation.in_flight(strike_s) for strike_s in strikes_s):
                self._in_flight.add(operation.label)

    def _check(self) -> None:
        found = checks.check(self._child.data, self.evidence())
        self.tally.violations.extend(sentence for sentence in found if sentence not in self.tally.violations)

    def evidence(self) -> Evidence:
        """What was seen from outside so far."""
        return Evidence(
            seen=self._provider.seen,
            operations=self._load.operations,
            acted=self._operators.acted,
            final=self._final,
            limits=self._child.limits,
            most_slots=self._witness.most_slots,
        )

    async def _reconcile_everything(self) -> None:
        """A calm start at the end: every answer is replayed, every unknown written off, and nothing is held."""
        child = self._child
        child.start(bug=self._wanted.bug)
        self._witness.forget_slots()
        await child.becomes_ready(self._make_room)
        port = child.port
        assert port is not None, "it is ready"
        self._witness.open(child.data)
        for operation in self._load.operations.values():
            if operation.answer is not None:
                await self._replay(operation.label, port)
        for operation_id in self._witness.unknown():
            call = await self._operators.write_off(operation_id, port, child.operator_token)
            if call.status != 200:
                self.tally.violations.append(f"operation {operation_id} could not be written off ({call.code})")
        self._witness.close()
        if (code := await child.terminate()) != 0:
            self.tally.violations.append(f"the gateway ended with {code} after SIGTERM")
        self._check()
        self.tally.violations.extend(checks.held_after_all(child.data))

    def _count(self) -> None:
        tally = self.tally
        misbehaved = {one.label for one in self._provider.seen if ALL[one.behaviour].misbehaves}
        tally.operations = len(self._load.operations)
        tally.in_flight, tally.misbehaved = len(self._in_flight), len(misbehaved)
        tally.struck = len(self._in_flight | misbehaved)
        tally.requests = len(self._provider.seen)
        tally.behaviours = Counter(one.behaviour for one in self._provider.seen)
        tally.acts = sum(bool(act.state) for act in self._operators.acted)
        tally.states = checks.states(self._child.data)
        tally.short = Counter(
            call.short for operation in self._load.operations.values() for call in operation.calls if call.short
        )


def _strikes_at(failpoints: list[Failpoint], child: GatewayChild) -> Callable[[], None]:
    """Strike when the provider has its nth request, which it has not answered yet."""
    received = 0

    def on_generation() -> None:
        nonlocal received
        received += 1
        for failpoint in failpoints:
            if received == failpoint.nth and not child.has_ended:
                child.strike(failpoint.place, failpoint.seconds)

    return on_generation


async def run(wanted: Wanted, folder: Path, say: Callable[[str], None]) -> Tally:
    """Run in a folder of its own, which keeps the database and the log afterwards."""
    witness = Witness()
    provider = FaultProvider(wanted.seed, witness)
    async with provider:
        with gateway_child(folder, provider.port) as child:
            return await Harness(wanted, child, provider, witness).run(say)
