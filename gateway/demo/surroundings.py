"""What the story needs: an engine, a gateway in a process of its own, and a key of the service account."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from rich.console import Console

from gateway.demo.engine import ROOT, start_engine
from gateway.domain.errors import StartRefused
from gateway.testkit.registry_copy import copy_registry

READY_WITHIN_S = 20.0


class Place(Struct, frozen=True):
    """Where the gateway of the story is."""

    url: str
    key: str
    environment: dict[str, str]


@contextmanager
def surroundings(folder: Path, console: Console) -> Iterator[Place]:
    """Start everything, and end it afterwards.

    :raises StartRefused: if a part does not start.
    """
    engine_port, gateway_port = _free_port(), _free_port()
    console.print("Starting SmolLM2 (llama.cpp), OPA and the gateway on SQLite ...", style="dim")
    with start_engine(engine_port):
        registry = copy_registry(folder, engine_port=engine_port)
        environment = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")} | {
            "GATEWAY_REGISTRY": str(registry),
            "GATEWAY_POLICIES": str(ROOT / "policies"),
            "GATEWAY_DATA": str(folder / "data"),
            "GATEWAY_LISTEN": f"127.0.0.1:{gateway_port}",
            "GATEWAY_LOG_LEVEL": "error",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "gateway", "serve"], env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        try:
            _wait_until_ready(process, gateway_port)
            yield Place(f"http://127.0.0.1:{gateway_port}", _create_key(environment), environment)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
            if process.stderr is not None:
                process.stderr.close()


def _create_key(environment: dict[str, str]) -> str:
    created = subprocess.run(
        [sys.executable, "-m", "gateway", "keys", "create", "--tenant", "acme", "--principal", "assistant"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if created.returncode != 0:
        raise StartRefused(created.stderr.strip())
    return created.stdout.strip()


def _wait_until_ready(process: "subprocess.Popen[str]", port: int) -> None:
    give_up_at = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < give_up_at:
        if process.poll() is not None:
            said = process.stderr.read() if process.stderr is not None else ""
            raise StartRefused(f"The gateway did not start. {said.strip()}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass  # it does not listen yet
        finally:
            connection.close()
        time.sleep(0.05)
    raise StartRefused("The gateway was not ready in time.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
