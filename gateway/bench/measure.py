"""The whole run: start the competitors, let them take turns, and put together what was found."""

import os
import platform
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from gateway.bench import processes, servers
from gateway.bench.breakdown import Stage
from gateway.bench.children import child
from gateway.bench.competitors import Competitors, Up, port_of
from gateway.bench.figures import BESIDE, CITING, FRESH, REPLAYED, Case, Figure, Place, Sample, figures
from gateway.bench.plan import Plan
from gateway.bench.revision import Revision
from gateway.bench.servers import Start
from gateway.bench.variants import measure_variants

Say = Callable[[str], None]


class Report(Struct, frozen=True, kw_only=True):
    """Everything that a run found out."""

    python: str
    machine: str
    cores: int
    load_before: float
    """Load average over the minute before the run: what else the machine did."""
    figures: list[Figure]
    variants: list[Figure]
    """Of gateways over other registries, beside a pass-through of the same moment."""
    starts: list[Start]
    """The first one with a new store."""
    memory_ready_mb: float
    memory_end_mb: float
    server_us: float
    """CPU of the server alone per request: the body read, a fixed answer written."""
    stages: list[Stage]
    revisions: list[Revision]

    @property
    def first_start(self) -> Start:
        return self.starts[0]


def measure(plan: Plan, say: Say) -> Report:
    """Run the plan. ``say`` gets a line for each phase.

    :raises BenchFault: if what was measured is not what it should be. A slow machine is no fault.
    """
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder, ExitStack() as stack:
        engine = stack.enter_context(servers.engine())
        pass_through = stack.enter_context(child("gateway.bench.passthrough", "--engine", engine.url))
        load = stack.enter_context(child("gateway.bench.load"))
        environment = servers.settings(Path(folder), engine_port=engine.port)
        say("starts")
        starts = []
        for _ in range(plan.starts - 1):
            with servers.gateway(environment) as gateway:
                starts.append(gateway.start)
        with servers.gateway(environment) as gateway:
            starts.append(gateway.start)
            memory_ready_mb = processes.resident_mb(gateway.pid)
            data = Path(environment["GATEWAY_DATA"])
            up = Up(
                engine=engine,
                gateway=gateway,
                pass_through=pass_through,
                pass_through_port=port_of(pass_through),
                load=load,
                data=data,
            )
            competitors = Competitors(plan, up)
            say(f"{plan.sources} sources are granted")
            competitors.grant_sources()
            samples = take_turns(competitors, plan, say)
            memory_end_mb = processes.resident_mb(gateway.pid)
        competitors.engine_takes(0)
        return Report(
            python=platform.python_version(),
            machine=platform.machine(),
            cores=os.cpu_count() or 1,
            load_before=load_before,
            figures=figures(samples),
            variants=measure_variants(plan, say) if plan.variants else [],
            starts=starts,
            memory_ready_mb=memory_ready_mb,
            memory_end_mb=memory_end_mb,
            server_us=median(competitors.server_us() for _ in range(plan.rounds + 1)),
            stages=_stages(plan, environment, say),
            revisions=[_revision(profiles, plan, say) for profiles in plan.registries],
        )


def take_turns(competitors: Competitors, plan: Plan, say: Say) -> list[Sample]:
    """All cells. The order turns round with each round, so that a machine that drifts favours nobody."""
    found: list[Sample] = []
    for engine_ms in plan.engine_ms:
        competitors.engine_takes(engine_ms)
        # The engine's delay makes no difference to a saved answer, and none to a decision.
        cases: list[Case] = [BESIDE, FRESH] if engine_ms else [BESIDE, FRESH, REPLAYED, CITING]
        for concurrency in plan.concurrencies:
            say(f"engine stub {engine_ms} ms, {concurrency} at once")
            for case in cases:
                competitors.apply(case, concurrency, plan.warm_up_s)
            for round_ in range(plan.rounds):
                turns = cases if round_ % 2 == 0 else cases[::-1]
                found.extend([competitors.sample(case, Place(engine_ms, concurrency), round_) for case in turns])
    return found


def _stages(plan: Plan, environment: dict[str, str], say: Say) -> list[Stage]:
    if not plan.waves:
        return []
    say("what a fresh request is made of")
    arguments = ("--waves", str(plan.waves), "--concurrency", str(max(plan.concurrencies)))
    with child("gateway.bench.breakdown", *arguments, environment=environment) as breakdown:
        return msgspec.json.decode(breakdown.read(), type=list[Stage])


def _revision(profiles: int, plan: Plan, say: Say) -> Revision:
    say(f"decisions over {profiles} profiles")
    arguments = ("--profiles", str(profiles), "--seconds", str(plan.decisions_s))
    with child("gateway.bench.revision", *arguments) as revision:
        return msgspec.json.decode(revision.read(), type=Revision)
