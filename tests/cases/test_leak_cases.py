"""Content is found nowhere but in the saved result, whatever happens to a request (cases OBS-01, OBS-03, OBS-07).

One real server for all of it, so that each place is looked at after everything that came before, too.
"""

import json
import signal
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from leak_support import PURPOSE, REVISION, SAVED, Leaking, start_refused

from gateway.testkit.doors.http import FACE
from gateway.testkit.loops import LoopThread, until
from gateway.testkit.provider.behaviours import Behaviour, error, redirect
from gateway.testkit.provider.server import Provider

PLAIN = {"model": "chat", "messages": [{"role": "user", "content": "CANARY-USER"}]}


@pytest.fixture(scope="module")
def engine() -> Iterator[Provider]:
    loop = LoopThread("engine")
    provider = Provider(face=FACE)
    loop.call(provider.listen())
    yield provider
    loop.call(provider.__aexit__(None, None, None))
    loop.close()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, engine: Provider) -> Iterator[Leaking]:
    gateway = Leaking(tmp_path_factory.mktemp("gateway"), engine.port)
    gateway.start()
    yield gateway
    gateway.process.close()


@pytest.fixture(autouse=True)
def whole(request: pytest.FixtureRequest) -> None:
    """What a test breaks is whole again before the next one."""
    if "gateway" in request.fixturenames:
        request.getfixturevalue("gateway").breaks()
        request.getfixturevalue("engine").default = Behaviour()
        request.getfixturevalue("gateway").serves_again()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"CANARY-KEY-{request.node.name}"[:255].replace(" ", "-")


# What is in a request


def test_obs_07_every_field_of_a_request_is_content(gateway: Leaking, engine: Provider, key: str) -> None:
    engine.default = Behaviour(content=f"{SAVED} first")
    calls = engine.generation_count
    first, again = gateway.ask(key), gateway.ask(key)
    assert (first[0], again[0]) == (200, 200), first
    assert again[1]["idempotent-replayed"] == "true"
    assert engine.generation_count == calls + 1
    assert gateway.places(first, again) == []
    assert b'"purpose"' in gateway.asked.read_bytes()


def test_obs_07_the_engine_gets_the_words_and_no_credential_key_or_agent(
    gateway: Leaking, engine: Provider, key: str
) -> None:
    gateway.ask(key)
    received = engine.generations[-1]
    assert b"CANARY-DESCRIPTION" in received.body
    headers = repr(received.headers)
    assert "CANARY" not in headers
    for secret in (key, "CANARY-AGENT", "CANARY-ID", "CANARY-CREDENTIAL", *gateway.tokens.values()):
        assert secret not in headers + received.body.decode()


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,CANARY00"}}
ELSEWHERE = {"type": "image_url", "image_url": {"url": "https://CANARY.example/CANARY.png"}}
REFUSED_BODIES: dict[str, tuple[Any, int]] = {
    "an unknown field": (PLAIN | {"metadata": {"who": "CANARY-META"}}, 400),
    "an unknown field in a message": (
        {"model": "chat", "messages": [{"role": "user", "content": "x", "y": "CANARY"}]},
        400,
    ),
    "an unknown model": (PLAIN | {"model": "CANARY-MODEL"}, 404),
    "a purpose that does not exist": (PLAIN | {"gateway": {"purpose": PURPOSE}}, 403),
    "a source that does not exist": (
        PLAIN | {"gateway": {"sources": [{"id": "CANARY-SOURCE", "revision": REVISION}]}},
        403,
    ),
    "a number where text belongs": (PLAIN | {"stop": [1, "CANARY-STOP"]}, 400),
    "an image of a word": ({"model": "chat", "messages": [{"role": "user", "content": [IMAGE]}]}, 0),
    "an image elsewhere": ({"model": "chat", "messages": [{"role": "user", "content": [ELSEWHERE]}]}, 0),
    "more than the context": (PLAIN | {"messages": [{"role": "user", "content": "CANARY " * 1000}]}, 422),
    "a tool that is chosen and not there": (PLAIN | {"tool_choice": "CANARY-CHOICE"}, 0),
}


@pytest.mark.parametrize("what", REFUSED_BODIES)
def test_obs_01_a_refused_body_is_repeated_nowhere(gateway: Leaking, key: str, what: str) -> None:
    body, status = REFUSED_BODIES[what]
    refused = gateway.ask(key, body)
    assert refused[0] == status or (not status and 200 <= refused[0] < 500)
    assert gateway.places(refused) == []


@pytest.mark.parametrize(
    "raw",
    [b'{"CANARY": ', b"CANARY", b'{"model":"CANARY","model":"CANARY"}', b'{"a":"\xffCANARY"}', b'["CANARY"]'],
)
def test_obs_01_a_body_that_cannot_be_read_is_repeated_nowhere(gateway: Leaking, raw: bytes) -> None:
    with closing(HTTPConnection("127.0.0.1", gateway.port, timeout=30)) as connection:
        headers = {"Authorization": f"Bearer {gateway.tokens['acme/assistant']}", "Idempotency-Key": "CANARY-RAW"}
        connection.request("POST", "/v1/chat/completions", raw, headers)
        answer = connection.getresponse()
        shown = (answer.status, dict(answer.getheaders()), answer.read())
    assert shown[0] == 400
    assert gateway.places(shown) == []


def test_obs_01_a_request_that_is_no_http_is_repeated_nowhere(gateway: Leaking) -> None:
    for sent in (
        b"CANARY / CANARY\r\n\r\n",
        b"GET /CANARY HTTP/1.1\r\nCANARY\r\n\r\n",
        b"GET /\xff CANARY HTTP/9\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", gateway.port), 10) as peer:
            peer.sendall(sent)
            assert b"CANARY" not in peer.recv(65536)
    assert gateway.places() == []


# What a provider answers

WORDS = {"type_": "CANARY-T", "code": "CANARY-C", "message": "CANARY-M"}
PROVIDER: dict[str, Behaviour] = {
    **{f"an error {status}": error(status, **WORDS) for status in (400, 401, 404, 408, 409, 422, 429, 500, 503)},
    "an error without a shape": Behaviour(status=500, body="CANARY-TEXT at line 7, Authorization: Bearer CANARY"),
    "an error in a header": Behaviour(status=500, headers={"X-Error": "CANARY", "X-Request-Id": "CANARY"}, body="{}"),
    "a cookie": Behaviour(headers={"Set-Cookie": "CANARY=CANARY", "X-Request-Id": "CANARY", "Server": "CANARY"}),
    "a redirect": redirect("http://127.0.0.1:9/CANARY?key=CANARY"),
    "no JSON": Behaviour(body='{"CANARY": '),
    "another model": Behaviour(model="CANARY-MODEL"),
    "an unknown finish reason": Behaviour(finish_reason="CANARY-REASON"),
    "an id that is a sentence": Behaviour(extra={"id": "CANARY IN A SENTENCE"}),
    "unknown fields": Behaviour(extra={"CANARY": {"CANARY": "CANARY"}, "timings": {"prompt_ms": "CANARY"}}),
    "usage that is nonsense": Behaviour(usage={"prompt_tokens": "CANARY", "completion_tokens": {"CANARY": 1}}),
    "half an answer": Behaviour(content="CANARY", delivery="truncated"),
    "half a chunk": Behaviour(content="CANARY", delivery="truncated_chunked"),
    "no HTTP": Behaviour(delivery="not_http"),
    "nothing, in time": Behaviour(delivery="hang"),
    "a cut": Behaviour(delivery="reset"),
    "too much": Behaviour(content="CANARY" * 800_000),
}


@pytest.mark.parametrize("what", PROVIDER)
def test_obs_03_what_a_provider_says_is_passed_on_to_nobody(
    gateway: Leaking, engine: Provider, key: str, what: str
) -> None:
    engine.default = PROVIDER[what]
    calls = engine.generation_count
    first = gateway.ask(key, PLAIN)
    assert engine.generation_count == calls + 1
    again = gateway.ask(key, PLAIN)
    assert first[0] != 500
    assert gateway.places(first, again) == []


# What breaks within

RAISING = (
    "keys.find",
    "operations.find",
    "operations.result",
    "sources.facts",
    "counter.count",
    "ledger.claim",
    "ledger.dispatch",
    "transport.send",
    "ledger.settle",
    "ledger.refuse",
    "probe.check",
    "accounts.usage",
)


@pytest.mark.parametrize("call", RAISING)
def test_obs_01_an_exception_that_names_what_it_was_given_is_repeated_nowhere(
    gateway: Leaking, key: str, call: str
) -> None:
    before = gateway.warnings
    gateway.breaks(call)
    shown = [gateway.ask(key, PLAIN), gateway.ask(key, PLAIN), gateway.ask(key, PLAIN | {"model": "CANARY"})]
    shown.append(gateway.ask(f"{key}-2", PLAIN | {"gateway": {"purpose": PURPOSE}}))
    until(lambda: gateway.warnings > before, f"{call} was not called", within_s=30)
    gateway.breaks()
    assert gateway.places(*shown) == []


# What is read and what ends


def test_obs_01_a_reload_of_broken_files_repeats_no_value(gateway: Leaking) -> None:
    registry = Path(gateway.process.environment["GATEWAY_REGISTRY"])
    tenant = registry / "tenants" / "acme.yaml"
    good = tenant.read_text()
    for broken in (
        good + "extra: sk-CANARYCANARYCANARYCANARYCANARY\n",
        good.replace("default_purpose: ", "default_purpose: CANARY-", 1),
        good + "api_key: CANARY-SECRET\n",
        "- CANARY: [",
    ):
        tenant.write_text(broken)
        refused = gateway.request("POST", "/admin/reload", "operator", {})
        assert refused[0] == 409
        assert json.loads(refused[2])["faults"]
        assert gateway.places(refused) == []
    tenant.write_text(good)
    assert gateway.request("POST", "/admin/reload", "operator", {})[0] == 200


def test_obs_01_a_refused_start_repeats_no_value(gateway: Leaking, tmp_path: Path) -> None:
    environment = gateway.process.environment | {"GATEWAY_DATA": str(tmp_path / "data")}
    for wrong in ({"GATEWAY_LISTEN": "CANARY"}, {"GATEWAY_DRAIN_S": "CANARY"}, {"GATEWAY_SECRET": "CANARY"}):
        assert "CANARY" not in start_refused(environment | wrong)


@pytest.fixture
def another(tmp_path: Path, engine: Provider) -> Iterator[Leaking]:
    """A gateway for a test that ends it."""
    gateway = Leaking(tmp_path, engine.port)
    gateway.start()
    yield gateway
    gateway.process.close()


def test_obs_01_a_gateway_that_breaks_repeats_nothing_at_its_end(another: Leaking) -> None:
    """A sweep that raises ends the process."""
    first = another.ask("CANARY-K")
    another.breaks("ledger.sweep")
    until(lambda: another.process.ended() is not None, "a broken sweep did not end it")
    assert another.places(first) == []
    assert '"where":"background"' in another.process.log.read_text()


def test_obs_01_what_a_drain_cuts_off_is_repeated_nowhere(another: Leaking, engine: Provider) -> None:
    engine.default = Behaviour(delivery="hang")
    cut: list[Any] = []
    asking = threading.Thread(target=lambda: cut.append(another.ask("CANARY-CUT")))
    calls = engine.generation_count
    asking.start()
    until(lambda: engine.generation_count > calls or bool(cut), "nothing was sent")
    assert not cut, cut
    assert another.process.signal(signal.SIGTERM) == 0
    asking.join()
    engine.default = Behaviour()
    assert another.places(*cut) == []


def test_obs_01_an_answer_is_in_the_result_table_and_nowhere_else(gateway: Leaking, engine: Provider) -> None:
    engine.default = Behaviour(content=f"{SAVED} of the last")
    answered = gateway.ask("CANARY-SAVED")
    assert answered[0] == 200
    assert SAVED.encode() in answered[2]
    with closing(sqlite3.connect(f"file:{gateway.process.data / 'gateway.db'}?mode=ro", uri=True)) as store:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        holding = [name for name in tables if SAVED in repr(store.execute(f"SELECT * FROM {name}").fetchall())]
    assert holding == ["result"]
    assert SAVED not in gateway.process.log.read_text()
    operation = answered[1]["operation-id"]
    for who, allowed in (("acme/assistant", 200), ("acme/reporter", 404)):
        status, _, body = gateway.request("GET", f"/v1/operations/{operation}", who)
        assert status == allowed
        assert SAVED not in body.decode()
    other = gateway.ask("CANARY-SAVED", PLAIN | {"seed": 1}, who="acme/reporter")
    assert "idempotent-replayed" not in other[1]
    assert json.loads(other[2]).get("id") != operation
