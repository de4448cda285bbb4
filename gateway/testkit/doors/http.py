"""The HTTP door: real sockets, OPA, SQLite and server; only the engine behind it is scripted."""

import asyncio
import http.client
import io
import json
import os
import signal
import sqlite3
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from gateway.domain.profile_state import ProfileActKind
from gateway.domain.reconciliation import ActKind
from gateway.domain.source import SourceAct
from gateway.domain.usage import Usage
from gateway.testkit.doors import registry_edits
from gateway.testkit.doors.http_gateway import PROFILE, SLOTS, HttpGateway
from gateway.testkit.doors.http_words import body_of, reply, source_act
from gateway.testkit.loops import LoopThread, until
from gateway.testkit.provider.behaviours import Behaviour, called, error
from gateway.testkit.provider.server import EngineFace, Provider
from gateway.testkit.provider.vllm_face import VllmFace
from gateway.testkit.registry_copy import Edit
from gateway.testkit.world import Ask, Reply

SLOW_MS = 700
CLIENT_TIMEOUT_S = 30.0
DATABASE = "gateway.db"
ALIAS = "smollm2-135m@q4_1"
MODEL_FILE = "/models/SmolLM2-135M-Instruct.Q4_1.gguf"
FACE = EngineFace(alias=ALIAS, model_path=MODEL_FILE, context=2048, slots=SLOTS)


class HttpWorld:
    """One real gateway with one scripted engine. Started at first use, so that Givens can shape it."""

    def __init__(self, folder: Path) -> None:
        self._engine_loop = LoopThread("engine")
        self._provider = Provider(face=FACE)
        self._engine_loop.call(self._provider.listen())
        self._spare: Provider | None = None
        self.gateway = HttpGateway(folder, self._provider.port)
        self._pool = ThreadPoolExecutor(2)
        self._asking: Future[Reply] | None = None
        self._stopped_opa: int | None = None
        self._tokens: dict[str, str] = {}

    # Asking

    def ask(self, ask: Ask) -> Reply:
        status, headers, body = self.request("POST", "/v1/chat/completions", self.headers(ask), body_of(ask))
        return reply(status, headers, body)

    def ask_at_once(self, asks: list[Ask]) -> list[Reply]:
        self.start()
        with ThreadPoolExecutor(len(asks)) as pool:
            return list(pool.map(self.ask, asks))

    def start_asking(self, ask: Ask) -> None:
        self.start()
        calls = len(self.engine_calls())
        self._asking = self._pool.submit(self.ask, ask)
        until(lambda: len(self.engine_calls()) > calls, "the engine received no call")

    def finish_asking(self) -> Reply:
        assert self._asking is not None, "nobody was left asking"
        return self._asking.result(CLIENT_TIMEOUT_S)

    def act(self, kind: ActKind, operation_id: str, words: str, used: Usage | None = None) -> dict[str, Any] | Reply:
        path = f"/admin/operations/{operation_id}/"
        body: dict[str, Any] = {"reason": words}
        if kind in ("no_effect", "charged"):
            body = {"evidence": words, "found": kind}
            body |= {} if used is None else {"used": {"input": used.input, "output": used.output}}
            path += "reconcile"
        else:
            path += kind.replace("_", "-")
        headers = {"Authorization": f"Bearer {self.token('operator')}"}
        status, sent, answer = self.request("POST", path, headers, json.dumps(body).encode())
        return reply(status, sent, answer) if status >= 400 else dict(json.loads(answer))

    def timeline(self, operation_id: str) -> list[str]:
        headers = {"Authorization": f"Bearer {self.token('assistant')}"}
        status, _, body = self.request("GET", f"/v1/operations/{operation_id}/timeline", headers)
        assert status == 200, body
        return [entry["event"] for entry in json.loads(body)["data"]]

    def take_for_dead(self) -> None:
        sweep = self.gateway.ledger.sweep(frozenset, earlier_incarnations=False)
        asyncio.run_coroutine_threadsafe(sweep, self.gateway.loop).result(CLIENT_TIMEOUT_S)

    def restart(self) -> None:
        self.stop()
        self.start()

    def look_at(self, operation_id: str, who: str = "assistant") -> dict[str, Any] | Reply:
        headers = {"Authorization": f"Bearer {self.token(who)}"}
        status, sent, body = self.request("GET", f"/v1/operations/{operation_id}", headers)
        return reply(status, sent, body) if status >= 400 else dict(json.loads(body))

    def headers(self, ask: Ask) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self.token(ask.who)}", "Content-Type": "application/json"}
        return headers if ask.key is None else headers | {"Idempotency-Key": ask.key}

    def request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """One HTTP request on a connection of its own."""
        self.start()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CLIENT_TIMEOUT_S)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def token(self, who: str) -> str:
        """The credential of a service account (of acme, or TENANT/ACCOUNT), of the operator or of a stranger."""
        if who == "stranger":
            return "gw_nobody-issued-this"
        self.start()
        operator = (self.gateway.data / "operator.key").read_text().strip()
        if who == "operator":
            return operator
        if who not in self._tokens:
            tenant, _, account = who.rpartition("/")
            self._tokens[who] = self.make_key(account, tenant or "acme", operator)[2]["token"]
        return self._tokens[who]

    def use_token(self, who: str, token: str) -> None:
        """From now on this service account asks with another credential."""
        self._tokens[who] = token

    def make_key(self, principal: str, tenant: str, token: str) -> tuple[int, Mapping[str, str], dict[str, Any]]:
        body = json.dumps({"tenant": tenant, "principal": principal}).encode()
        status, headers, answer = self.request("POST", "/admin/keys", {"Authorization": f"Bearer {token}"}, body)
        return status, headers, json.loads(answer)

    # The engine

    def engine_answers(self, text: str) -> None:
        self._engine_loop.call(self._provider.listen())
        self._provider.default = Behaviour(content=text)

    def engine_calls_function(self, name: str, arguments: str) -> None:
        self._provider.default = called(name, arguments)

    def engine_does(self, behaviour: str) -> None:
        match behaviour:
            case "refuse_connections":
                # The gateway looked while the engine still listened, and its readiness has not run out yet.
                self.start()
                self._engine_loop.call(self._provider.refuse())
                self._engine_loop.call(self._provider.cut())
            case "busy":
                self._provider.default = error(429, type_="rate_limit_exceeded")
            case "reject":
                self._provider.default = error(400, type_="invalid_request_error")
            case "drop":
                self._provider.default = Behaviour(delivery="drop")
            case "echo":
                # As some providers do: what they were sent, in the text of an error.
                words = "CANARY-P CANARY-K Authorization: Bearer gw_"
                self._provider.default = error(500, type_="server_error", message=words)
            case "time_out":
                self.edit_registry(*registry_edits.LITTLE_TIME)
                self._provider.default = Behaviour(delivery="hang")
            case "hang":
                self._provider.default = Behaviour(delivery="hang")
            case "slow":
                self._provider.default = Behaviour(content=self._provider.default.content, delay_ms=SLOW_MS)
            case _:
                raise ValueError(behaviour)

    def engine_says_it_used(self, tokens: tuple[int, int] | None) -> None:
        content = self._provider.default.content
        if tokens is None:
            self._provider.default = Behaviour(content=content, omit=("usage",))
        else:
            usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
            self._provider.default = Behaviour(content=content, usage=usage)

    def engine_answers_as(self, model: str) -> None:
        self._provider.default = Behaviour(model=model)

    def engine_shows_other_weights(self) -> None:
        self._provider.face = EngineFace(alias=ALIAS, model_path="/models/other.gguf", context=2048, slots=64)
        self.gateway.expect_ready = False

    def engine_shows(self, *, serves: bool, **said: Any) -> None:
        """What the engine says of itself from now on, where it differs from what is approved."""
        self._provider.face = msgspec.structs.replace(FACE, **said)
        self.gateway.expect_ready = serves

    def engine_loads(self) -> None:
        self._provider.face = EngineFace(alias=ALIAS, model_path=MODEL_FILE, context=2048, slots=SLOTS, health=503)
        self.gateway.expect_ready = False

    def engine_has_room_for(self, sequences: int) -> None:
        self.engine_shows(serves=sequences >= SLOTS, slots=sequences)

    def engine_caches(self, tokens: int) -> None:
        """As vLLM counts: tokens of all sequences together."""
        self.engine_shows(serves=False, vllm=VllmFace(kv_tokens=tokens))

    def act_on_profile(self, act: ProfileActKind, profile: str | None = None) -> Reply | None:
        path = f"/admin/profiles/{profile or PROFILE}/{act}"
        status, headers, answer = self._administer("POST", path, {"reason": "a scenario says so"})
        if status >= 400:
            return reply(status, headers, answer)
        self.gateway.wait_until_settled()
        return None

    def profile_state(self) -> str:
        return str(self._profile()["state"])

    def quarantine_shortfall(self) -> tuple[int, int]:
        (mark,) = (mark for mark in self._profile()["marks"] if mark["state"] == "quarantined")
        return mark["shortfall"]["promised"], mark["shortfall"]["reported"]

    def seen_engine_state(self) -> str:
        return str(self._profile()["readiness"]["state"])

    def _profile(self) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token('operator')}"}
        found = json.loads(self.request("GET", "/admin/profiles", headers)[2])["data"]
        (row,) = (row for row in found if row["id"] == PROFILE)
        return dict(row)

    def engine_lost_after_reservation(self) -> None:
        raise NotImplementedError("shown through the service door, where the moment can be chosen")

    def engine_calls(self) -> list[dict[str, Any]]:
        return [json.loads(received.body) for received in self._provider.generations]

    def approve_spare_engine(self) -> None:
        """A second engine, which answers, behind the first in the bundle; and little time for both."""
        self._spare = Provider(face=FACE)
        self._engine_loop.call(self._spare.listen())
        self.gateway.edits.extend(registry_edits.spare_engine(self._spare.port))

    def spare_engine_calls(self) -> int:
        assert self._spare is not None, "there is no spare engine"
        return self._spare.generation_count

    # Policy, registry, ledger

    def policy_goes_away(self) -> None:
        """OPA hangs: it is stopped, not killed, because a killed one is started again at once."""
        for who in ("assistant", "platform/operations"):
            self.token(who)  # without policy nobody makes a key any more
        pid = self.gateway.server.gateway.revisions.opa_pids[-1]
        os.kill(pid, signal.SIGSTOP)
        self._stopped_opa = pid

    def policy_names(self, profile: str) -> None:
        raise NotImplementedError("shown through the service door, where policy can be made to say so")

    def engine_fails(self, behaviour: Behaviour) -> None:
        """Answer every generation so."""
        self._provider.default = behaviour

    def verify_ledger(self) -> list[str]:
        """What ``gateway ledger verify`` would print."""
        headers = {"Authorization": f"Bearer {self.token('operator')}"}
        differences: list[str] = json.loads(self.request("POST", "/admin/ledger/verify", headers, b"{}")[2])[
            "differences"
        ]
        return differences

    def edit_registry(self, *edits: Edit) -> None:
        """Edit the registry for the next start."""
        self.gateway.edits.extend(edits)

    def edit_files(self, change: str) -> None:
        """Edit the files that a running gateway would load at a reload."""
        self.start()
        self.gateway.edit_files(registry_edits.EDITS[change])

    def change_registry(self, change: str) -> None:
        """Edit the registry; a running gateway reloads it."""
        if not self.gateway.is_running:
            self.edit_registry(*registry_edits.EDITS[change])
            return
        self.edit_files(change)
        status, _, answer = self._administer("POST", "/admin/reload", {})
        assert status == 200, answer
        self.gateway.wait_until_settled()

    def change_source(self, act: SourceAct) -> Reply | None:
        name, body = source_act(act)
        status, headers, answer = self._administer("POST", f"/admin/sources/{name}", body)
        return reply(status, headers, answer) if status >= 400 else None

    def _administer(self, method: str, path: str, body: Any) -> tuple[int, Mapping[str, str], bytes]:
        headers = {"Authorization": f"Bearer {self.token('operator')}"}
        return self.request(method, path, headers, json.dumps(body).encode())

    def ledger_fails(self, transition: str | None) -> None:
        self.token("assistant")
        self.gateway.ledger.failing = transition

    def held_tokens(self) -> int:
        return self._sum("SELECT sum(tokens) FROM hold WHERE spend = 'held' AND scope_kind = 'tenant'")

    def held_slots(self) -> int:
        return self._sum("SELECT count(*) FROM hold WHERE slot = 'held' AND scope_kind = 'tenant'")

    def booked_tokens(self) -> int:
        return self._sum("SELECT sum(settled_tokens) FROM hold WHERE scope_kind = 'tenant'")

    def stored_places(self, word: str) -> list[str]:
        """Tables of the store and other files of the data directory that hold a word."""
        with self._store() as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            rows = {name: repr(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in names}
        files = [path for path in self.gateway.data.iterdir() if not path.name.startswith(DATABASE)]
        return [f"table {name}" for name, text in rows.items() if word in text] + [
            f"file {path.name}" for path in files if word in path.read_text()
        ]

    def _sum(self, query: str) -> int:
        with self._store() as connection:
            return int(connection.execute(query).fetchone()[0] or 0)

    @contextmanager
    def _store(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(f"file:{self.gateway.data / DATABASE}?mode=ro", uri=True)
        try:
            yield connection
        finally:
            connection.close()

    # Life

    @property
    def port(self) -> int:
        return self.gateway.port

    @property
    def log(self) -> io.StringIO:
        return self.gateway.log

    def start(self) -> None:
        """Start the gateway unless it runs, and wait until it serves."""
        self.gateway.start()

    def set(self, **settings: Any) -> None:
        """Change settings before the gateway starts."""
        self.gateway.settings |= settings

    def drain(self) -> None:
        """Begin to end, as at SIGTERM, but keep the port open so that the refusal can be seen."""
        self.token("assistant")
        self.gateway.server.gateway.services.running.draining = True

    def stop(self) -> int | None:
        """End the gateway and return its exit code."""
        if self._stopped_opa is not None:
            with suppress(ProcessLookupError):  # an OPA that hangs is replaced after some seconds
                os.kill(self._stopped_opa, signal.SIGCONT)
            self._stopped_opa = None
        return self.gateway.stop()

    def close(self) -> None:
        try:
            self.stop()
        finally:
            for engine in (self._provider, self._spare):
                if engine is not None:
                    self._engine_loop.call(engine.__aexit__(None, None, None))
            self._engine_loop.close()
            self._pool.shutdown()
            self.gateway.give_logs_back()
