"""Strikes in the server's own process."""

import os
import signal
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

from msgspec import Struct

from gateway.testkit.faults.plan import Action, Failpoint, Place, ServerPlan


class Fired(Struct, frozen=True):
    """A strike that happened, or is about to. ``at_s`` is the machine's monotonic clock, the same for all processes."""

    at_s: float
    place: Place
    seconds: float


class Failpoints:
    """Counts passes of every point, also from the writer's thread, and strikes at the planned ones."""

    def __init__(self, plan: ServerPlan) -> None:
        self._planned = {failpoint.point: failpoint for failpoint in plan.failpoints}
        self._passes: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._log = os.open(plan.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def reach(self, point: str) -> None:
        """Pass a point.

        :raises sqlite3.OperationalError: if an error of the disk is planned here.
        """
        planned = self._planned.get(point)
        if planned is None:
            return
        with self._lock:
            self._passes[point] += 1
            if not planned.nth <= self._passes[point] < planned.nth + planned.times:
                return
            # Written in one call before the act: what is in the kernel survives kill -9.
            line = f"{time.monotonic()} {planned.point} {planned.action} {planned.seconds}\n"
            os.write(self._log, line.encode())
        _act(planned)


def _act(failpoint: Failpoint) -> None:
    match failpoint.action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)  # it arrives before this ends
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "eio":
            raise sqlite3.OperationalError("disk I/O error")
        case "enospc":
            raise sqlite3.OperationalError("database or disk is full")
        case "slow":
            time.sleep(failpoint.seconds)


def read_fired(log: Path) -> list[Fired]:
    """The strikes so far; none if the server has not opened its log yet."""
    if not log.exists():
        return []
    fired = []
    for line in log.read_text().splitlines():
        at, point, action, seconds = line.split()
        fired.append(Fired(float(at), Place(point, _action(action)), float(seconds)))
    return fired


def _action(word: str) -> Action:
    actions: tuple[Action, ...] = ("kill", "stop", "eio", "enospc", "slow")
    return next(action for action in actions if action == word)
