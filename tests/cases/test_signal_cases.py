"""Failures of other systems around metrics, by the ids of the collection of cases."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.world import Ask

JUNK = 10_000
AT_ONCE = 20


@pytest.fixture
def world(tmp_path: Path) -> Iterator[HttpWorld]:
    world = HttpWorld(tmp_path)
    yield world
    world.close()


def series(world: HttpWorld) -> set[str]:
    """Names with their labels, without the figures."""
    text = world.request("GET", "/metrics", {})[2].decode()
    return {line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")}


def one_of_each(world: HttpWorld) -> None:
    """What junk is going to be answered with has its series before."""
    world.ask(Ask(key="a"))
    world.restart()  # accounts are read at the start, and then every ten seconds
    world.ask(Ask(key="b"))
    send(world, [(0, "junk")])


def send(world: HttpWorld, numbers: list[tuple[int, str]]) -> None:
    """Half of them junk in every field of a request that names something, half of them paths of scanners."""
    token = world.token("assistant")
    connection = HTTPConnection("127.0.0.1", world.port, timeout=30)
    for number, word in numbers:
        name = f"{word}-{number}"
        body: dict[str, Any] = {"model": name, "messages": [{"role": "user", "content": name}]}
        body["gateway"] = {"purpose": name, "sources": [{"id": name, "revision": name}]}
        headers = {
            "Authorization": f"Bearer {token}",
            "Idempotency-Key": name,
            "User-Agent": name,
            "X-Request-Id": name,
        }
        for method, path in (("POST", "/v1/chat/completions"), ("GET", f"/{name}/.env")):
            connection.request(method, path, json.dumps(body) if method == "POST" else None, headers)
            answer = connection.getresponse()
            assert answer.read()
            assert answer.status in {403, 404}, answer.status
    connection.close()


def test_obs_05_junk_model_names_and_paths_make_no_series(world: HttpWorld) -> None:
    one_of_each(world)
    before = series(world)
    numbers = [(number, "CANARY") for number in range(JUNK // 2)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(lambda at: send(world, numbers[at::AT_ONCE]), range(AT_ONCE)):
            pass
    after = series(world)
    assert len(before) > 100
    assert after == before


def test_what_the_engine_tells_of_its_time_is_counted_by_profile(world: HttpWorld) -> None:
    world.engine_fails(Behaviour(delay_ms=50, extra={"timings": {"prompt_ms": 12.5, "predicted_ms": 25}}))
    assert world.ask(Ask()).code is None
    lines = world.request("GET", "/metrics", {})[2].decode().splitlines()
    told = 'gateway_engine_part_seconds_sum{part="%s",profile="smollm2-135m"} %s'
    assert told % ("prefill", 0.0125) in lines
    assert told % ("decode", 0.025) in lines
    assert 'gateway_engine_seconds_count{profile="smollm2-135m"} 1.0' in lines
    assert 'gateway_stage_seconds_count{stage="hand_over"} 1.0' in lines


@pytest.mark.parametrize("timings", ["CANARY", {"prompt_ms": 1e9, "predicted_ms": -1}, {"prompt_ms": 60_000}, []])
def test_times_that_cannot_be_true_make_no_answer_unknown(world: HttpWorld, timings: Any) -> None:
    world.engine_fails(Behaviour(extra={"timings": timings}))
    assert world.ask(Ask()).code is None
    assert b"gateway_engine_part_seconds_sum{" not in world.request("GET", "/metrics", {})[2]


def test_obs_05_a_tenant_and_its_key_stand_in_no_label(world: HttpWorld) -> None:
    world.ask(Ask(key="CANARY-K"))
    shown = "\n".join(series(world))
    for word in ("acme", "assistant", "CANARY", "k-1"):
        assert word not in shown
