"""The competitors of one run, all of them up: applies loads to them and notes what each took."""

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.bench import processes, scrape, servers
from gateway.bench.children import BenchFault, Child
from gateway.bench.figures import BESIDE, CITING, REPLAYED, Case, Place, Sample
from gateway.bench.load import Load, Loaded
from gateway.bench.plan import BODY, CITING_BODY, GRANT_BODY, Plan
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.child import ProviderProcess

CHAT = "/v1/chat/completions"
ENDLESS = 10**9
GRANTS_AT_ONCE = 16
GRANTS_WITHIN_S = 120.0
ASKED_ANEW = 0.9
"""Decisions per citing request that there are at least: a clock that jumps may repeat a few."""


class Up(Struct, frozen=True, kw_only=True):
    """The processes."""

    engine: ProviderProcess
    gateway: servers.Gateway
    pass_through: Child
    pass_through_port: int
    load: Child
    data: Path


def port_of(pass_through: Child) -> int:
    """Where it listens: the first line that it says."""
    port: int = msgspec.json.decode(pass_through.read())["port"]
    return port


class Competitors:
    """Fresh requests never share a key; replays go through those of the fresh ones, from the first on."""

    def __init__(self, plan: Plan, up: Up, *, body: str = BODY) -> None:
        self._plan = plan
        self._up = up
        self._opa = processes.children(up.gateway.pid)
        self._fresh = Load(
            port=up.gateway.port,
            path=CHAT,
            concurrency=1,
            requests=plan.cell_requests,
            seconds=plan.cell_s,
            spread_s=0.0,
            token=servers.new_token(up.gateway.port, up.data),
            prefix="bench-",
            first=0,
            keys=ENDLESS,
            body=body,
            numbers=plan.sources,
        )
        """As the next fresh requests would be asked."""
        self._citing = replace(self._fresh, prefix="citing-", body=CITING_BODY)

    def engine_takes(self, ms: int) -> None:
        """From now on the engine stub takes so long to answer."""
        self._fresh, self._citing = (replace(load, spread_s=ms / 1000) for load in (self._fresh, self._citing))
        self._up.engine.answer_by_default(Behaviour(delay_ms=ms))

    def grant_sources(self) -> None:
        """Register what the citing requests cite, as an administrator does.

        :raises BenchFault: if the gateway refuses one.
        """
        grants = replace(
            self._fresh,
            path="/admin/sources/grant",
            token=servers.operator_token(self._up.data),
            body=GRANT_BODY,
            requests=self._plan.sources,
        )
        statuses = self._ask(grants, GRANTS_AT_ONCE, GRANTS_WITHIN_S).statuses
        if statuses != {200: self._plan.sources}:
            raise BenchFault(f"{self._plan.sources} sources were to be granted; the gateway answered {statuses}.")

    def sample(self, case: Case, place: Place, round_: int) -> Sample:
        """One cell.

        :raises BenchFault: if it was not what the case says.
        """
        through_gateway = case != BESIDE
        server = self._up.gateway.pid if through_gateway else self._up.pass_through.pid
        before = self._counted() if through_gateway else {}
        opa_s, cpu_s = sum(map(processes.cpu_s, self._opa)), processes.cpu_s(server)
        loaded = self.apply(case, place.concurrency, self._plan.cell_s)
        cpu_s, opa_s = processes.cpu_s(server) - cpu_s, sum(map(processes.cpu_s, self._opa)) - opa_s
        after = self._counted() if through_gateway else {}
        decisions = scrape.count(before, after, "gateway_decision_seconds") / loaded.requests
        if case == CITING and decisions < ASKED_ANEW:
            raise BenchFault(f"{case}: OPA was asked {decisions:.2f} times per request, so questions were remembered.")
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
            decisions=decisions if through_gateway else None,
            transitions_per_commit=scrape.mean(before, after, "gateway_commit_transitions"),
            commit_ms=scrape.mean(before, after, "gateway_commit_seconds", unit=1000),
            decision_ms=scrape.mean(before, after, "gateway_decision_seconds", unit=1000),
        )

    def server_us(self) -> float:
        """CPU per request of the server alone, in microseconds."""
        before_s = processes.cpu_s(self._up.pass_through.pid)
        bare = replace(self._fresh, port=self._up.pass_through_port, path="/bare")
        loaded = self._ask(bare, max(self._plan.concurrencies), self._plan.cell_s)
        return (processes.cpu_s(self._up.pass_through.pid) - before_s) * 1e6 / loaded.requests

    def apply(self, case: Case, concurrency: int, seconds: float) -> Loaded:
        """One load of a case.

        :raises BenchFault: if the engine was called otherwise than the case says.
        """
        calls = self._up.engine.state().generation_count
        match case:
            case "pass-through":
                loaded = self._ask(replace(self._fresh, port=self._up.pass_through_port), concurrency, seconds)
            case "gateway, fresh":
                loaded = self._ask(self._fresh, concurrency, seconds)
                self._fresh = replace(self._fresh, first=self._fresh.first + loaded.requests)
            case "gateway, replayed":
                loaded = self._ask(replace(self._fresh, first=0, keys=self._fresh.first), concurrency, seconds)
            case "gateway, citing":
                loaded = self._ask(self._citing, concurrency, seconds)
                self._citing = replace(self._citing, first=self._citing.first + loaded.requests)
            case _:
                raise ValueError(f"{case} is not asked of these competitors")
        calls = self._up.engine.state().generation_count - calls
        answered = loaded.statuses.get(200, 0)
        if not answered or (calls if case == REPLAYED else calls < answered):
            raise BenchFault(
                f"{case}: {loaded.requests} requests were answered {loaded.statuses} with {calls} calls of the engine."
            )
        return loaded

    def _counted(self) -> dict[str, float]:
        return scrape.read(servers.get(self._up.gateway.port, "/metrics")[1].decode())

    def _ask(self, load: Load, concurrency: int, seconds: float) -> Loaded:
        self._up.load.write(msgspec.json.encode(replace(load, concurrency=concurrency, seconds=seconds)))
        return msgspec.json.decode(self._up.load.read(), type=Loaded)
