"""The gateway of the harness: a process of its own that is started with a plan, watched, stopped, woken and killed."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec

from gateway.testkit.faults import client, misbehaviour
from gateway.testkit.faults.failpoints import Fired, read_fired
from gateway.testkit.faults.plan import Failpoint, Place
from gateway.testkit.faults.rooms import PROFILE_EDITS, Limits, leave_room
from gateway.testkit.process import GatewayProcess
from gateway.testkit.registry_copy import NO_CANARY, Edit

READY_WITHIN_S = 60.0
STUCK_S = 1.0
ENDS_WITHIN_S = 20.0
LOOKS_EVERY_S = 0.01
_PROFILE = "profiles/smollm2-135m.yaml"
EDITS = (
    Edit(_PROFILE, "connect_ms: 2000", "connect_ms: 300"),
    Edit(_PROFILE, "total_ms: 60000", "total_ms: 1500"),
    Edit(_PROFILE, "capabilities:", f"max_answer_bytes: {misbehaviour.MAX_ANSWER_BYTES}\ncapabilities:"),
    NO_CANARY,
    # A readiness canary that was struck is tried again after this time.
    Edit(_PROFILE, "startup_s: 60", "startup_s: 1"),
    *PROFILE_EDITS,
)
"""Short deadlines, so that a round is short; and limits that refuse some, for which see rooms.py."""


class GatewayChild:
    """One data directory, and one server after the other on it."""

    def __init__(self, folder: Path, provider_port: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._process = GatewayProcess(folder, provider_port, EDITS)
        self.data = self._process.data
        self._from_outside: list[Fired] = []
        self.limits = Limits(0, 0, 0)
        """Those of the last start."""

    def start(self, failpoints: tuple[Failpoint, ...] = (), bug: str | None = None) -> None:
        """Start the next server; it forgets what struck the last one."""
        self._from_outside = []
        self.limits = leave_room(self._process.registry, self.data)
        self._process.start_planned({"failpoints": msgspec.to_builtins(failpoints), "bug": bug})

    async def becomes_ready(self, make_room: Callable[[int], Awaitable[None]] | None = None) -> bool:
        """Whether it serves; False if it ended first, as a strike at its first sweep makes it.

        ``make_room`` is called with its port while it does not: if every slot is stranded, only operators can help.

        :raises TimeoutError: with what it wrote, after a minute.
        """
        deadline_s, stuck_s = time.monotonic() + READY_WITHIN_S, time.monotonic() + STUCK_S
        while not self.has_ended:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"the gateway did not become ready: {self._process.log.read_text()[-2000:]}")
            self.wake()
            if (port := self.port) is not None:
                call = await client.send(port, client.request("GET", "/readyz", "none", {}))
                if call.status == 200:
                    return True
                if make_room is not None and time.monotonic() > stuck_s:
                    await make_room(port)
                    stuck_s = time.monotonic() + STUCK_S
            await asyncio.sleep(LOOKS_EVERY_S)
        return False

    @property
    def port(self) -> int | None:
        """Where it listens; None before it does."""
        with contextlib.suppress(FileNotFoundError):
            return int(str(json.loads((self.data / "address.json").read_text())["url"]).rpartition(":")[2])
        return None

    @property
    def operator_token(self) -> str:
        return (self.data / "operator.key").read_text().strip()

    @property
    def fired(self) -> list[Fired]:
        """What has struck this server, in its process and from outside."""
        return [*read_fired(self._process.strikes), *self._from_outside]

    @property
    def has_ended(self) -> bool:
        return self._process.ended() is not None

    def strike(self, place: Place, seconds: float = 0.0) -> None:
        """Strike from outside: kill -9, or stop until ``wake`` finds that the time is up."""
        self._from_outside.append(Fired(time.monotonic(), place, seconds))
        self._signal(signal.SIGKILL if place.action == "kill" else signal.SIGSTOP)

    def wake(self) -> None:
        """Continue a stopped server whose time is up."""
        until_s = [fired.at_s + fired.seconds for fired in self.fired if fired.place.action == "stop"]
        if until_s and max(until_s) <= time.monotonic() and self._is_stopped:
            self._signal(signal.SIGCONT)

    async def ends(self) -> int:
        """Wait for its end; the exit code, negative for a signal.

        :raises TimeoutError: with what it wrote, after 20 s.
        """
        deadline_s = time.monotonic() + ENDS_WITHIN_S
        while not self.has_ended:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"the gateway did not end: {self._process.log.read_text()[-2000:]}")
            self.wake()
            await asyncio.sleep(LOOKS_EVERY_S)
        return self._process.ended() or 0

    async def terminate(self) -> int:
        """SIGTERM, and its exit code."""
        self._signal(signal.SIGTERM)
        return await self.ends()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    @property
    def _is_stopped(self) -> bool:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            return Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        return False

    def close(self) -> None:
        """Kill it if it still runs."""
        self._process.close()


@contextlib.contextmanager
def gateway_child(folder: Path, provider_port: int) -> Iterator[GatewayChild]:
    """A gateway on an empty data directory below ``folder``; nothing of it runs afterwards."""
    child = GatewayChild(folder, provider_port)
    try:
        yield child
    finally:
        child.close()
