"""OPA as a child of the gateway: shut off from everything, and started again when it ends."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from adapters.policy import die_with_parent
from adapters.policy.background import end_loop, start_loop
from gateway.ports.events import Events, Faulted

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0
_STEADY_S = 10.0
"""A child that lived this long has not failed at its start, so the next one is started at once."""
_PATIENCE_S = 3.0
_KEPT_BYTES = 4096


class Child:
    """One OPA over one bundle. Open it from a thread that lives as long as it: the child dies with that thread."""

    def __init__(self, opa: Path, bundle: Path, socket: Path, events: Events) -> None:
        self._command = _command(opa, bundle, socket)
        self._events = events
        self._process: asyncio.subprocess.Process | None = None
        self._said = b""
        self._supervision: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Of the running process; None while there is none."""
        return self._process.pid if self._process and self._process.returncode is None else None

    @property
    def said(self) -> str:
        """The end of what it wrote to its standard error."""
        return self._said.decode(errors="replace")

    async def start(self) -> None:
        """Start the process once. It may still be loading when this returns, or have ended."""
        self._said = b""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env={},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            # Signals to the gateway's process group, such as Ctrl-C, are the gateway's to answer: it drains, and needs
            # decisions until it has. A process group of its own would be enough; uvloop offers only a session.
            start_new_session=True,
        )

    def supervise(self, on_fatal: Callable[[], None]) -> None:
        """From now on, start it again whenever it ends; ``on_fatal`` is called if that cannot go on."""
        self._supervision = start_loop(self._keep_running(), "policy.child", self._events, on_fatal)

    def kill(self) -> None:
        """End it without its consent: a stopped process takes no other signal."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def ended(self) -> int:
        """Wait for the running process; its exit status."""
        process = self._process
        if process is None or process.stderr is None:
            raise RuntimeError("The child was not started.")
        while piece := await process.stderr.read(_KEPT_BYTES):
            self._said = (self._said + piece)[-_KEPT_BYTES:]
        return await process.wait()

    async def close(self) -> None:
        """End it. Decisions in flight are the caller's to wait for."""
        if self._supervision:
            await end_loop(self._supervision)
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self.ended(), _PATIENCE_S)
        except TimeoutError:
            self.kill()
            await self.ended()

    async def _keep_running(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            started = time.monotonic()
            await self.ended()
            self._events.emit(Faulted(where="policy.child", kind="ended"))
            if time.monotonic() - started > _STEADY_S:
                pause_s = _FIRST_PAUSE_S
            is_started = False
            while not is_started:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                is_started = await self._starts()

    async def _starts(self) -> bool:
        """Start it, unless this machine has no descriptor, process or memory left for it just now."""
        try:
            await self.start()
        except OSError as error:
            self._events.emit(Faulted(where="policy.child", kind=type(error).__name__))
            return False
        return True


def _command(opa: Path, bundle: Path, socket: Path) -> list[str]:
    """No network, no version check, no logs; the bundle comes last, because ``-b`` takes all that follows."""
    run = ["run", "--server", "--addr", f"unix://{socket}", "--unix-socket-perm", "600"]
    quiet = ["--skip-version-check", "--log-level", "error", "--shutdown-grace-period", "1"]
    wrapper = [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())]
    return [*wrapper, str(opa.absolute()), *run, *quiet, "--bundle", str(bundle)]
