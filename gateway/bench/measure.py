"""The whole run: start the competitors, apply the load in turns, note what each took."""

import os
import platform
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from gateway.bench import processes, scrape, servers
from gateway.bench.breakdown import Stage
from gateway.bench.figures import FRESH, PASS_THROUGH, REPLAYED, Case, Figure, Place, Sample, figures
from gateway.bench.load import Load, Loaded
from gateway.bench.plan import BODY, Plan
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.child import ProviderProcess

CHAT = "/v1/chat/completions"


class Report(Struct, frozen=True, kw_only=True):
    """Everything that a run found out."""

    python: str
    machine: str
    cores: int
    figures: list[Figure]
    first_ready_s: float
    """With a new store."""
    later_ready_s: list[float]
    """With the store of an earlier start."""
    memory_ready_mb: float
    memory_end_mb: float
    server_us: float
    """CPU of the server alone per request: the body read, a fixed answer written."""
    stages: list[Stage]


def measure(plan: Plan, say: Callable[[str], None]) -> Report:
    """Run the plan. ``say`` gets a line for each phase.

    :raises BenchFault: if what was measured is not what it should be. A slow machine is no fault.
    """
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder, ExitStack() as stack:
        engine = stack.enter_context(servers.engine())
        pass_through = stack.enter_context(servers.child("gateway.bench.passthrough", "--engine", engine.url))
        load = stack.enter_context(servers.child("gateway.bench.load"))
        environment = servers.settings(Path(folder), engine_port=engine.port)
        say("starts")
        ready_s = []
        for _ in range(plan.starts - 1):
            with servers.gateway(environment) as started:
                ready_s.append(started.ready_s)
        with servers.gateway(environment) as started:
            ready_s.append(started.ready_s)
            memory_ready_mb = processes.resident_mb(started.pid)
            bench = Bench(plan, engine, started, pass_through, load, Path(environment["GATEWAY_DATA"]))
            samples = bench.samples(say)
            server_us = bench.server_us()
            memory_end_mb = processes.resident_mb(started.pid)
        return Report(
            python=platform.python_version(),
            machine=platform.machine(),
            cores=os.cpu_count() or 1,
            figures=figures(samples),
            first_ready_s=ready_s[0],
            later_ready_s=ready_s[1:],
            memory_ready_mb=memory_ready_mb,
            memory_end_mb=memory_end_mb,
            server_us=server_us,
            stages=_stages(plan, environment, say),
        )


def _stages(plan: Plan, environment: dict[str, str], say: Callable[[str], None]) -> list[Stage]:
    if not plan.waves:
        return []
    say("what a fresh request is made of")
    arguments = ("--waves", str(plan.waves), "--concurrency", str(max(plan.concurrencies)))
    with servers.child("gateway.bench.breakdown", *arguments, environment=environment) as breakdown:
        return msgspec.json.decode(breakdown.read(), type=list[Stage])


class Bench:
    """The competitors of one run, all of them up."""

    def __init__(
        self,
        plan: Plan,
        engine: ProviderProcess,
        gateway: servers.Gateway,
        pass_through: servers.Child,
        load: servers.Child,
        data: Path,
    ) -> None:
        self._plan = plan
        self._engine = engine
        self._gateway = gateway
        self._opa = processes.children(gateway.pid)
        self._pass_through = pass_through
        self._pass_through_port: int = msgspec.json.decode(pass_through.read())["port"]
        self._load = load
        self._token = servers.new_token(gateway.port, data)
        self._fresh_keys = 0

    def samples(self, say: Callable[[str], None]) -> list[Sample]:
        """All cells. Competitors take turns, so that a machine that drifts favours none of them."""
        found: list[Sample] = []
        for engine_ms in self._plan.engine_ms:
            self._engine.answer_by_default(Behaviour(delay_ms=engine_ms))
            # A saved answer does not ask the engine, so its delay makes no difference to a replay.
            cases: list[Case] = [PASS_THROUGH, FRESH] if engine_ms else [PASS_THROUGH, FRESH, REPLAYED]
            for concurrency in self._plan.concurrencies:
                place = Place(engine_ms, concurrency)
                say(f"engine stub {engine_ms} ms, {concurrency} at once")
                for case in cases:
                    self._apply(case, concurrency, self._plan.warm_up_s)
                for round_ in range(self._plan.rounds):
                    for case in cases if round_ % 2 == 0 else reversed(cases):
                        found.append(self._sample(case, place, round_))
        order = {(case, place): n for n, (case, place) in enumerate((s.case, s.place) for s in found)}
        return sorted(found, key=lambda s: (s.place, order[s.case, s.place]))

    def server_us(self) -> float:
        """CPU per request of the server alone, at the highest concurrency."""
        taken: list[float] = []
        for _ in range(self._plan.rounds + 1):  # the first warms up
            before_s = processes.cpu_s(self._pass_through.pid)
            loaded = self._ask(self._pass_through_port, "/bare", max(self._plan.concurrencies), self._plan.cell_s)
            taken.append((processes.cpu_s(self._pass_through.pid) - before_s) * 1e6 / loaded.requests)
        return median(taken[1:])

    def _sample(self, case: Case, place: Place, round_: int) -> Sample:
        through_gateway = case != PASS_THROUGH
        server = self._gateway.pid if through_gateway else self._pass_through.pid
        counted = self._counted() if through_gateway else None
        opa_s, cpu_s = sum(map(processes.cpu_s, self._opa)), processes.cpu_s(server)
        loaded = self._apply(case, place.concurrency, self._plan.cell_s)
        cpu_s, opa_s = processes.cpu_s(server) - cpu_s, sum(map(processes.cpu_s, self._opa)) - opa_s
        sample = Sample(
            case=case,
            place=place,
            round=round_,
            requests=loaded.requests,
            failed=loaded.requests - loaded.statuses.get(200, 0),
            seconds=loaded.seconds,
            p50_ms=loaded.p50_ms,
            p99_ms=loaded.p99_ms,
            cpu_us=cpu_s * 1e6 / loaded.requests,
        )
        if counted is None:
            return sample
        now = self._counted()
        return msgspec.structs.replace(
            sample,
            opa_us=opa_s * 1e6 / loaded.requests,
            transitions_per_commit=scrape.mean(counted, now, "gateway_commit_transitions"),
            decision_ms=scrape.mean(counted, now, "gateway_decision_seconds", unit=1000),
        )

    def _counted(self) -> dict[str, float]:
        return scrape.read(servers.get(self._gateway.port, "/metrics")[1].decode())

    def _apply(self, case: Case, concurrency: int, seconds: float) -> Loaded:
        """One load of a case.

        :raises BenchFault: if the engine was called otherwise than the case says.
        """
        calls = self._engine.state().generation_count
        match case:
            case "pass-through":
                loaded = self._ask(self._pass_through_port, CHAT, concurrency, seconds)
            case "gateway, fresh":
                loaded = self._ask(self._gateway.port, CHAT, concurrency, seconds, first=self._fresh_keys)
                self._fresh_keys += loaded.requests
            case "gateway, replayed":
                loaded = self._ask(self._gateway.port, CHAT, concurrency, seconds, keys=self._fresh_keys)
        calls = self._engine.state().generation_count - calls
        answered = loaded.statuses.get(200, 0)
        if not answered or (calls if case == REPLAYED else calls < answered):
            raise servers.BenchFault(
                f"{case}: {loaded.requests} requests were answered {loaded.statuses} with {calls} calls of the engine."
            )
        return loaded

    def _ask(
        self, port: int, path: str, concurrency: int, seconds: float, *, first: int = 0, keys: int = 10**9
    ) -> Loaded:
        wanted = Load(
            port=port,
            path=path,
            concurrency=concurrency,
            requests=self._plan.cell_requests,
            seconds=seconds,
            token=self._token,
            prefix="bench-",
            first=first,
            keys=keys,
            body=BODY,
        )
        return servers.apply(wanted, self._load)
