"""SIGTERM: what has reserved nothing is new work, and is told so."""

import json
import signal
import socket
import time

from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.server import Provider

BODY = b'{"model":"chat","messages":[{"role":"user","content":"Is it?"}]}'


def test_a_body_that_has_not_arrived_is_new_work(gateway: GatewayProcess, engine: Provider) -> None:
    gateway.start()
    created = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nIdempotency-Key: k-1\r\n"
        f"Authorization: Bearer {created.stdout.strip()}\r\nContent-Length: {len(BODY)}\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2])), timeout=10) as connection:
        connection.sendall(head + BODY[:10])
        time.sleep(0.3)
        began = time.monotonic()
        assert gateway.signal(signal.SIGTERM) == 0
        assert time.monotonic() - began < 1.8  # GATEWAY_DRAIN_S is 2
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 503")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "draining"
    assert engine.generation_count == 0


def test_a_signal_during_the_start_ends_it_in_order(gateway: GatewayProcess) -> None:
    gateway.start(ready=False)
    gateway.wait_until((gateway.data / "lock").exists, "the store was not opened")
    assert gateway.signal(signal.SIGTERM) == 0
    assert not (gateway.data / "address.json").exists()


def test_a_removed_operator_key_stops_counting(gateway: GatewayProcess) -> None:
    gateway.start()
    leaked = (gateway.data / "operator.key").read_text().strip()
    gateway.signal(signal.SIGTERM)
    (gateway.data / "operator.key").unlink()
    gateway.start()
    fresh = (gateway.data / "operator.key").read_text().strip()
    statuses = [
        gateway.request("GET", "/admin/operations", {"Authorization": f"Bearer {token}"})[0]
        for token in (leaked, fresh)
    ]
    assert statuses == [401, 200]
