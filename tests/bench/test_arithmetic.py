"""The arithmetic of the bench: percentiles, medians over rounds, what is added, means of histograms."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.telemetry.metrics import MetricsSink
from gateway.bench import processes, scrape
from gateway.bench.figures import BESIDE, FRESH, Case, Figure, Place, Sample, figures, percentile
from gateway.ports.events import Committed, Decided

HERE = Place(0, 64)


def _sample(case: Case, round_: int, **changes: Any) -> Sample:
    plain = Sample(
        case=case, place=HERE, round=round_, requests=100, failed=0, seconds=1.0, p50_ms=1.0, p99_ms=2.0, cpu_us=10.0
    )
    return replace(plain, **changes)


def _figure(found: list[Figure], case: Case) -> Figure:
    return next(figure for figure in found if figure.case == case)


def test_a_percentile_is_the_smallest_value_that_the_share_does_not_exceed() -> None:
    values = [float(n) for n in range(100, 0, -1)]
    assert percentile(values, 0.5) == 50
    assert percentile(values, 0.99) == 99
    assert percentile(values, 1.0) == 100
    assert percentile([1.0, 2.0, 3.0], 0.5) == 2
    assert percentile([7.0], 0.99) == 7


def test_a_percentile_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_figure_is_the_median_of_its_rounds_and_the_sum_of_its_requests() -> None:
    rounds = [
        _sample(FRESH, 0, cpu_us=900.0, requests=100, seconds=1.0, failed=1),
        _sample(FRESH, 1, cpu_us=5_000.0, requests=10, seconds=1.0),
        _sample(FRESH, 2, cpu_us=1_000.0, requests=80, seconds=0.5, failed=2),
    ]
    figure = _figure(figures(rounds), FRESH)
    assert figure.cpu_us == 1_000
    assert figure.per_s == 100
    assert (figure.requests, figure.failed) == (190, 3)


def test_what_is_added_is_compared_within_a_round_and_a_place() -> None:
    samples = [
        _sample(BESIDE, 0, p50_ms=1.0, p99_ms=5.0),
        _sample(FRESH, 0, p50_ms=4.0, p99_ms=9.0),
        # A round on a busy machine: both are slow, the difference is what counts.
        _sample(BESIDE, 1, p50_ms=100.0, p99_ms=200.0),
        _sample(FRESH, 1, p50_ms=103.5, p99_ms=204.0),
        # Another place says nothing about this one.
        _sample(BESIDE, 0, p50_ms=50.0, place=Place(0, 1)),
    ]
    found = figures(samples)
    fresh = _figure(found, FRESH)
    assert fresh.added_p50_ms == 3.25
    assert fresh.added_p99_ms == 4.0
    assert _figure(found, BESIDE).added_p50_ms is None


def test_the_mean_of_a_histogram_covers_only_what_was_observed_in_between() -> None:
    sink = MetricsSink()
    sink.count(Committed(transitions=100, seconds=1.0))
    sink.count(Decided(entrypoint="gateway/access", failure="", waited_s=0.0, seconds=0.5))
    before = scrape.read(sink.render().decode())
    for transitions in (2, 4):
        sink.count(Committed(transitions=transitions, seconds=0.25))
    after = scrape.read(sink.render().decode())
    assert scrape.mean(before, after, "gateway_commit_transitions") == 3
    assert scrape.mean(before, after, "gateway_commit_seconds", unit=1000) == 250
    assert scrape.count(before, after, "gateway_commit_transitions") == 2
    assert scrape.mean(before, after, "gateway_decision_seconds") is None
    assert scrape.count(before, after, "gateway_decision_seconds") == 0


def test_the_cpu_time_of_a_process_counts_its_work_and_not_its_waiting_or_its_children() -> None:
    worked_s = processes.cpu_s(os.getpid())
    until_s = time.process_time() + 0.3
    while time.process_time() < until_s:
        pass
    time.sleep(0.2)
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass"], check=True)
    assert 0.25 < processes.cpu_s(os.getpid()) - worked_s < 0.45


def test_the_children_of_a_process_are_found() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        assert started.pid in processes.children(os.getpid())
        assert started.pid not in processes.children(started.pid)
        assert 1 < processes.resident_mb(started.pid) < 200
        started.communicate(b"\n")
