"""A real vLLM on the CPU, in a process of its own, with a tiny model."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".engines" / "bin" / "python"
ALIAS = "tiny-llama@1"
MODEL_FILE = "tiny-llama/1"
CONTEXT = 1024
FINGERPRINT = "tiny-llama-1"
SEQUENCES = 4
QUEUED = 4
"""Waiting and running; one more is refused."""
READY_WITHIN_S = 900.0
"""Seconds; it takes 40 on two idle cores."""
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
OPTIONS = (
    "--enforce-eager",
    "--dtype=float32",
    f"--max-model-len={CONTEXT}",
    f"--max-num-seqs={SEQUENCES}",
    f"--max-num-queued-reqs={QUEUED}",
    "--enable-prefix-caching",
    "--enable-prompt-tokens-details",
    "--enable-auto-tool-choice",
    "--tool-call-parser=hermes",
    "--fingerprint-mode=custom",
    f"--fingerprint-value={FINGERPRINT}",
    "--disable-fastapi-docs",
)


class VllmProcess:
    """Its address and its process."""

    def __init__(self, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.url = f"{self.base}/v1"
        self.process = process
        self.log = log

    def get(self, path: str) -> tuple[int, bytes]:
        return self._asked(urllib.request.Request(self.base + path))

    def post(self, body: dict[str, Any]) -> tuple[int, bytes]:
        """A chat completion, without the gateway's transport."""
        headers = {"Content-Type": "application/json"}
        return self._asked(urllib.request.Request(f"{self.url}/chat/completions", json.dumps(body).encode(), headers))

    def _asked(self, request: urllib.request.Request) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def metric(self, name: str) -> float:
        """Sum of a metric's samples."""
        lines = self.get("/metrics")[1].decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name + "{"))


@contextmanager
def running(folder: Path) -> Iterator[VllmProcess]:
    """Make the model, start the engine, wait until it answers, and end it with all its children."""
    model = folder / "models" / MODEL_FILE
    subprocess.run([PYTHON, Path(__file__).parent / "tiny_model.py", model], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "vllm.log"
    command = [PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--host=127.0.0.1", f"--port={port}"]
    command += [f"--model={model}", f"--served-model-name={ALIAS}", *OPTIONS]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **OFFLINE},
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
        )
    try:
        engine = VllmProcess(port, process, log)
        _wait(engine)
        yield engine
    finally:
        # Its own session: the engine core is a child that outlives a parent which is killed.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(engine: VllmProcess) -> None:
    give_up_at = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < give_up_at:
        if engine.process.poll() is not None:
            break
        try:
            if engine.get("/health")[0] == 200:
                return
        except OSError:
            time.sleep(0.5)
    raise RuntimeError("vLLM did not start:\n" + engine.log.read_text(errors="replace")[-4000:])
