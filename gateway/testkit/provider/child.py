"""The parent's side of a provider in a process of its own."""

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.server import EngineFace, ProviderState

ROOT = Path(__file__).resolve().parents[3]


class ProviderProcess:
    """``with ProviderProcess() as provider: ...``; everything blocks, each call takes about a millisecond."""

    def __init__(self, *arguments: str) -> None:
        """``arguments`` are those of ``python -m gateway.testkit.provider``."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gateway.testkit.provider", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdout is not None
        ports = json.loads(self._process.stdout.readline())
        self.port: int = ports["port"]
        self.pid = self._process.pid
        self.control: int = ports["control"]

    @property
    def url(self) -> str:
        """Base URL, as a profile's endpoint."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "ProviderProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill it: open connections are reset, as by an engine that dies."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def script(self, *behaviours: Behaviour) -> None:
        """Behaviours for the next generations, one each; afterwards the default again."""
        self._tell(script=behaviours)

    def answer_by_default(self, behaviour: Behaviour) -> None:
        self._tell(default=behaviour)

    def show(self, face: EngineFace) -> None:
        """What it says of itself from now on."""
        self._tell(face=face)

    def refuse(self, refuse: bool = True) -> None:
        """Refuse new connections, or accept them again."""
        self._tell(refuse=refuse)

    def reset(self) -> None:
        """Forget the script and what was received."""
        self._tell(reset=True)

    def state(self) -> ProviderState:
        """What it has received so far."""
        return msgspec.json.decode(self._ask("GET", None), type=ProviderState)

    def _tell(self, **changes: Any) -> None:
        self._ask("POST", msgspec.json.encode(changes))

    def _ask(self, method: str, body: bytes | None) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.control, timeout=10)
        try:
            connection.request(method, "/", body)
            answer = connection.getresponse()
            document = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise ValueError(document.decode())
        return document
