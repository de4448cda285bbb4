"""Does OPA answer? One that hangs is ended, so that its supervision starts another; a dead one it sees by itself."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from adapters.policy.engine import Reason
from gateway.ports.events import Events, Faulted

_PAUSE_S = 0.5
_LONGEST_SILENCE_S = 3.0
"""From the first question that timed out. Questions that time out together are no sign that OPA hangs for good."""


class Pulse:
    """What the decisions tell of OPA, and its health where nobody asks for one."""

    def __init__(self, health: Callable[[], Awaitable[Reason | None]], kill: Callable[[], None], events: Events):
        self._health = health
        self._kill = kill
        self._events = events
        self._silent_since_s: float | None = None
        self.answers = True
        """Whether the last decision or look at its health got an answer, of whatever kind."""

    def note(self, failure: Reason | None) -> None:
        """Note how a question ended; None is an answer. One that OPA refuses or spoils shows that it does not hang."""
        if failure is Reason.CLOSED:
            return
        self.answers = failure not in (Reason.TIMEOUT, Reason.UNREACHABLE)
        if failure is not Reason.TIMEOUT:
            self._silent_since_s = None
        elif self._silent_since_s is None:
            self._silent_since_s = time.monotonic()
        elif time.monotonic() - self._silent_since_s >= _LONGEST_SILENCE_S:
            self._silent_since_s = None
            self._events.emit(Faulted(where="policy.child", kind="hung"))
            self._kill()

    async def run(self) -> None:
        """Look at its health again and again, for ever."""
        while True:
            self.note(await self._health())
            await asyncio.sleep(_PAUSE_S)
