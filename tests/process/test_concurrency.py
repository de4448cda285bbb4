"""Many callers at once, on the real server."""

import asyncio
import sqlite3
import uuid

import aiohttp

from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.server import Provider

QUESTION = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}


def ask_at_once(gateway: GatewayProcess, keys: list[str]) -> list[tuple[int, bytes, bool]]:
    created = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
    assert created.returncode == 0, created.stderr
    credential = {"Authorization": f"Bearer {created.stdout.strip()}"}

    async def all_of_them() -> list[tuple[int, bytes, bool]]:
        async with aiohttp.ClientSession(headers=credential) as session:

            async def one(key: str) -> tuple[int, bytes, bool]:
                url, headers = f"{gateway.url}/v1/chat/completions", {"Idempotency-Key": key}
                async with session.post(url, json=QUESTION, headers=headers) as answer:
                    return answer.status, await answer.read(), "Idempotent-Replayed" in answer.headers

            return await asyncio.gather(*(one(key) for key in keys))

    return asyncio.run(all_of_them())


def rows(gateway: GatewayProcess, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{gateway.data / 'gateway.db'}?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def commits(gateway: GatewayProcess) -> int:
    lines = gateway.request("GET", "/metrics")[2].decode().splitlines()
    return int(float(next(line.split()[1] for line in lines if line.startswith("gateway_commit_seconds_count"))))


def test_dup_07_ten_requests_with_one_key_are_one_dispatch(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(delay_ms=50)
    gateway.start()
    answers = ask_at_once(gateway, ["k-1"] * 10)
    fresh = [body for status, body, replayed in answers if status == 200 and not replayed]
    again = [body for status, body, replayed in answers if status == 200 and replayed]
    assert len(fresh) == 1
    assert set(again) <= set(fresh)
    assert sorted({status for status, _, _ in answers}) in ([200], [200, 409])
    assert engine.generation_count == 1
    assert rows(gateway, "SELECT count(*) FROM attempt") == [(1,)]


def test_sixty_four_keys_are_sixty_four_dispatches_in_few_commits(gateway: GatewayProcess, engine: Provider) -> None:
    gateway.start()
    keys = [uuid.uuid4().hex for _ in range(64)]
    ask_at_once(gateway, ["warm"])
    before = commits(gateway)
    answers = ask_at_once(gateway, keys)
    assert {status for status, _, _ in answers} == {200}
    assert engine.generation_count == 65
    assert commits(gateway) - before <= 3 * 64 + 2  # a key was made, and the sweep may have looked in between
    assert rows(gateway, "SELECT state, count(*) FROM attempt GROUP BY state") == [("completed", 65)]
    assert rows(gateway, "PRAGMA integrity_check") == [("ok",)]
    for moved in ("granted", "dispatching", "completed"):
        assert rows(gateway, f"SELECT count(*) FROM audit WHERE kind = '{moved}'") == [(65,)], moved


def test_opa_16_32_slow_calls_leave_the_server_answering(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(delay_ms=300)
    gateway.start()
    answers = ask_at_once(gateway, [uuid.uuid4().hex for _ in range(32)])
    assert {status for status, _, _ in answers} == {200}
    assert gateway.request("GET", "/livez")[0] == 200
