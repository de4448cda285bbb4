"""The rules over a registry of a given size, in a process of its own: what a start takes, and what decisions take.

A real OPA, started as the gateway starts it. It prints a line of JSON and ends.
"""

import resource
import shutil
import tempfile
import time
from pathlib import Path

import click
import msgspec
import uvloop
from msgspec import Struct

from adapters import policy, registry
from adapters.telemetry import Telemetry
from gateway.bench import processes, scrape
from gateway.bench.children import ROOT, BenchFault
from gateway.bench.decisions import Burst, Deciding, Hit, burst, deciding, hit
from gateway.bench.many_profiles import CANDIDATES, grown
from gateway.bench.questions import NOW_S, access, routes
from gateway.domain.snapshot import Snapshot
from gateway.service.memo import Memo

AT_ONCE = (1, 16)
SOURCES = (0, 1, 4, 32)


class Revision(Struct, frozen=True, kw_only=True):
    """A revision that was started and asked."""

    profiles: int
    tenants: int
    bundles: int
    start_s: float
    """Until OPA answers. Without the golden decisions: they belong to the registry as it is committed."""
    start_cpu_s: float
    """CPU of all that a start takes: this process, OPA as it checks the rules, and OPA as it serves them."""
    opa_ready_mb: float
    opa_end_mb: float
    """After all questions."""
    deciding: list[Deciding]
    hits: list[Hit]
    bursts: list[Burst]


async def measure(profiles: int, seconds: float) -> Revision:
    """Start it, ask everything, close it.

    :raises BenchFault: the example registry has faults, there is no OPA, or a decision comes out otherwise.
    """
    snapshot, opa, telemetry = grown(_example(), profiles), policy.find(), Telemetry()
    if opa is None:
        raise BenchFault("There is no accepted OPA. Run: gateway opa install")
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder:
        rules = Path(folder) / "policies"
        shutil.copytree(ROOT / "policies", rules, ignore=shutil.ignore_patterns("golden"))
        started_s, cpu_s = time.perf_counter(), _cpu_s()
        revision = await policy.start(snapshot=snapshot, policies=rules, opa=opa, events=telemetry)
        start_s, cpu_s = time.perf_counter() - started_s, _cpu_s() - cpu_s
        try:
            assert revision.child_pid is not None
            start_cpu_s = cpu_s + processes.cpu_s(revision.child_pid)
            return await _asked(revision, snapshot, telemetry, seconds, start_s=start_s, start_cpu_s=start_cpu_s)
        finally:
            await revision.close()


async def _asked(
    revision: policy.OpaPolicy,
    snapshot: Snapshot,
    telemetry: Telemetry,
    seconds: float,
    *,
    start_s: float,
    start_cpu_s: float,
) -> Revision:
    pid, memo = revision.child_pid, Memo(revision, telemetry)
    assert pid is not None
    opa_ready_mb = processes.resident_mb(pid)
    all_asked = [*map(access, SOURCES), *map(routes, CANDIDATES)]
    decided = [
        await deciding(revision, pid, asked, at_once=at_once, seconds=seconds)
        for asked in all_asked
        for at_once in AT_ONCE
    ]

    def counted() -> dict[str, float]:
        return scrape.read(telemetry.render().decode())

    return Revision(
        profiles=len(snapshot.profiles),
        tenants=len(snapshot.tenants),
        bundles=len(snapshot.bundles),
        start_s=start_s,
        start_cpu_s=start_cpu_s,
        opa_ready_mb=opa_ready_mb,
        opa_end_mb=processes.resident_mb(pid),
        deciding=decided,
        hits=[await hit(memo, asked) for asked in all_asked],
        bursts=[
            await burst(target, through, access(1), counted)
            for target, through in ((memo, "memo"), (revision, "OPA alone"))
        ],
    )


def _example() -> Snapshot:
    loaded = registry.load(ROOT / "registry", at_us=NOW_S * 1_000_000)
    if isinstance(loaded, tuple):
        raise BenchFault("The example registry has faults:\n" + "\n".join(map(str, loaded)))
    return loaded.snapshot


def _cpu_s() -> float:
    """Of this process, and of its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


@click.command()
@click.option("--profiles", required=True, type=click.IntRange(min=CANDIDATES[-1]))
@click.option("--seconds", required=True, type=float, help="For each question.")
def main(profiles: int, seconds: float) -> None:
    """Print what was found as a line of JSON."""
    click.echo(msgspec.json.encode(uvloop.run(measure(profiles, seconds))))


if __name__ == "__main__":
    main()
