"""Loops that must not end while a policy serves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from gateway.ports.events import Events, Faulted


def start_loop(
    loop: Coroutine[Any, Any, None], where: str, events: Events, on_fatal: Callable[[], None]
) -> asyncio.Task[None]:
    """Run a loop as a task. If it breaks, that is an event, and ``on_fatal`` is called."""

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            events.emit(Faulted(where=where, kind=type(error).__name__))
            on_fatal()

    task = asyncio.create_task(loop)
    task.add_done_callback(ended)
    return task


async def end_loop(task: asyncio.Task[None]) -> None:
    """Cancel it and wait for its end. Raises nothing of its own."""
    task.cancel()
    await asyncio.wait([task])
