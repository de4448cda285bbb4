"""The competitors, the load and the engine stub, each a child process that is ended by its own id."""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from gateway.bench.load import Load, Loaded
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import EngineFace
from gateway.testkit.registry_copy import Edit, copy_registry

ROOT = Path(__file__).resolve().parents[2]
FACE = EngineFace(
    alias="smollm2-135m@q4_1", model_path="/models/SmolLM2-135M-Instruct.Q4_1.gguf", context=2048, slots=64
)
"""The engine of the example registry, with a slot for each concurrent request."""
SLOTS = Edit(
    file="profiles/smollm2-135m.yaml",
    old="  # The engine's slots.\n  concurrency: 2",
    new=f"  # The engine's slots.\n  concurrency: {FACE.slots}",
)
START_WITHIN_S = 30.0
STOP_WITHIN_S = 45.0
POLL_S = 0.005


class BenchFault(Exception):
    """The bench cannot measure what it says it measures. A slow machine is no fault."""


class Gateway(Struct, frozen=True, kw_only=True):
    """A gateway that is ready."""

    pid: int
    port: int
    ready_s: float
    """From the start of the process to the first 200 of /readyz."""


@contextmanager
def engine() -> Iterator[ProviderProcess]:
    """The engine stub."""
    with ProviderProcess("--count-only") as stub:
        stub.show(FACE)
        yield stub


def settings(folder: Path, *, engine_port: int) -> dict[str, str]:
    """Environment of a gateway over a copy of the example registry, with its store in ``folder``."""
    registry = copy_registry(folder, [SLOTS], engine_port=engine_port)
    data = folder / "data"
    data.mkdir()
    own = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAY_")}
    return own | {
        "GATEWAY_REGISTRY": str(registry),
        "GATEWAY_POLICIES": str(ROOT / "policies"),
        "GATEWAY_DATA": str(data),
        "GATEWAY_LISTEN": "127.0.0.1:0",
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def gateway(environment: dict[str, str]) -> Iterator[Gateway]:
    """``gateway serve``, ready.

    :raises BenchFault: if it ends or does not become ready.
    """
    data = Path(environment["GATEWAY_DATA"])
    address, log = data / "address.json", data.parent / "gateway.log"
    address.unlink(missing_ok=True)
    with log.open("wb") as output:
        started_s = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - this Python, and arguments of ours
            [sys.executable, "-m", "gateway", "serve"], env=environment, stdout=output, stderr=output
        )
        try:
            port = _ready(process, address, log)
            yield Gateway(pid=process.pid, port=port, ready_s=time.perf_counter() - started_s)
        finally:
            _stop(process)


def _ready(process: "subprocess.Popen[bytes]", address: Path, log: Path) -> int:
    give_up_s = time.perf_counter() + START_WITHIN_S
    port: int | None = None
    while time.perf_counter() < give_up_s and process.poll() is None:
        if port is None and address.exists() and (text := address.read_text()):
            port = int(json.loads(text)["url"].rpartition(":")[2])
        if port is not None and get(port, "/readyz")[0] == 200:
            return port
        time.sleep(POLL_S)
    raise BenchFault(f"The gateway did not become ready. It said:\n{log.read_text()[-2000:]}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def new_token(port: int, data: Path) -> str:
    """A new key of the example's service account, made with the operator's credential.

    :raises BenchFault: if the gateway refuses.
    """
    operator = (data / "operator.key").read_text().strip()
    body = json.dumps({"tenant": "acme", "principal": "assistant"}).encode()
    status, answer = _request(port, "POST", "/admin/keys", {"Authorization": f"Bearer {operator}"}, body)
    if status != 201:
        raise BenchFault(f"The gateway made no key (HTTP {status}).")
    return str(json.loads(answer)["token"])


def get(port: int, path: str) -> tuple[int, bytes]:
    """Status and body; status 0 while nobody listens."""
    return _request(port, "GET", path, {}, None)


def _request(port: int, method: str, path: str, headers: dict[str, str], body: bytes | None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except ConnectionError:
        return 0, b""
    finally:
        connection.close()


class Child:
    """A module of the bench that speaks JSON lines and ends at the end of its standard input."""

    def __init__(self, module: str, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and arguments of ours
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=(os.environ if environment is None else environment) | {"PYTHONPATH": str(ROOT)},
        )
        self.pid = self._process.pid

    def read(self) -> bytes:
        """The next line.

        :raises BenchFault: if the child has ended.
        """
        assert self._process.stdout is not None
        if not (line := self._process.stdout.readline()):
            raise BenchFault(f"A part of the bench ended with {self._process.wait()}; its complaint stands above.")
        return line

    def write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        _stop(self._process)


@contextmanager
def child(module: str, *arguments: str, environment: dict[str, str] | None = None) -> Iterator[Child]:
    """A ``Child`` for as long as the block lasts."""
    with ExitStack() as stack:
        started = Child(module, *arguments, environment=environment)
        stack.callback(started.close)
        yield started


def apply(load: Load, through: Child) -> Loaded:
    """Apply a load and wait for its end."""
    through.write(msgspec.json.encode(load))
    return msgspec.json.decode(through.read(), type=Loaded)
