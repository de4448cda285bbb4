"""The whole bench on tiny numbers: that it works, never how fast."""

import json
from itertools import product
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from gateway.bench import __main__ as command
from gateway.bench.breakdown import DECISIONS, OF_REPLAY
from gateway.bench.children import BenchFault, child
from gateway.bench.decisions import ASKERS
from gateway.bench.figures import BESIDE, BUDGETED, CITING, FRESH, HOSTED, REPLAYED, UNLIMITED
from gateway.bench.load import Asking, Load, Loaded
from gateway.bench.many_profiles import CANDIDATES
from gateway.bench.measure import Report
from gateway.bench.plan import BODY, CITING_BODY, PROMPT_CHARACTERS, Plan
from gateway.bench.questions import access, routes
from gateway.bench.revision import AT_ONCE, SOURCES
from gateway.bench.servers import FACE, engine
from gateway.bench.variants import measure_variants
from gateway.testkit.provider.behaviours import error

TINY = Plan(
    rounds=1,
    concurrencies=(2,),
    engine_ms=(0, 20),
    cell_s=5.0,
    cell_requests=6,
    warm_up_s=5.0,
    starts=1,
    waves=1,
    variants=False,
    sources=20,
    registries=(32,),
    decisions_s=0.01,
)


def _load(port: int, **changes: object) -> Load:
    fields = {
        "port": port,
        "path": "/v1/chat/completions",
        "concurrency": 3,
        "requests": 10,
        "seconds": 5.0,
        "spread_s": 0.0,
        "token": "t",
        "prefix": "key-",
        "first": 8,
        "keys": 10,
        "body": BODY,
        "numbers": 1,
    }
    return Load(**(fields | changes))  # type: ignore[arg-type]  # the test's own changes


def _line(port: int) -> bytes:
    return msgspec.json.encode(_load(port))


def test_a_load_asks_as_often_as_told_under_the_keys_it_was_given() -> None:
    with child("gateway.bench.load") as load, engine() as stub:
        load.write(_line(stub.port))
        loaded = msgspec.json.decode(load.read(), type=Loaded)
        assert stub.state().generation_count == 10
    assert (loaded.requests, loaded.statuses) == (10, {200: 10})
    assert 0 < loaded.p50_ms <= loaded.p99_ms <= loaded.seconds * 1000


def test_a_load_numbers_the_bodies_and_starts_again_at_the_last_number() -> None:
    asking = Asking(_load(1, body=CITING_BODY, requests=5, first=8, keys=100, numbers=10))
    asked = [asking.next() for _ in range(6)]
    assert asked.pop() is None
    for request, number in zip(asked, (8, 9, 0, 1, 2), strict=True):
        assert request is not None
        head, _, body = request.partition(b"\r\n\r\n")
        assert b"Content-Length: %d\r\n" % len(body) in head
        (source,) = json.loads(body)["gateway"]["sources"]
        assert source == {"id": f"source-{number:06}", "revision": f"revision-{number:06}"}


def test_a_load_counts_answers_other_than_200() -> None:
    with child("gateway.bench.load") as load, engine() as stub:
        stub.script(error(503), error(429))
        load.write(_line(stub.port))
        assert msgspec.json.decode(load.read(), type=Loaded).statuses == {200: 8, 503: 1, 429: 1}


def test_the_bare_pass_through_hands_over_what_the_engine_answers() -> None:
    with engine() as stub, child("gateway.bench.passthrough", "--engine", stub.url) as bare:
        port = json.loads(bare.read())["port"]
        with child("gateway.bench.load") as load:
            load.write(_line(port))
            assert msgspec.json.decode(load.read(), type=Loaded).statuses == {200: 10}
        assert stub.state().generation_count == 10


def test_a_part_that_ends_early_is_a_fault_of_the_bench() -> None:
    with child("gateway.bench.load", "--no-such-option") as load:
        load.write(b"nonsense")
        with pytest.raises(BenchFault, match="ended with 1"):
            load.read()


def test_the_prompt_has_about_300_tokens_and_fits_the_example() -> None:
    assert len(BODY) > PROMPT_CHARACTERS
    assert len(BODY) + json.loads(BODY)["max_tokens"] < FACE.context


def test_the_whole_run_reports_every_case_as_markdown_and_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "QUICK", TINY)
    as_json, as_markdown = tmp_path / "bench.json", tmp_path / "bench.md"
    done = CliRunner().invoke(
        command.main, ["--quick", "--json", str(as_json), "--markdown", str(as_markdown)], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    report = msgspec.json.decode(as_json.read_bytes(), type=Report)
    assert [(f.case, f.place.engine_ms) for f in report.figures] == [
        (BESIDE, 0),
        (FRESH, 0),
        (REPLAYED, 0),
        (CITING, 0),
        (BESIDE, 20),
        (FRESH, 20),
    ]
    assert all((figure.requests, figure.failed) == (6, 0) for figure in report.figures)
    assert {*DECISIONS, OF_REPLAY} < {stage.name for stage in report.stages}
    fresh = report.figures[1]
    # Three durable transitions for each fresh request (the sweep of the running gateway may add its own).
    assert fresh.transitions_per_commit is not None
    assert fresh.transitions_per_commit >= 1
    assert as_markdown.read_text() in done.output
    # Every request that cites another source has its `access` asked.
    assert report.figures[3].decisions is not None
    assert report.figures[3].decisions >= 1
    (revision,) = report.revisions
    assert revision.profiles == 32
    questions = [access(sources).name for sources in SOURCES] + [routes(candidates).name for candidates in CANDIDATES]
    assert [(row.question, row.at_once) for row in revision.deciding] == list(product(questions, AT_ONCE))
    assert [hit.question for hit in revision.hits] == questions
    assert [(burst.through, burst.decisions) for burst in revision.bursts] == [("memo", 1), ("OPA alone", ASKERS)]


def test_gateways_over_other_registries_take_their_turns() -> None:
    measured = measure_variants(TINY, lambda _: None)
    assert [figure.case for figure in measured] == [BESIDE, UNLIMITED, BUDGETED, HOSTED]
    assert all((figure.requests, figure.failed) == (6, 0) for figure in measured)


def test_citing_requests_whose_questions_were_decided_before_are_a_fault_of_the_bench(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one_source = replace(TINY, engine_ms=(0,), cell_requests=12, waves=0, sources=1, registries=())
    monkeypatch.setattr(command, "QUICK", one_source)
    done = CliRunner().invoke(command.main, ["--quick"], catch_exceptions=False)
    assert done.exit_code == command.NOT_MEASURED
    assert "questions were remembered" in done.output
