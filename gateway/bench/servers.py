"""The gateway and the engine stub behind it, as child processes."""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from gateway.bench import processes
from gateway.bench.children import ROOT, BenchFault, stop
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import EngineFace
from gateway.testkit.registry_copy import Edit, copy_registry, slots

FACE = EngineFace(
    alias="smollm2-135m@q4_1", model_path="/models/SmolLM2-135M-Instruct.Q4_1.gguf", context=2048, slots=64
)
"""The engine of the example registry, with a slot for each concurrent request."""
SLOTS = slots(FACE.slots)
START_WITHIN_S = 90.0
POLL_S = 0.01


class Start(Struct, frozen=True, kw_only=True):
    """How one start of the gateway went."""

    ready_s: float
    """From the start of the process to the first 200 of /readyz."""
    cpu_s: float
    """CPU of the gateway's process by then; a busy machine changes it less than the time."""


class Gateway(Struct, frozen=True, kw_only=True):
    """A gateway that is ready."""

    pid: int
    port: int
    start: Start


@contextmanager
def engine() -> Iterator[ProviderProcess]:
    """The engine stub."""
    with ProviderProcess("--count-only") as stub:
        stub.show(FACE)
        yield stub


def settings(folder: Path, *, engine_port: int, edits: Iterable[Edit] = SLOTS) -> dict[str, str]:
    """Environment of a gateway over a copy of the example registry, with its store in ``folder``."""
    registry = copy_registry(folder, edits, engine_port=engine_port)
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
        process = subprocess.Popen(
            [sys.executable, "-m", "gateway", "serve"], env=environment, stdout=output, stderr=output
        )
        try:
            port = _ready(process, address, log)
            start = Start(ready_s=time.perf_counter() - started_s, cpu_s=processes.cpu_s(process.pid))
            yield Gateway(pid=process.pid, port=port, start=start)
        finally:
            stop(process)


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


def wait_for_models(port: int, alias: str) -> None:
    """Return when a profile behind the alias serves.

    :raises BenchFault: if none does in time.
    """
    wanted = {"chat": "smollm2-135m", "assist": "gpt-4.1-mini-eu"}[alias]
    give_up_s = time.perf_counter() + START_WITHIN_S
    while time.perf_counter() < give_up_s:
        profile = json.loads(get(port, "/readyz")[1])["profiles"].get(wanted, {})
        if profile.get("state") == "ready":
            return
        time.sleep(POLL_S)
    raise BenchFault(f"The profile {wanted} did not become ready: {profile}.")


def operator_token(data: Path) -> str:
    """The operator's credential."""
    return (data / "operator.key").read_text().strip()


def new_token(port: int, data: Path) -> str:
    """A new key of the example's service account, made with the operator's credential.

    :raises BenchFault: if the gateway refuses.
    """
    body = json.dumps({"tenant": "acme", "principal": "assistant"}).encode()
    status, answer = _request(port, "POST", "/admin/keys", {"Authorization": f"Bearer {operator_token(data)}"}, body)
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
