"""An event loop in a thread of its own, for parts that a synchronous step wants to call."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
CALL_WITHIN_S = 30.0


class LoopThread:
    """Runs coroutines; ``close`` ends the loop and the thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the result.

        :raises TimeoutError: after 30 s.
        """
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_WITHIN_S)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
