"""Does OPA answer? One that hangs is ended, so that its supervision starts another; a dead one it sees by itself.

An answer that is undefined, or of another revision, says that OPA does not have the rules that it should, whatever is
asked. The other ways to fail may be one question's own, so that a caller could bring them about: they pass.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from adapters.policy.engine import Reason
from gateway.ports.events import Events, Faulted

_PAUSE_S = 0.5
_LONGEST_SILENCE_S = 3.0
"""From the first question that timed out. Questions that time out together are no sign that OPA hangs for good."""


_OF_OTHER_RULES = (Reason.UNDEFINED, Reason.FOREIGN_REVISION)


class Pulse:
    """What the decisions tell of OPA, and its health where nobody asks for one.

    :param ask_again: asks a question of an entrypoint, and notes how it ended.
    """

    def __init__(
        self,
        health: Callable[[], Awaitable[Reason | None]],
        ask_again: Callable[[str], Awaitable[None]],
        kill: Callable[[], None],
        events: Events,
    ):
        self._health = health
        self._ask_again = ask_again
        self._kill = kill
        self._events = events
        self._silent_since_s: float | None = None
        self._is_heard = True
        self._without_rules: set[str] = set()
        """Entrypoints whose last answer was of other rules than it should be."""

    @property
    def answers(self) -> bool:
        """Whether the last question got an answer of whatever kind, and no entrypoint is without its rules."""
        return self._is_heard and not self._without_rules

    def note(self, failure: Reason | None, entrypoint: str = "") -> None:
        """Note how a question ended; None is an answer. One that OPA refuses or spoils shows that it does not hang.

        :param entrypoint: what was asked; empty for a look at its health, which says nothing of the rules.
        """
        if failure is Reason.CLOSED:
            return
        self._is_heard = failure not in (Reason.TIMEOUT, Reason.UNREACHABLE)
        if entrypoint and failure in _OF_OTHER_RULES:
            self._without_rules.add(entrypoint)
        elif failure is None:
            self._without_rules.discard(entrypoint)
        if failure is not Reason.TIMEOUT:
            self._silent_since_s = None
        elif self._silent_since_s is None:
            self._silent_since_s = time.monotonic()
        elif time.monotonic() - self._silent_since_s >= _LONGEST_SILENCE_S:
            self._silent_since_s = None
            self._events.emit(Faulted(where="policy.child", kind="hung"))
            self._kill()

    async def run(self) -> None:
        """Look at its health again and again, for ever; at its rules, while some are missing.

        A gateway that is not ready is asked nothing, so that no answer of its own accord would make it ready again.
        """
        while True:
            self.note(await self._health())
            for entrypoint in tuple(self._without_rules):
                await self._ask_again(entrypoint)
            await asyncio.sleep(_PAUSE_S)
