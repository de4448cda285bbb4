"""A running gateway answers every route as the document says, and with nothing more."""

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from openapi_support import Judge

from gateway.api.openapi import document
from gateway.api.openapi_routes import ROUTES
from gateway.testkit.doors.http import HttpWorld

Seen = set[tuple[str, str, int]]


class Witness:
    """Asks, holds each answer to the document, and remembers which answers it has seen."""

    def __init__(self, world: HttpWorld) -> None:
        self.world = world
        self.seen: Seen = set()
        self._judge = Judge(document())
        self._paths = [(re.compile(re.sub(r"{\w+}", "[^/]+", route.path) + r"\Z"), route.path) for route in ROUTES]

    def ask(self, method: str, target: str, who: str | None = "operator", body: Any = None, **headers: str) -> Any:
        sent = headers if who is None else headers | {"Authorization": f"Bearer {self.world.token(who)}"}
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        status, told, answer = self.world.request(method, target, sent, raw)
        asked = target.partition("?")[0]
        exact = [path for pattern, path in self._paths if pattern.match(asked)]
        path = asked if asked in exact else exact[0]
        is_text = told["content-type"].startswith("text/")
        said = answer.decode() if is_text else json.loads(answer)
        assert list(self._judge.faults(method, path, status, told, said)) == [], said
        self.seen.add((method, path, status))
        return said

    def generate(self, key: str, **changes: Any) -> Any:
        question = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}], **changes}
        return self.ask("POST", "/v1/chat/completions", "assistant", question, **{"Idempotency-Key": key})


@pytest.fixture(scope="module")
def witness(world: HttpWorld) -> Iterator[Witness]:
    """After all that an interface can be asked, so that its tests need no order."""
    witness = Witness(world)
    _ask_as_a_service(witness)
    _compute_worksheets(witness)
    _administer(witness)
    _close_unknowns(witness)
    _quarantine(witness)
    witness.ask("POST", "/admin/reload")
    return witness


def _ask_as_a_service(witness: Witness) -> None:
    ask = witness.ask
    first, again = witness.generate("k-1"), witness.generate("k-1")
    assert first == again
    witness.generate("k-1", temperature=1)
    witness.generate("k-2", unknown=1)
    witness.generate("k-2", temperature=3)
    witness.generate("k-2", model="nothing")
    witness.generate("k-2", gateway={"purpose": "answers", "sources": [{"id": "s", "revision": "1"}]})
    ask("POST", "/v1/chat/completions", None, {})
    ask("GET", "/v1/models", "assistant")
    ask("GET", "/v1/models/chat", "assistant")
    ask("GET", "/v1/models/other", "assistant")
    for part in ("", "/timeline"):
        ask("GET", f"/v1/operations/{first['id']}{part}", "assistant")
        ask("GET", f"/v1/operations/{uuid.uuid4()}{part}", "assistant")
    refused = witness.generate("k-3", gateway={"purpose": "answers", "sources": [{"id": "s", "revision": "1"}]})
    ask("GET", f"/admin/decisions/{refused['decision']}")
    for path in ("/livez", "/readyz", "/metrics", "/openapi.json", "/worksheets"):
        ask("GET", path, None)


def _compute_worksheets(witness: Witness) -> None:
    cost = {"currency": "EUR", "device_hour": "2", "requests_per_s": "1", "utilisation": "0.5"}
    for name, entries in {"memory": {"layers": "16"}, "latency": {"slo_s": "9"}, "cost": cost}.items():
        for accept in ("application/json", "text/html"):
            for query in (urlencode(entries), "nothing=1"):
                witness.ask("GET", f"/worksheets/{name}?{query}", None, Accept=accept)
                witness.ask("POST", f"/worksheets/{name}", None, query.encode(), Accept=accept)


def _administer(witness: Witness) -> None:
    ask = witness.ask
    key = ask("POST", "/admin/keys", body={"tenant": "acme", "principal": "reporter"})
    ask("POST", "/admin/keys", body={"tenant": "acme", "principal": "nobody"})
    ask("GET", "/admin/keys")
    ask("GET", "/admin/keys", "assistant")
    ask("GET", "/admin/keys?active=null")
    ask("POST", f"/admin/keys/{key['id']}/revoke")
    source = {"id": "handbook", "tenant": "acme", "revision": "1", "privacy_class": "internal", "groups": ["staff"]}
    ask("POST", "/admin/sources/grant", body=source | {"released": "2026-01-01T00:00:00Z"})
    ask("GET", "/admin/sources")
    ask("POST", "/admin/sources/revoke", body={"id": "handbook"})
    ask("POST", "/admin/sources/withdraw", body={"id": "handbook"})
    ask("POST", "/admin/sources/grant", body=source)
    ask("GET", "/admin/operations?limit=1")
    ask("POST", "/admin/ledger/verify")
    ask("GET", "/admin/ledger/usage")
    ask("GET", "/admin/ledger/outcomes?since=2026-01-01T00:00:00Z")
    ask("GET", "/admin/profiles")
    ask("POST", "/admin/profiles/smollm2-135m/resume", body={"reason": "It is not drained."})
    ask("POST", "/admin/profiles/smollm2-135m/drain", body={"reason": "New weights."})
    ask("POST", "/admin/profiles/smollm2-135m/resume", body={"reason": "They are there."})


def _close_unknowns(witness: Witness) -> None:
    world, ask = witness.world, witness.ask
    world.engine_does("drop")
    for key_of in ("u-1", "u-2", "u-3"):
        witness.generate(key_of)
    witness.generate("u-1")
    ask("GET", "/admin/ledger/stranded")
    unknown = [one["id"] for one in ask("GET", "/admin/operations?state=unknown")["data"]]
    found = {"evidence": "Their console shows it.", "found": "charged", "used": {"input": 1, "output": 1}}
    ask("POST", f"/admin/operations/{unknown[0]}/reconcile", body=found)
    ask("POST", f"/admin/operations/{unknown[1]}/free-slot", body={"reason": "It has ended."})
    ask("POST", f"/admin/operations/{unknown[1]}/write-off", body={"reason": "Nobody knows."})
    ask("POST", f"/admin/operations/{unknown[1]}/write-off", body={"reason": "Nobody knows."})
    ask("GET", f"/v1/operations/{unknown[1]}/timeline", "assistant")


def _quarantine(witness: Witness) -> None:
    witness.world.engine_answers_as("another-model")
    witness.generate("q-1")
    witness.world.engine_answers("It is.")
    witness.ask("POST", "/admin/profiles/smollm2-135m/release", body={"reason": "It is what was approved."})


def test_every_route_was_seen_to_answer_well(witness: Witness) -> None:
    good = {(method, path) for method, path, status in witness.seen if status < 300}
    assert {(route.method, route.path) for route in ROUTES} - good == set()


def test_refusals_of_a_generation_were_seen_too(witness: Witness) -> None:
    statuses = {status for _, path, status in witness.seen if path == "/v1/chat/completions"}
    assert statuses >= {200, 400, 401, 403, 404, 409, 422, 502}
