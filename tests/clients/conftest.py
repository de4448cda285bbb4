"""A gateway and a scripted provider in processes of their own, and each client in one of its own too."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from gateway.testkit.doors.http import FACE
from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.registry_copy import PROFILE, Edit, slots

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".clients"
PROGRAMS = Path(__file__).parent / "programs"
NODE = Path(__file__).parent / "node" / "client.cjs"
WITH_TOOLS = Edit(PROFILE, "capabilities: [chat, ", "capabilities: [chat, tools, parallel_tool_calls, ")
NOTHING_LEFT = Edit(PROFILE, "requests_per_minute: unlimited", "requests_per_minute: 0")


class Client(Protocol):
    """Somebody who asks, in a process of its own."""

    def tell(self, told: dict[str, Any]) -> dict[str, Any]:
        """What came of it: an answer, or ``classes``, ``status`` and ``code`` of the failure."""

    def close(self) -> None: ...


class Program:
    """A client that reads lines of JSON and writes one for each."""

    def __init__(self, *command: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment or None
        )

    def tell(self, told: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the client ended"
        said: dict[str, Any] = json.loads(line)
        return said

    def close(self) -> None:
        self._process.communicate(timeout=20)


class Curl:
    """curl as a script would call it, with retries that it has not by itself."""

    def tell(self, told: dict[str, Any]) -> dict[str, Any]:
        command = ["curl", "--silent", "--show-error", "--retry", "2", "--write-out", r"\n%{http_code}"]
        command += ["-H", f"Authorization: Bearer {told['token']}", "-D", "-"]
        if told["do"] == "models":
            command += [f"{told['base_url']}/models"]
        else:
            body = {"model": told["model"], "messages": told["messages"], **told.get("options", {})}
            body |= told.get("extra", {})
            command += ["-H", f"Idempotency-Key: {told['key']}", "-H", "Content-Type: application/json"]
            command += ["--data-binary", json.dumps(body), f"{told['base_url']}/chat/completions"]
        out = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        heads, _, last = out.replace("\r\n", "\n").rpartition("\n\n")
        document, _, status = last.rpartition("\n")
        return _said(int(status), "idempotent-replayed: true" in heads.lower(), json.loads(document))

    def close(self) -> None:
        """Nothing runs between two calls."""


def _said(status: int, replayed: bool, document: dict[str, Any]) -> dict[str, Any]:
    if status >= 400:
        return {"classes": [], "status": status, "code": document["error"]["code"]}
    if document["object"] == "list":
        return {"models": [model["id"] for model in document["data"]]}
    choice = document["choices"][0]
    calls = [
        {"id": call["id"], "name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
        for call in choice["message"].get("tool_calls", ())
    ]
    content = choice["message"]["content"]
    return {"content": content, "calls": calls, "replayed": replayed, "finish": choice["finish_reason"]}


def _langchain() -> Client:
    python = PLACE / "python" / "bin" / "python"
    if not python.exists():
        pytest.skip("langchain-openai is not installed: make .clients/.ready")
    return Program(str(python), str(PROGRAMS / "langchain_client.py"), PATH="/usr/bin:/bin")


def _node() -> Client:
    node = PLACE / "python" / "bin" / "node"
    modules = PLACE / "node" / "node_modules"
    if not (node.exists() and modules.is_dir()):
        pytest.skip("OpenAI's client for Node.js is not installed: make .clients/.ready")
    return Program(str(node), str(NODE), NODE_PATH=str(modules))


def _curl() -> Client:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl on this machine (apt-get install curl)")
    return Curl()


def _openai() -> Client:
    return Program(sys.executable, str(PROGRAMS / "openai_client.py"), PATH="/usr/bin:/bin")


CLIENTS = {"openai": _openai, "langchain": _langchain, "node": _node, "curl": _curl}


@pytest.fixture(scope="module", params=list(CLIENTS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def client(name: str) -> Iterator[Client]:
    client = CLIENTS[name]()
    yield client
    client.close()


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderProcess]:
    with ProviderProcess("--alias", FACE.alias, "--model-path", FACE.model_path) as running:
        running.show(FACE)
        yield running


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, provider: ProviderProcess) -> Iterator[GatewayProcess]:
    yield from _served(tmp_path_factory.mktemp("gateway"), provider.port, [WITH_TOOLS])


@pytest.fixture(scope="module")
def poor_gateway(tmp_path_factory: pytest.TempPathFactory, provider: ProviderProcess) -> Iterator[GatewayProcess]:
    """One whose engine may be asked nothing."""
    yield from _served(tmp_path_factory.mktemp("poor"), provider.port, [NOTHING_LEFT])


def _served(folder: Path, port: int, edits: list[Edit]) -> Iterator[GatewayProcess]:
    process = GatewayProcess(folder, port, [*slots(FACE.slots), *edits])
    # The golden decisions belong to the registry as it is committed; an edit would contradict them.
    policies = folder / "policies"
    shutil.copytree(ROOT / "policies", policies, ignore=shutil.ignore_patterns("golden"))
    process.environment["GATEWAY_POLICIES"] = str(policies)
    try:
        process.start()
        yield process
    finally:
        process.close()


@pytest.fixture(scope="module")
def token(gateway: GatewayProcess) -> str:
    return _new_token(gateway)


@pytest.fixture(scope="module")
def poor_token(poor_gateway: GatewayProcess) -> str:
    return _new_token(poor_gateway)


def _new_token(gateway: GatewayProcess) -> str:
    created = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
    assert created.returncode == 0, created.stderr
    return created.stdout.strip()
