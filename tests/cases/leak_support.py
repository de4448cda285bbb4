"""A real server process with canaries in everything that is given to it, and all places in which they could turn up."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from adapters.policy import die_with_parent
from adapters.policy.binary import find
from gateway.testkit.loops import until
from gateway.testkit.process import ROOT, GatewayProcess
from gateway.testkit.registry_copy import PROFILE, Edit, slots

CANARY = "CANARY"
"""In every prompt, key, credential of a provider and text of a provider. It must be found nowhere."""
SAVED = "SAVED-WORD"
"""In answers, which the result table alone may hold."""
CHAT = "/v1/chat/completions"
PURPOSE, REVISION = "CANARY-PURPOSE", "CANARY-REVISION"
"""The only words of a request that policy is asked about, and so OPA is told."""
SERVING = "smollm2-135m"
SLOTS = 64
READY_WITHIN_S = 90.0
"""Hosted profiles are in the registry: what translates for them takes seconds to import."""

EDITS = (
    *slots(SLOTS),
    Edit(PROFILE, "capabilities: [chat, ", "capabilities: [chat, tools, parallel_tool_calls, images, "),
    Edit(PROFILE, "connect_ms: 2000\n  total_ms: 60000", "connect_ms: 1000\n  total_ms: 1500"),
)

EVERYWHERE: dict[str, Any] = {
    "model": "chat",
    "messages": [
        {"role": "system", "content": "CANARY-SYSTEM"},
        {"role": "user", "content": [{"type": "text", "text": "CANARY-USER"}]},
        {
            "role": "assistant",
            "content": "CANARY-TURN",
            "tool_calls": [
                {"id": "CANARY-CALL", "type": "function", "function": {"name": "look", "arguments": '{"at":"CANARY"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "CANARY-CALL", "content": "CANARY-RESULT"},
        {"role": "user", "content": "CANARY-LAST"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "CANARY-DESCRIPTION",
                "parameters": {"type": "object", "properties": {"CANARY-PROPERTY": {"type": "string"}}},
            },
        }
    ],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "CANARY-SCHEMA", "schema": {"type": "object", "description": "CANARY-SCHEMA"}},
    },
    "stop": ["CANARY-STOP"],
}
"""A request with a canary wherever content can stand (case OBS-07)."""


VIEWS = (
    *("/metrics", "/readyz", "/livez", "/v1/models", "/admin/keys", "/admin/sources", "/admin/profiles"),
    *("/admin/ledger/stranded", "/admin/ledger/usage", "/admin/operations?limit=500"),
    "/admin/ledger/outcomes?since=2026-01-01T00:00:00Z",
)
"""What can be read over HTTP by anybody, or by an operator."""


class Leaking:
    """The server of leaking_gateway.py, and those who talk to it."""

    def __init__(self, folder: Path, engine_port: int) -> None:
        self.process = GatewayProcess(folder, engine_port, EDITS)
        self._plan = folder / "plan"
        self._plan.write_text("")
        secrets = folder / "secrets"
        secrets.mkdir(mode=0o700)
        (secrets / "anthropic-eu").write_text("CANARY-CREDENTIAL-FILE\n")
        (secrets / "anthropic-eu").chmod(0o600)
        # The golden decisions belong to the registry as it is committed; an edit would contradict them.
        policies = folder / "policies"
        shutil.copytree(ROOT / "policies", policies, ignore=shutil.ignore_patterns("golden"))
        self.process.environment |= {
            "GATEWAY_POLICIES": str(policies),
            "LEAK_PLAN": str(self._plan),
            "GATEWAY_LOG_LEVEL": "debug",
            "GATEWAY_SECRETS": str(secrets),
            "GATEWAY_SECRET_OPENAI_EU": "CANARY-CREDENTIAL",
            "PYTHONWARNINGS": "always",
            "PYTHONFAULTHANDLER": "1",
            "PYTHONPATH": str(Path(__file__).parent),
        }
        self.tokens: dict[str, str] = {}
        self.asked = self._face(folder / "opa")

    def _face(self, folder: Path) -> Path:
        """Put a program in OPA's place that writes down what it is asked; the file that it writes to."""
        real = find()
        assert real is not None, "run: gateway opa install"
        folder.mkdir()
        program, face = folder / "opa", Path(__file__).with_name("opa_face.py")
        program.write_text(
            f'#!/bin/sh\n[ "$1" = run ] || exec {real} "$@"\n'
            f'exec {sys.executable} -I {face} {folder} {die_with_parent.__file__} {real} "$@"\n'
        )
        program.chmod(0o700)
        self.process.environment["PATH"] = f"{folder}:/usr/bin:/bin"
        return folder / "asked"

    def start(self) -> None:
        self.process.start_module("leaking_gateway")
        until(self.process.is_ready, "the gateway did not become ready", within_s=READY_WITHIN_S)
        self.serves_again()
        for who in () if self.tokens else ("acme/assistant", "acme/reporter"):
            tenant, _, principal = who.partition("/")
            made = self.request("POST", "/admin/keys", "operator", {"tenant": tenant, "principal": principal})
            self.tokens[who] = json.loads(made[2])["token"]

    @property
    def port(self) -> int:
        return int(self.process.url.rpartition(":")[2])

    @property
    def warnings(self) -> int:
        """How often a port was made to break: each says so with a warning of Python."""
        return self.process.log.read_text().count('"a warning of Python"')

    @property
    def operator(self) -> str:
        return (self.process.data / "operator.key").read_text().strip()

    def request(
        self, method: str, path: str, who: str, body: Any = None, **headers: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        token = self.operator if who == "operator" else self.tokens[who]
        sent = {"Authorization": f"Bearer {token}", "User-Agent": "CANARY-AGENT", "X-Request-Id": "CANARY-ID"}
        return self.process.request(method, path, sent | headers, body)

    def ask(self, key: str, body: Any = None, who: str = "acme/assistant") -> tuple[int, Mapping[str, str], bytes]:
        """One generation under a key that is a canary too."""
        return self.request("POST", CHAT, who, EVERYWHERE if body is None else body, **{"Idempotency-Key": key})

    def breaks(self, *calls: str) -> None:
        """From now on these calls of ports raise, with everything that they were given."""
        self._plan.write_text("\n".join(calls))

    def serves_again(self) -> None:
        """Wait until the profile serves. A person lets one out of quarantine that answered as another model."""
        until(self._serves, "the profile does not serve", within_s=READY_WITHIN_S)

    def _serves(self) -> bool:
        profiles = json.loads(self.request("GET", "/admin/profiles", "operator")[2])["data"]
        (profile,) = [one for one in profiles if one["id"] == SERVING]
        if profile["state"] == "quarantined":
            self.request("POST", f"/admin/profiles/{SERVING}/release", "operator", {"reason": "It is the same one."})
        return bool(profile["serves"])

    def places(self, *shown: tuple[int, Mapping[str, str], bytes]) -> list[str]:
        """Where a canary is found: in what callers were shown, and wherever an operator or another program looks."""
        texts = {f"answer {number}": repr(one).encode() for number, one in enumerate(shown)}
        if self.process.ended() is None:
            views = [*VIEWS, *self._operations(shown)]
            texts |= {path: repr(self.request("GET", path, "operator")).encode() for path in views}
            texts |= {f"{path} of another": self._of_another(path) for path in views}
        asked = self.asked.read_bytes()
        for decided_upon in (PURPOSE, REVISION):
            asked = asked.replace(decided_upon.encode(), b"")
        texts["questions to OPA"] = asked
        texts["log"] = self.process.log.read_bytes()
        texts |= {f"file {path.name}": path.read_bytes() for path in self.process.data.iterdir() if path.is_file()}
        tokens = [*self.tokens.values(), self.operator]
        found = [place for place, text in texts.items() if CANARY.encode() in text]
        found += [
            f"a credential in {place}"
            for place, text in texts.items()
            if place != "file operator.key" and any(token.encode() in text for token in tokens)
        ]
        return found

    def _of_another(self, path: str) -> bytes:
        return repr(self.request("GET", path, "acme/reporter")).encode()

    def _operations(self, shown: Iterable[tuple[int, Mapping[str, str], bytes]]) -> Iterator[str]:
        for operation_id in {headers["operation-id"] for _, headers, _ in shown if "operation-id" in headers}:
            yield f"/v1/operations/{operation_id}"
            yield f"/v1/operations/{operation_id}/timeline"


def start_refused(environment: Mapping[str, str]) -> str:
    """What ``gateway serve`` writes when it refuses to start."""
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "serve"],
        env=dict(environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done
    return done.stdout + done.stderr
