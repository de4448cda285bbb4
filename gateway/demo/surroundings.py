"""What the story needs: two engines, and a gateway in a process of its own."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from gateway.demo.engine import ROOT, start_engine
from gateway.domain.errors import StartRefused
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import EngineFace
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

READY_WITHIN_S = 20.0
PROFILE, BUNDLE = "profiles/smollm2-135m.yaml", "bundles/chat@1.yaml"
_OTHER_MEMBER = re.compile(r" *- id: smollm2-135m-a\n +digest: \S+\n")
FACE = EngineFace(
    alias="smollm2-135m@q4_1", model_path="/models/SmolLM2-135M-Instruct.Q4_1.gguf", context=2048, slots=2
)


class Place:
    """The gateway of the story: where it is, and what an operator can do to it."""

    def __init__(self, environment: dict[str, str], port: int) -> None:
        self._environment = environment
        self._port = port
        self._process: subprocess.Popen[str] | None = None
        self.url = f"http://127.0.0.1:{port}"

    def start(self) -> None:
        """Start the gateway and wait until both engines are ready.

        :raises StartRefused: if it does not start.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gateway", "serve"],
            env=self._environment,
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not self._is_ready():
            if self._process.poll() is not None:
                said = self._process.stderr.read() if self._process.stderr is not None else ""
                raise StartRefused(f"The gateway did not start. {said.strip()}")
            if time.monotonic() > give_up_at:
                raise StartRefused("The gateway was not ready in time.")
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            profiles = json.loads(connection.getresponse().read())["profiles"]
            return all(profiles[id_]["state"] == "ready" for id_ in ("smollm2-135m", "unreliable"))
        except OSError:
            return False  # it does not listen yet
        finally:
            connection.close()

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send the gateway a signal and wait for its end."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=30)
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None

    def command(self, *arguments: str) -> str:
        """What ``gateway`` prints.

        :raises StartRefused: if it fails.
        """
        done = subprocess.run(
            [sys.executable, "-m", "gateway", *arguments],
            env=self._environment | {"COLUMNS": "100"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise StartRefused(done.stderr.strip())
        return done.stdout.strip()


@contextmanager
def surroundings(folder: Path, console: Console) -> Iterator[Place]:
    """Start everything, and end it afterwards.

    :raises StartRefused: if a part does not start.
    """
    console.print("Starting SmolLM2 (llama.cpp), OPA and the gateway on SQLite ...", style="dim")
    engine_port, gateway_port = _free_port(), _free_port()
    with start_engine(engine_port), ProviderProcess() as unreliable:
        unreliable.show(FACE)
        unreliable.answer_by_default(Behaviour(delivery="hang"))
        registry = copy_registry(folder, registry_edits(unreliable.port), engine_port=engine_port)
        # The golden decisions belong to the registry as it is committed; the edits contradict them.
        policies = shutil.copytree(ROOT / "policies", folder / "policies", ignore=shutil.ignore_patterns("golden"))
        environment = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")} | {
            "GATEWAY_REGISTRY": str(registry),
            "GATEWAY_POLICIES": str(policies),
            "GATEWAY_DATA": str(folder / "data"),
            "GATEWAY_LISTEN": f"127.0.0.1:{gateway_port}",
            "GATEWAY_LOG_LEVEL": "error",
        }
        place = Place(environment, gateway_port)
        try:
            place.start()
            yield place
        finally:
            place.end()


def registry_edits(unreliable_port: int) -> list[Edit]:
    """What the story's registry has beside the example's."""
    return [*_unreliable_engine(unreliable_port), _careless_alias()]


def _unreliable_engine(port: int) -> list[Edit]:
    """A second engine beside the example's, approved like it, which never answers, on a small budget."""
    profile = (EXAMPLE / PROFILE).read_text().replace("id: smollm2-135m\n", "id: unreliable\n", 1)
    profile = profile.replace(":8091/", f":{port}/").replace("total_ms: 60000", "total_ms: 2000")
    # Room for one request of the story, and not for two.
    profile = profile.replace("tokens_per_day: unlimited", "tokens_per_day: 200")
    # Whoever never answers does not answer a canary either.
    profile = profile.replace("startup_s: 60\n", "startup_s: 60\n    canary: false\n")
    bundle = (EXAMPLE / BUNDLE).read_text().replace("id: chat@1\n", "id: unreliable@1\n", 1)
    bundle = _OTHER_MEMBER.sub("", bundle).replace("- id: smollm2-135m\n", "- id: unreliable\n")
    return [
        Edit(file="profiles/unreliable.yaml", old="", new=profile),
        Edit(file="bundles/unreliable@1.yaml", old="", new=bundle),
        Edit(file="releases.yaml", old="  chat: chat@1\n", new="  chat: chat@1\n  unreliable: unreliable@1\n"),
        Edit(file="tenants/acme.yaml", old="aliases: [chat, assist]", new="aliases: [chat, assist, unreliable]"),
    ]


def _careless_alias() -> Edit:
    """An alias of hosted models for a tenant that is private."""
    return Edit(file="tenants/tenant-a.yaml", old="aliases: [chat]", new="aliases: [chat, assist]")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
