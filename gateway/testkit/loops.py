"""An event loop in a thread of its own, for parts that a synchronous step wants to call."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
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

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run in the background."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Callable[[], object]) -> None:
        """Run a plain function on the loop's thread."""

        async def once() -> None:
            work()

        self.call(once())

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def until(holds: Callable[[], bool], otherwise: str, *, within_s: float = 15.0) -> None:
    """Wait from another thread for something to hold.

    :raises AssertionError: with ``otherwise``, if it does not within its time.
    """
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.01)
