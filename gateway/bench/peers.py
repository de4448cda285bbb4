"""``make bench-peers``: the gateway and LiteLLM Proxy beside the same pass-through, in one run.

The proxy is installed in an environment of its own (requirements/peers.txt), and runs as its documentation says for
one worker: no database, one model, its own key, no retries, telemetry and its cost map from the network off. It gets
the same requests over the same connections, and calls the same engine stub.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
from msgspec.structs import replace

from gateway.bench import processes, servers
from gateway.bench.children import ROOT, BenchFault, Child, child, stop
from gateway.bench.competitors import CHAT, ENDLESS, Competitors, Up, port_of
from gateway.bench.figures import BESIDE, FRESH, PEER, Case, Figure, Place, Sample, figures
from gateway.bench.load import Load, Loaded
from gateway.bench.plan import BODY, FULL, QUICK, Plan
from gateway.bench.tables import ms, table, us

NOT_MEASURED = 2
READY_WITHIN_S = 300.0
_KEY = "sk-of-the-bench"
_ALONE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_TELEMETRY": "False",
    "LITELLM_LOG": "ERROR",
    "NO_PROXY": "*",
}
"""Nothing but the engine stub is called."""


@click.command()
@click.option("--peer", type=click.Path(exists=True, path_type=Path), default=ROOT / ".peers/bin/litellm")
@click.option("--quick", is_flag=True, help="One short round.")
@click.option("--markdown", "markdown_file", type=click.Path(path_type=Path), help="Also write the report to a file.")
def main(*, peer: Path, quick: bool, markdown_file: Path | None) -> None:
    """Measure LiteLLM Proxy beside the gateway and a bare pass-through."""
    load_before = os.getloadavg()[0]
    try:
        found = measure(replace(QUICK if quick else FULL, engine_ms=(0,), concurrencies=(16, 64)), peer)
    except BenchFault as fault:
        click.echo(str(fault), err=True)
        sys.exit(NOT_MEASURED)
    text = report(found, load_before)
    click.echo(text)
    if markdown_file is not None:
        markdown_file.write_text(text, encoding="utf-8")


def measure(plan: Plan, peer: Path) -> tuple[list[Figure], float, float]:
    """Figures of all three, and the resident memory of gateway and peer in megabytes.

    :raises BenchFault: if one of them does not answer.
    """
    with (
        tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder,
        servers.engine() as engine,
        child("gateway.bench.passthrough", "--engine", engine.url) as pass_through,
        child("gateway.bench.load") as load,
        litellm_proxy(peer, Path(folder), engine.url) as (process, port),
    ):
        environment = servers.settings(Path(folder), engine_port=engine.port)
        with servers.gateway(environment) as gateway:
            up = Up(
                engine=engine,
                gateway=gateway,
                pass_through=pass_through,
                pass_through_port=port_of(pass_through),
                load=load,
                data=Path(environment["GATEWAY_DATA"]),
            )
            samples = list(_turns(plan, Competitors(plan, up), _Peer(plan, load, process.pid, port)))
            memory = (processes.resident_mb(gateway.pid), processes.resident_mb(process.pid))
        return figures(samples), *memory


def _turns(plan: Plan, competitors: Competitors, peer: "_Peer") -> Iterator[Sample]:
    cases: list[Case] = [BESIDE, FRESH, PEER]
    for concurrency in plan.concurrencies:
        place = Place(0, concurrency)
        for case in (BESIDE, FRESH):
            competitors.apply(case, concurrency, plan.warm_up_s)
        peer.apply(concurrency, plan.warm_up_s)
        for round_ in range(plan.rounds):
            for case in cases if round_ % 2 == 0 else cases[::-1]:
                if case == PEER:
                    yield peer.sample(place, round_)
                else:
                    yield competitors.sample(case, place, round_)


class _Peer:
    """Loads the proxy, and notes what it took."""

    def __init__(self, plan: Plan, load: Child, pid: int, port: int) -> None:
        self._plan = plan
        self._child = load
        self._pid = pid
        self._load = Load(
            port=port,
            path=CHAT,
            concurrency=1,
            requests=plan.cell_requests,
            seconds=plan.cell_s,
            spread_s=0.0,
            token=_KEY,
            prefix="peer-",
            first=0,
            keys=ENDLESS,
            body=BODY,
            numbers=1,
        )

    def apply(self, concurrency: int, seconds: float) -> Loaded:
        """:raises BenchFault: if it answers nothing."""
        self._child.write(msgspec.json.encode(replace(self._load, concurrency=concurrency, seconds=seconds)))
        loaded = msgspec.json.decode(self._child.read(), type=Loaded)
        if not loaded.statuses.get(200):
            raise BenchFault(f"{PEER}: {loaded.requests} requests were answered {loaded.statuses}.")
        return loaded

    def sample(self, place: Place, round_: int) -> Sample:
        """One cell."""
        before_s = processes.cpu_s(self._pid)
        loaded = self.apply(place.concurrency, self._plan.cell_s)
        return Sample(
            case=PEER,
            place=place,
            round=round_,
            requests=loaded.requests,
            failed=loaded.requests - loaded.statuses.get(200, 0),
            seconds=loaded.seconds,
            p50_ms=loaded.p50_ms,
            p99_ms=loaded.p99_ms,
            cpu_us=(processes.cpu_s(self._pid) - before_s) * 1e6 / loaded.requests,
        )


@contextmanager
def litellm_proxy(peer: Path, folder: Path, engine: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """LiteLLM Proxy with one worker, ready, and its port.

    :raises BenchFault: if it ends or does not become ready.
    """
    port = _free_port()
    model = {"model": "openai/smollm2-135m@q4_1", "api_base": engine, "api_key": _KEY, "num_retries": 0}
    settings = {
        "model_list": [{"model_name": "chat", "litellm_params": model}],
        "litellm_settings": {"telemetry": False, "num_retries": 0, "request_timeout": 60},
        "general_settings": {"master_key": _KEY},
    }
    config, log = folder / "litellm.yaml", folder / "litellm.log"
    config.write_text(json.dumps(settings))  # JSON is YAML
    own = {name: value for name, value in os.environ.items() if not name.startswith(("GATEWAY_", "PYTHON"))}
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - a program that its caller names
            [peer, "--config", config, "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"],
            env=own | _ALONE,
            cwd=folder,
            stdout=output,
            stderr=output,
        )
        try:
            _wait(process, port, log)
            yield process, port
        finally:
            stop(process)


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    give_up_s = time.perf_counter() + READY_WITHIN_S
    while time.perf_counter() < give_up_s and process.poll() is None:
        if servers.get(port, "/health/liveliness")[0] == 200:
            return
        time.sleep(0.1)
    raise BenchFault(f"LiteLLM Proxy did not become ready. It said:\n{log.read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def report(found: tuple[list[Figure], float, float], load_before: float) -> str:
    """The report as Markdown."""
    measured, gateway_mb, peer_mb = found
    beside = {figure.place: figure.cpu_us for figure in measured if figure.case == BESIDE}
    head = ("at once", "case", "requests/s", "p50 ms", "p99 ms", "CPU us", "to the pass-through", "requests", "failed")
    rows = [
        (
            str(figure.place.concurrency),
            figure.case,
            f"{figure.per_s:.0f}",
            ms(figure.p50_ms),
            ms(figure.p99_ms),
            us(figure.cpu_us),
            f"{figure.cpu_us / beside[figure.place]:.1f} times",
            str(figure.requests),
            str(figure.failed),
        )
        for figure in measured
    ]
    return (
        f"# Beside LiteLLM Proxy\n\nLoad average {load_before:.1f} before the run. OPA's CPU is not in the gateway's. "
        f"Resident memory: gateway {gateway_mb:.0f} MB, LiteLLM Proxy {peer_mb:.0f} MB.\n\n{table(head, rows)}\n"
    )


if __name__ == "__main__":
    main()
