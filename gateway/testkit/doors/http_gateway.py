"""A real gateway in a thread, over a copy of the registry: what the HTTP door starts, reloads and ends."""

import asyncio
import io
import json
import logging
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

from adapters.telemetry import set_up_logs
from gateway.domain.errors import StartRefused
from gateway.server import Server, serve
from gateway.service.assembly import Ports
from gateway.settings import Settings
from gateway.testkit.faulty import FaultyLedger
from gateway.testkit.loops import until
from gateway.testkit.ports import with_ports
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry, slots

POLICIES = EXAMPLE.parent / "policies"
PROFILE = "smollm2-135m"
SPARE = "spare"
SLOTS = 64
"""Of the scripted engine, and the profile's concurrency."""
READY_WITHIN_S = 60.0
WAIT_FOR_LEDGER_S = 0.3


class HttpGateway:
    """Started at first use, and again on the same data after ``stop``."""

    def __init__(self, folder: Path, engine_port: int) -> None:
        self._folder = folder
        self._engine_port = engine_port
        self.edits: list[Edit] = [*slots(SLOTS)]
        """Of the example registry, for the next start or reload."""
        self.settings: dict[str, Any] = {}
        self.expect_ready = True
        """False: the engine is not what was approved."""
        self.log = io.StringIO()
        self._log_handlers: list[logging.Handler] | None = None
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._exit_code: int | None = None
        self._start_refused = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ledger: FaultyLedger | None = None

    @property
    def is_running(self) -> bool:
        return self._server is not None

    @property
    def server(self) -> Server:
        assert self._server is not None, "the gateway was not started"
        return self._server

    @property
    def ledger(self) -> FaultyLedger:
        assert self._ledger is not None, "the gateway was not started"
        return self._ledger

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        assert self._loop is not None, "the gateway was not started"
        return self._loop

    @property
    def data(self) -> Path:
        return self._folder / "data"

    @property
    def port(self) -> int:
        url = json.loads((self.data / "address.json").read_text())["url"]
        return int(url.rpartition(":")[2])

    def start(self) -> None:
        """Start the gateway unless it runs, and wait until it serves."""
        if self._server is not None:
            return
        self.data.mkdir(exist_ok=True)
        self._log_handlers = self._log_handlers or logging.getLogger().handlers[:]
        set_up_logs("debug", self.log, hooks=False)
        self._registry = self._copy_registry()
        # The golden decisions belong to the registry as it is committed; an edit would contradict them.
        policies = self._registry.parent / "policies"
        shutil.copytree(POLICIES, policies, ignore=shutil.ignore_patterns("golden"))
        settings = Settings(
            registry=str(self._registry),
            policies=str(policies),
            data=str(self.data),
            listen="127.0.0.1:0",
            drain_s=2.0,
            **self.settings,
        )
        self._server = self._serve(settings)
        self.wait_until_settled()

    def edit_files(self, edits: tuple[Edit, ...]) -> None:
        """Edit the files that the running gateway would load at a reload."""
        self.edits.extend(edits)
        edited = self._copy_registry()
        shutil.rmtree(self._registry)
        edited.replace(self._registry)

    def wait_until_settled(self) -> None:
        """Wait until those profiles are ready that have an engine here, or are seen not to be what was approved."""
        until(self._is_settled, "the gateway did not become what was expected")

    def stop(self) -> int | None:
        """End the gateway and return its exit code."""
        if self._server is not None and self._thread is not None:
            self._server.handle_exit(signal.SIGTERM, None)
            self._thread.join(READY_WITHIN_S)
            assert not self._thread.is_alive(), "the gateway did not end"
        self._server = None
        return self._exit_code

    def give_logs_back(self) -> None:
        """Logging as it was before the first start."""
        if self._log_handlers is not None:
            logging.getLogger().handlers[:] = self._log_handlers

    def _serve(self, settings: Settings) -> Server:
        started = threading.Event()
        servers: list[Server] = []

        def on_start(server: Server) -> None:
            self._loop = asyncio.get_running_loop()
            server.gateway.services.settling.answer_within_s = WAIT_FOR_LEDGER_S
            servers.append(server)
            started.set()

        def run() -> None:
            try:
                self._exit_code = asyncio.run(serve(settings, decorate=self._decorate, on_start=on_start))
            except StartRefused as refused:
                self._start_refused = str(refused)
            started.set()

        self._thread = threading.Thread(target=run, name="gateway")
        self._thread.start()
        assert started.wait(READY_WITHIN_S), "the gateway did not start"
        assert servers, f"the gateway ended with {self._exit_code}: {self._start_refused}"
        return servers[0]

    def _copy_registry(self) -> Path:
        copies = self._folder / f"copy-{time.monotonic_ns()}"
        return copy_registry(copies, self.edits, engine_port=self._engine_port)

    def _is_settled(self) -> bool:
        services = self.server.gateway.services
        profiles = services.in_force.active.snapshot.profiles
        # What has a mark will not become ready, and stays as it is until a person takes the mark away.
        awaited = [profiles[id] for id in (PROFILE, SPARE) if id in profiles and not services.board.marks_of(id)]
        states = {services.board.of(profile).state for profile in awaited}
        if not self.expect_ready:
            return self.server.started and (len(awaited) == 0 or bool(states & {"mismatch", "starting", "unready"}))
        return self.server.started and states <= {"ready"}

    def _decorate(self, ports: Ports) -> Ports:
        self._ledger = FaultyLedger(ports.ledger)
        return with_ports(ports, ledger=self._ledger)
