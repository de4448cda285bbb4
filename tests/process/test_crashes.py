"""kill -9, and what the next start makes of it: the crash table of the design."""

import json
import signal
import sqlite3
import threading
from contextlib import suppress
from http.client import HTTPException

from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.server import Provider

QUESTION = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}


def headers(gateway: GatewayProcess, key: str = "k-1") -> dict[str, str]:
    created = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
    assert created.returncode == 0, created.stderr
    return {"Authorization": f"Bearer {created.stdout.strip()}", "Idempotency-Key": key}


def ask(gateway: GatewayProcess, sent: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    return gateway.request("POST", "/v1/chat/completions", sent, QUESTION)


def attempts(gateway: GatewayProcess) -> list[tuple[int, str]]:
    connection = sqlite3.connect(f"file:{next(gateway.data.glob('*.db'))}?mode=ro", uri=True)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return connection.execute("SELECT n, state FROM attempt ORDER BY op_id, n").fetchall()
    finally:
        connection.close()


def held(gateway: GatewayProcess) -> int:
    connection = sqlite3.connect(f"file:{next(gateway.data.glob('*.db'))}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM hold WHERE spend = 'held'").fetchone()[0])
    finally:
        connection.close()


def test_dup_08_killed_between_t1_and_t2_the_grant_is_given_back_and_the_key_works(
    gateway: GatewayProcess, engine: Provider
) -> None:
    gateway.start(struck_at="t2.before")
    sent = headers(gateway)
    with suppress(OSError, HTTPException):
        ask(gateway, sent)
    gateway.wait_until(lambda: gateway.ended() is not None, "the gateway was not struck")
    assert attempts(gateway) == [(1, "granted")]
    assert engine.generation_count == 0

    gateway.start()
    assert attempts(gateway) == [(1, "released")]
    assert held(gateway) == 0
    status, _, _ = ask(gateway, sent)
    assert status == 200
    assert attempts(gateway) == [(1, "released"), (2, "completed")]
    assert engine.generation_count == 1


def test_dup_08_killed_after_the_send_the_outcome_is_unknown_and_nothing_is_sent_again(
    gateway: GatewayProcess, engine: Provider
) -> None:
    engine.default = Behaviour(delivery="hang")
    gateway.start()
    sent = headers(gateway)

    def lost() -> None:
        with suppress(OSError, HTTPException):
            ask(gateway, sent)

    client = threading.Thread(target=lost)
    client.start()
    gateway.wait_until(lambda: engine.generation_count == 1, "the engine received nothing")
    gateway.signal(signal.SIGKILL)
    client.join()
    assert attempts(gateway) == [(1, "dispatching")]

    engine.default = Behaviour()
    gateway.start()
    assert attempts(gateway) == [(1, "unknown")]
    assert held(gateway) == 3  # tenant, quota scope and profile
    status, answer, body = ask(gateway, sent)
    assert (status, json.loads(body)["code"]) == (409, "outcome_unknown")
    assert answer["x-should-retry"] == "false"
    assert "retry-after" not in answer
    assert engine.generation_count == 1


def test_db_03_killed_right_after_the_answer_the_answer_is_there(gateway: GatewayProcess, engine: Provider) -> None:
    gateway.start()
    sent = headers(gateway)
    status, _, first = ask(gateway, sent)
    gateway.signal(signal.SIGKILL)
    assert status == 200

    gateway.start()
    status, answer, again = ask(gateway, sent)
    assert (status, again, answer["idempotent-replayed"]) == (200, first, "true")
    assert engine.generation_count == 1


def test_dup_12_a_client_that_goes_away_changes_nothing(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(content="Late.", delay_ms=400)
    gateway.start()
    sent = headers(gateway)
    connection = _connection(gateway)
    connection.request("POST", "/v1/chat/completions", json.dumps(QUESTION), sent)
    gateway.wait_until(lambda: engine.generation_count == 1, "the engine received nothing")
    connection.close()
    gateway.wait_until(lambda: attempts(gateway) == [(1, "completed")], "the answer was not stored")
    status, answer, body = ask(gateway, sent)
    assert (status, answer["idempotent-replayed"]) == (200, "true")
    assert json.loads(body)["choices"][0]["message"]["content"] == "Late."
    assert engine.generation_count == 1


def test_eng_06_sigterm_lets_a_running_operation_finish(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(content="In time.", delay_ms=700)
    gateway.start()
    sent = headers(gateway)
    connection = _connection(gateway)
    connection.request("POST", "/v1/chat/completions", json.dumps(QUESTION), sent)
    gateway.wait_until(lambda: engine.generation_count == 1, "the engine received nothing")
    assert gateway.signal(signal.SIGTERM) == 0
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["choices"][0]["message"]["content"]) == (200, "In time.")
    connection.close()
    assert attempts(gateway) == [(1, "completed")]


def test_eng_06_sigterm_leaves_what_does_not_finish_as_unknown(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(delivery="hang")
    gateway.start()
    sent = headers(gateway)
    connection = _connection(gateway)
    connection.request("POST", "/v1/chat/completions", json.dumps(QUESTION), sent)
    gateway.wait_until(lambda: engine.generation_count == 1, "the engine received nothing")
    assert gateway.signal(signal.SIGTERM) == 0
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["code"]) == (502, "outcome_unknown")
    connection.close()
    assert attempts(gateway) == [(1, "unknown")]
    assert held(gateway) == 3


def _connection(gateway: GatewayProcess):  # type: ignore[no-untyped-def] # tests are not typed strictly
    from http.client import HTTPConnection

    return HTTPConnection("127.0.0.1", int(gateway.url.rpartition(":")[2]), timeout=30)
