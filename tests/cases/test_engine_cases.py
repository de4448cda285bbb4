"""Cases about engines that load, die, or are drained: a real gateway, and engines that can be killed."""

import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.testkit.doors.http import FACE
from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.registry_copy import slots

PROFILE = "smollm2-135m"
ONE_ENGINE = replace(FACE, slots=8)
QUESTION = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}


class Served:
    """A gateway with one engine, both in processes of their own."""

    def __init__(self, folder: Path, engine: ProviderProcess) -> None:
        self.engine = engine
        self.gateway = GatewayProcess(folder, engine.port, [*slots(8)])
        self._pool = ThreadPoolExecutor(16)
        self._token = ""

    def make_key(self) -> None:
        created = self.gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
        assert created.returncode == 0, created.stderr
        self._token = created.stdout.strip()

    def ask(self, key: str) -> tuple[int, str]:
        """Status and code of the answer."""
        headers = {"Authorization": f"Bearer {self._token}", "Idempotency-Key": key}
        status, _, body = self.gateway.request("POST", "/v1/chat/completions", headers, QUESTION)
        return status, json.loads(body).get("code", "")

    def asking(self, *keys: str) -> list["Future[tuple[int, str]]"]:
        """Ask in the background, and return when the engine has received all of them."""
        before = self.engine.state().generation_count
        asked = [self._pool.submit(self.ask, key) for key in keys]
        self.until(lambda: self.engine.state().generation_count == before + len(keys))
        return asked

    def administer(self, method: str, path: str, body: Any = None) -> Any:
        token = (self.gateway.data / "operator.key").read_text().strip()
        return json.loads(self.gateway.request(method, path, {"Authorization": f"Bearer {token}"}, body)[2])

    def states(self) -> list[str]:
        """Of the operations of callers."""
        found = self.administer("GET", "/admin/operations?tenant=acme")["data"]
        return sorted(one["state"] for one in found)

    def seen(self) -> tuple[str, str]:
        """State and reason of the profile, as /readyz tells anybody."""
        found = json.loads(self.gateway.request("GET", "/readyz")[2])["profiles"][PROFILE]
        return found["state"], found["reason"]

    def until(self, holds: Any) -> None:
        self.gateway.wait_until(holds, "it did not become so")

    def close(self) -> None:
        self.gateway.close()
        self._pool.shutdown()


@pytest.fixture
def engine() -> Iterator[ProviderProcess]:
    with ProviderProcess() as engine:
        engine.show(ONE_ENGINE)
        yield engine


@pytest.fixture
def served(tmp_path: Path, engine: ProviderProcess) -> Iterator[Served]:
    served = Served(tmp_path, engine)
    yield served
    served.close()


def test_eng_02_an_engine_that_loads_gets_nothing_and_nobody_waits_for_it(served: Served) -> None:
    served.engine.show(replace(ONE_ENGINE, health=503))
    served.gateway.start(ready=False)
    served.until((served.gateway.data / "address.json").exists)
    served.until(lambda: served.seen() == ("starting", "loading"))
    served.make_key()
    began = time.monotonic()
    assert served.ask("k-1") == (503, "no_ready_route")
    assert time.monotonic() - began < 1
    assert served.engine.state().generation_count == 0

    # ENG-05: liveness never depends on an engine, readiness does.
    assert served.gateway.request("GET", "/livez")[0] == 200
    assert served.gateway.request("GET", "/readyz")[0] == 503

    served.engine.show(ONE_ENGINE)
    served.until(served.gateway.is_ready)
    assert served.ask("k-1") == (200, "")


def test_eng_05_an_engine_that_is_down_leaves_the_gateway_alive_and_not_ready(served: Served) -> None:
    served.gateway.start()
    served.engine.stop()
    served.until(lambda: served.seen() == ("unready", "unreachable"))
    assert served.gateway.request("GET", "/livez")[0] == 200
    assert served.gateway.request("GET", "/readyz")[0] == 503


def test_eng_06_what_runs_at_sigterm_may_finish_within_the_bound(served: Served) -> None:
    served.gateway.start()
    served.make_key()
    served.engine.script(Behaviour(delay_ms=1_000))
    (asked,) = served.asking("k-1")
    assert served.gateway.signal(signal.SIGTERM) == 0
    assert asked.result() == (200, "")
    served.gateway.start()
    assert served.states() == ["completed"]


def test_eng_06_what_runs_longer_is_unknown_before_the_process_ends(served: Served) -> None:
    served.gateway.start()
    served.make_key()
    served.engine.script(Behaviour(delivery="hang"))
    (asked,) = served.asking("k-1")
    began = time.monotonic()
    assert served.gateway.signal(signal.SIGTERM) == 0
    assert time.monotonic() - began < 8  # GATEWAY_DRAIN_S is 2
    assert asked.result() == (502, "outcome_unknown")
    stranded = json.loads(served.gateway.command("ledger", "stranded", "--json").stdout)
    assert len(stranded) == 3
    served.gateway.start()
    assert served.states() == ["unknown"]
    assert served.ask("k-1") == (409, "outcome_unknown")
    assert served.administer("POST", "/admin/ledger/verify", {})["differences"] == []


def test_eng_10_no_more_at_once_than_the_envelope_and_a_dead_engine_leaves_unknowns(served: Served) -> None:
    served.gateway.start()
    served.make_key()
    served.engine.answer_by_default(Behaviour(delay_ms=3_000))
    eight = served.asking(*(f"k-{n}" for n in range(8)))
    assert served.ask("k-9") == (429, "concurrency_exhausted")
    assert [one.result() for one in eight] == [(200, "")] * 8

    served.engine.answer_by_default(Behaviour(delivery="hang"))
    three = served.asking("d-1", "d-2", "d-3")
    assert served.engine.state().generation_count == 11
    served.engine.stop()
    assert [one.result() for one in three] == [(502, "outcome_unknown")] * 3
    served.until(lambda: served.seen() == ("unready", "unreachable"))
    assert served.ask("k-10") == (503, "no_ready_route")
    assert served.states() == ["completed"] * 8 + ["unknown"] * 3
    assert served.administer("POST", "/admin/ledger/verify", {})["differences"] == []


def test_a_quarantine_outlives_the_process_and_a_person_ends_it_by_the_command_line(served: Served) -> None:
    served.gateway.start()
    served.make_key()
    served.engine.script(Behaviour(model="other@2"))
    assert served.ask("k-1") == (502, "provider_failed_charged")
    assert served.ask("k-2") == (503, "no_ready_route")
    assert served.gateway.signal(signal.SIGKILL) == -signal.SIGKILL

    served.gateway.start(ready=False)
    served.until((served.gateway.data / "address.json").exists)
    assert served.seen() == ("quarantined", "other_model")
    assert served.ask("k-2") == (503, "no_ready_route")
    released = served.gateway.command("profiles", "release", PROFILE, "--reason", "the alias was misspelt")
    assert released.returncode == 0, released.stderr
    served.until(served.gateway.is_ready)
    assert served.ask("k-2") == (200, "")


def test_a_drain_set_without_a_server_counts_at_the_next_start(served: Served) -> None:
    served.gateway.start()
    served.make_key()
    served.gateway.signal(signal.SIGTERM)
    drained = served.gateway.command("profiles", "drain", PROFILE, "--reason", "new drivers")
    assert drained.returncode == 0, drained.stderr
    served.gateway.start(ready=False)
    served.until((served.gateway.data / "address.json").exists)
    assert served.seen() == ("draining", "by_an_operator")
    assert served.ask("k-1") == (503, "no_ready_route")
    assert served.gateway.command("profiles", "resume", PROFILE, "--reason", "done").returncode == 0
    served.until(served.gateway.is_ready)
    assert served.ask("k-1") == (200, "")
