"""The competitors of one run, all of them up: applies loads to them and notes what each took."""

from pathlib import Path

import msgspec
from msgspec import Struct

from gateway.bench import processes, scrape, servers
from gateway.bench.children import BenchFault, Child
from gateway.bench.figures import BESIDE, REPLAYED, Case, Place, Sample
from gateway.bench.load import Load, Loaded
from gateway.bench.plan import BODY, Plan
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.child import ProviderProcess

CHAT = "/v1/chat/completions"
ENDLESS = 10**9


class Up(Struct, frozen=True, kw_only=True):
    """The processes."""

    engine: ProviderProcess
    gateway: servers.Gateway
    pass_through: Child
    load: Child
    data: Path


class Competitors:
    """Fresh requests never share a key; replays go through those of the fresh ones, from the first on."""

    def __init__(self, plan: Plan, up: Up) -> None:
        self._plan = plan
        self._up = up
        self._opa = processes.children(up.gateway.pid)
        self._pass_through_port: int = msgspec.json.decode(up.pass_through.read())["port"]
        self._token = servers.new_token(up.gateway.port, up.data)
        self._fresh_keys = 0
        self._engine_ms = 0

    def engine_takes(self, ms: int) -> None:
        """From now on the engine stub takes so long to answer."""
        self._engine_ms = ms
        self._up.engine.answer_by_default(Behaviour(delay_ms=ms))

    def sample(self, case: Case, place: Place, round_: int) -> Sample:
        """One cell."""
        through_gateway = case != BESIDE
        server = self._up.gateway.pid if through_gateway else self._up.pass_through.pid
        before = self._counted() if through_gateway else {}
        opa_s, cpu_s = sum(map(processes.cpu_s, self._opa)), processes.cpu_s(server)
        loaded = self.apply(case, place.concurrency, self._plan.cell_s)
        cpu_s, opa_s = processes.cpu_s(server) - cpu_s, sum(map(processes.cpu_s, self._opa)) - opa_s
        after = self._counted() if through_gateway else {}
        return Sample(
            case=case,
            place=place,
            round=round_,
            requests=loaded.requests,
            failed=loaded.requests - loaded.statuses.get(200, 0),
            seconds=loaded.seconds,
            p50_ms=loaded.p50_ms,
            p99_ms=loaded.p99_ms,
            cpu_us=cpu_s * 1e6 / loaded.requests,
            opa_us=opa_s * 1e6 / loaded.requests if through_gateway else None,
            transitions_per_commit=scrape.mean(before, after, "gateway_commit_transitions"),
            commit_ms=scrape.mean(before, after, "gateway_commit_seconds", unit=1000),
            decision_ms=scrape.mean(before, after, "gateway_decision_seconds", unit=1000),
        )

    def server_us(self) -> float:
        """CPU per request of the server alone, in microseconds."""
        before_s = processes.cpu_s(self._up.pass_through.pid)
        loaded = self._ask(self._pass_through_port, "/bare", max(self._plan.concurrencies), self._plan.cell_s)
        return (processes.cpu_s(self._up.pass_through.pid) - before_s) * 1e6 / loaded.requests

    def apply(self, case: Case, concurrency: int, seconds: float) -> Loaded:
        """One load of a case.

        :raises BenchFault: if the engine was called otherwise than the case says.
        """
        calls = self._up.engine.state().generation_count
        match case:
            case "pass-through":
                loaded = self._ask(self._pass_through_port, CHAT, concurrency, seconds)
            case "gateway, fresh":
                loaded = self._ask(self._up.gateway.port, CHAT, concurrency, seconds, first=self._fresh_keys)
                self._fresh_keys += loaded.requests
            case "gateway, replayed":
                loaded = self._ask(self._up.gateway.port, CHAT, concurrency, seconds, keys=self._fresh_keys)
        calls = self._up.engine.state().generation_count - calls
        answered = loaded.statuses.get(200, 0)
        if not answered or (calls if case == REPLAYED else calls < answered):
            raise BenchFault(
                f"{case}: {loaded.requests} requests were answered {loaded.statuses} with {calls} calls of the engine."
            )
        return loaded

    def _counted(self) -> dict[str, float]:
        return scrape.read(servers.get(self._up.gateway.port, "/metrics")[1].decode())

    def _ask(
        self, port: int, path: str, concurrency: int, seconds: float, *, first: int = 0, keys: int = ENDLESS
    ) -> Loaded:
        load = Load(
            port=port,
            path=path,
            concurrency=concurrency,
            requests=self._plan.cell_requests,
            seconds=seconds,
            spread_s=self._engine_ms / 1000,
            token=self._token,
            prefix="bench-",
            first=first,
            keys=keys,
            body=BODY,
        )
        self._up.load.write(msgspec.json.encode(load))
        return msgspec.json.decode(self._up.load.read(), type=Loaded)
