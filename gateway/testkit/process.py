"""A gateway in a process of its own, which may be killed, asked to end, and started again on the same data."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

READY_WITHIN_S = 60.0
ROOT = EXAMPLE.parent


class GatewayProcess:
    """``gateway serve`` on a folder, with the example registry pointing at an engine's port."""

    def __init__(self, folder: Path, engine_port: int, edits: Iterable[Edit] = ()) -> None:
        self.data = folder / "data"
        self.log = folder / "log"
        self.strikes = folder / "strikes"
        """To which a planned server writes each strike before it happens."""
        self._plan = folder / "plan.json"
        self.registry = copy_registry(folder, edits, engine_port=engine_port)
        inherited = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
        self.environment = inherited | {
            "GATEWAY_REGISTRY": str(self.registry),
            "GATEWAY_POLICIES": str(ROOT / "policies"),
            "GATEWAY_DATA": str(self.data),
            "GATEWAY_LISTEN": "127.0.0.1:0",
            "GATEWAY_DRAIN_S": "2",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, struck_at: str | None = None, ready: bool = True) -> None:
        """Start it; with ``struck_at``, a point of gateway/testkit/faults, it will kill itself there."""
        if struck_at is None:
            self._start("gateway", "serve")
        else:
            self.start_planned({"failpoints": [{"point": struck_at, "action": "kill", "nth": 1}]})
        if ready:
            self.wait_until(self.is_ready, "the gateway did not become ready")

    def start_planned(self, plan: Mapping[str, Any]) -> None:
        """Start a server that strikes itself: a ``ServerPlan``, whose log is ``strikes``."""
        self.strikes.unlink(missing_ok=True)
        self._plan.write_text(json.dumps({"log": str(self.strikes), **plan}))
        self._start("gateway.testkit.faults.server", str(self._plan))

    def start_module(self, module: str) -> None:
        """Start another program that serves. ``is_ready`` tells when it does."""
        self._start(module)

    def _start(self, *module: str) -> None:
        (self.data / "address.json").unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *module],
                env=self.environment,
                cwd=ROOT,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was never started"
        return self._process.pid

    @property
    def url(self) -> str:
        address: str = json.loads((self.data / "address.json").read_text())["url"]
        return address

    def wait_until(self, holds: Any, otherwise: str) -> None:
        """:raises AssertionError: with what the process wrote, if it takes longer than a minute."""
        deadline = time.monotonic() + READY_WITHIN_S
        while not holds():
            assert time.monotonic() < deadline, f"{otherwise}: {self.log.read_text()}"
            time.sleep(0.02)

    def is_ready(self) -> bool:
        """Whether it serves now.

        :raises AssertionError: with what the process wrote, if it has ended.
        """
        assert self.ended() is None, f"the gateway ended: {self.log.read_text()}"
        try:
            return self.request("GET", "/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def request(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: Any = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One HTTP request. ``body`` is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", int(self.url.rpartition(":")[2]), timeout=30)
        try:
            sent = None if body is None else json.dumps(body).encode()
            connection.request(method, path, sent, headers or {})
            answer = connection.getresponse()
            return answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def command(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """The command line, with the same settings."""
        return subprocess.run(
            [sys.executable, "-m", "gateway", *arguments],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def ended(self) -> int | None:
        """Exit code, or None while it runs."""
        assert self._process is not None, "it was never started"
        return self._process.poll()

    def signal(self, number: signal.Signals) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        assert self._process is not None, "it was never started"
        self._process.send_signal(number)
        return self._process.wait(READY_WITHIN_S)

    def close(self) -> None:
        """Kill it if it still runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
