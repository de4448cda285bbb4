"""Only the closed answer at the right revision is an answer; anything else OPA may say is none."""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from policy_support import ACCESS, OPERATE, REPLAY, RIGHT, ROUTES, VISIBLE, Recorder, Script, envelope, says, stand_in

from adapters.policy.answers import Answer, Question, coherent, explained
from adapters.policy.engine import Engine, Envelope, Reason
from adapters.policy.metadata import Check, Documented
from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import (
    AccessAnswer,
    Failed,
    FailedCheck,
    OperateAnswer,
    ReplayAnswer,
    RoutesAnswer,
    VisibleAnswer,
)
from gateway.domain.refusal import PolicyCode
from gateway.ports.events import Decided

KNOWN = {
    check: Documented(8, f"{check}.rego:8", (), PolicyCode(code=f"no_{check.name}", remedy="Ask."), ())
    for check in (Check("request", "alias"), Check("source", "readable"), Check("route", "region"))
}
CLASSES = {"internal", "private"}
_decode = msgspec.json.Decoder(Envelope[AccessAnswer]).decode


async def ask(engine: Engine) -> AccessAnswer:
    question = msgspec.json.encode(ACCESS)
    return await engine.ask(
        "gateway/access", question, _decode, lambda answer: coherent(ACCESS, answer, KNOWN, CLASSES)
    )


def reason(folder: Path, script: Script) -> str:
    async def run() -> str:
        async with stand_in(folder / "opa.sock", script) as engine:
            with pytest.raises(PolicyUnavailable) as unavailable:
                await ask(engine)
            return unavailable.value.reason

    return asyncio.run(run())


def test_the_closed_answer_is_taken(tmp_path: Path) -> None:
    async def run() -> AccessAnswer:
        async with stand_in(tmp_path / "opa.sock", says(envelope())) as engine:
            return await ask(engine)

    assert asyncio.run(run()).allow is True


def _result(**parts: Any) -> dict[str, Any]:
    return RIGHT | parts


@pytest.mark.parametrize(
    "result",
    [
        False,
        True,
        "true",
        1,
        {},
        [],
        {"allow": True},
        _result(allow="true"),
        _result(allow=1),
        _result(allow=None),
        _result(extra=1),
        _result(privacy_class=None),
        _result(failed={}),
        _result(failed={"request": [], "source": {}, "route": {}}),
        _result(failed={"request": [1], "source": {}}),
    ],
)
def test_opa_01_any_other_shape_is_no_answer(tmp_path: Path, result: object) -> None:
    assert reason(tmp_path, says(envelope(result=result))) == Reason.MALFORMED


def test_opa_01_null_is_no_answer(tmp_path: Path) -> None:
    body = envelope(result="?").replace(b'"?"', b"null")
    assert reason(tmp_path, says(body)) == Reason.MALFORMED


def test_opa_01_one_more_field_around_the_answer_is_no_answer(tmp_path: Path) -> None:
    assert reason(tmp_path, says(envelope(warning={}))) == Reason.MALFORMED


_DENIED = _result(allow=False, privacy_class="")
_SOURCES = {"0": [], "1": []}


@pytest.mark.parametrize(
    "result",
    [
        _result(failed={"request": ["alias"], "source": _SOURCES}),
        _result(failed={"request": [], "source": {"0": [], "1": ["readable"]}}),
        _result(failed={"request": [], "source": {"0": []}}),
        _result(failed={"request": [], "source": {"0": [], "2": []}}),
        _result(privacy_class=""),
        _result(privacy_class="secret"),
        _result(privacy_class="Private"),
        _DENIED,
        _DENIED | {"failed": {"request": ["no_such_check"], "source": _SOURCES}},
        _DENIED | {"failed": {"request": ["alias"], "source": _SOURCES}, "privacy_class": "private"},
    ],
)
def test_opa_01_an_answer_that_contradicts_itself_is_no_answer(tmp_path: Path, result: object) -> None:
    assert reason(tmp_path, says(envelope(result=result))) == Reason.INCOHERENT


_TWO: dict[str, tuple[str, ...]] = {"0": (), "1": ()}


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        (ROUTES, RoutesAnswer(("own",), {"own": (), "rented": ("region",)}), True),
        (ROUTES, RoutesAnswer(("own", "rented"), {"own": (), "rented": ("region",)}), False),
        (ROUTES, RoutesAnswer((), {"own": ()}), False),
        (ROUTES, RoutesAnswer(("own",), {}), False),
        (ROUTES, RoutesAnswer(("own", "own"), {"own": ()}), False),
        (ROUTES, RoutesAnswer((), {"own": ("alias",)}), False),
        (ROUTES, ReplayAnswer(True, Failed((), {})), False),
        (REPLAY, ReplayAnswer(True, Failed((), _TWO)), True),
        (REPLAY, ReplayAnswer(False, Failed((), _TWO)), False),
        (REPLAY, ReplayAnswer(True, Failed((), {"0": ()})), False),
        (VISIBLE, VisibleAnswer(("assist", "chat"), ()), True),
        (VISIBLE, VisibleAnswer((), ()), True),
        (VISIBLE, VisibleAnswer((), ("alias",)), True),
        (VISIBLE, VisibleAnswer(("chat",), ("alias",)), False),
        (VISIBLE, VisibleAnswer((), ("no_such_check",)), False),
        (VISIBLE, VisibleAnswer((), ("readable",)), False),
        (VISIBLE, VisibleAnswer(("chat", "assist"), ()), False),
        (VISIBLE, VisibleAnswer(("chat", "chat"), ()), False),
        (OPERATE, OperateAnswer(True, ()), True),
        (OPERATE, OperateAnswer(False, ("alias",)), True),
        (OPERATE, OperateAnswer(True, ("alias",)), False),
        (OPERATE, OperateAnswer(False, ()), False),
        (OPERATE, OperateAnswer(False, ("no_such_check",)), False),
    ],
)
def test_opa_01_an_answer_is_one_that_sound_rules_can_give(question: Question, answer: Answer, expected: bool) -> None:
    assert coherent(question, answer, KNOWN, CLASSES) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (AccessAnswer(True, "private", Failed((), _TWO)), []),
        (
            AccessAnswer(False, "", Failed(("alias",), {"0": (), "1": ("readable",)})),
            [("request/alias", ""), ("source/readable", "1")],
        ),
        (ReplayAnswer(False, Failed((), {"0": ("readable",)})), [("source/readable", "0")]),
        (RoutesAnswer(("own",), {"own": (), "rented": ("region",)}), [("route/region", "rented")]),
        (VisibleAnswer((), ("alias",)), [("request/alias", "")]),
        (OperateAnswer(True, ()), []),
        (OperateAnswer(False, ("alias",)), [("request/alias", "")]),
    ],
)
def test_what_failed_is_explained_with_code_and_place(answer: Answer, expected: list[tuple[str, str]]) -> None:
    assert explained(answer, KNOWN) == tuple(
        FailedCheck(check=check, about=about, code=f"no_{check.partition('/')[2]}", place=f"{check}.rego:8")
        for check, about in expected
    )


def test_opa_02_an_undefined_rule_is_no_answer(tmp_path: Path) -> None:
    assert reason(tmp_path, says(envelope(result=None))) == Reason.UNDEFINED


async def _hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await asyncio.sleep(60)


async def _close(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (says(b"{}", status="500 Internal Server Error"), Reason.EVALUATION_FAILED),
        (says(envelope(), status="503 Service Unavailable"), Reason.EVALUATION_FAILED),
        (says(b"<html>allow</html>"), Reason.MALFORMED),
        (says(b"<html>allow</html>", media="text/html"), Reason.MALFORMED),
        (says(envelope(), media="text/plain"), Reason.MALFORMED),
        (says(b""), Reason.MALFORMED),
        (says(envelope()[:-10]), Reason.MALFORMED),
        (says(envelope(), length=len(envelope()) + 1), Reason.MALFORMED),
        (says(b"\xff\xfe{}"), Reason.MALFORMED),
        (_close, Reason.UNREACHABLE),
        (_hang, Reason.TIMEOUT),
    ],
    ids=["500", "503", "html", "html type", "text", "empty", "half", "truncated", "no utf-8", "closed", "hangs"],
)
def test_opa_03_an_opa_that_fails_never_allows(tmp_path: Path, script: Script, expected: Reason) -> None:
    assert reason(tmp_path, script) == expected


def test_opa_03_an_opa_that_is_not_there_never_allows(tmp_path: Path) -> None:
    async def run() -> str:
        async with stand_in(tmp_path / "opa.sock", _close) as engine:
            (tmp_path / "opa.sock").unlink()
            with pytest.raises(PolicyUnavailable) as unavailable:
                await ask(engine)
            return unavailable.value.reason

    assert asyncio.run(run()) == Reason.UNREACHABLE


def test_opa_03_a_failure_is_asked_once(tmp_path: Path) -> None:
    """The client would ask a deterministic failure three times."""
    asked = []

    async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(1)
        await says(b"{}", status="500 Internal Server Error")(reader, writer)

    assert reason(tmp_path, fail) == Reason.EVALUATION_FAILED
    assert asked == [1]


def _provenance(version: str = "1.22.3", **bundles: object) -> dict[str, object]:
    return {"version": version, "bundles": bundles}


@pytest.mark.parametrize(
    ("provenance", "expected"),
    [
        (_provenance(b={"revision": "sha256:other"}), Reason.FOREIGN_REVISION),
        (_provenance(b={"revision": "sha256:right"}, c={"revision": "sha256:right"}), Reason.FOREIGN_REVISION),
        (_provenance(), Reason.FOREIGN_REVISION),
        (_provenance("1.22.2", b={"revision": "sha256:right"}), Reason.FOREIGN_REVISION),
        (_provenance(b={}), Reason.MALFORMED),
        (None, Reason.MALFORMED),
    ],
)
def test_opa_08_another_revision_is_no_answer(tmp_path: Path, provenance: object, expected: Reason) -> None:
    assert reason(tmp_path, says(envelope(provenance=provenance))) == expected


async def _trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        for _ in range(100):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.1)


def test_opa_17_a_trickling_opa_holds_nobody_beyond_the_deadline(tmp_path: Path) -> None:
    """100 at once: those that wait for their turn are held to the same deadline, and the loop serves others."""

    async def run() -> tuple[float, list[str], float]:
        async with stand_in(tmp_path / "opa.sock", _trickle) as engine:
            started = time.monotonic()
            waiting = [asyncio.create_task(ask(engine)) for _ in range(100)]
            longest_s = 0.0
            while not all(task.done() for task in waiting):
                turn = time.monotonic()
                await asyncio.sleep(0.01)
                longest_s = max(longest_s, time.monotonic() - turn)
            took_s = time.monotonic() - started
            failures = [task.exception() for task in waiting]
            assert all(isinstance(failure, PolicyUnavailable) for failure in failures)
            return took_s, [str(failure) for failure in failures], longest_s

    took_s, reasons, longest_s = asyncio.run(run())
    assert set(reasons) == {Reason.TIMEOUT}
    assert took_s < 2.0
    assert longest_s < 0.5


def test_no_more_are_in_flight_than_opa_can_work_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    in_flight = highest = 0

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal in_flight, highest
        in_flight += 1
        highest = max(highest, in_flight)
        await asyncio.sleep(0.01)
        in_flight -= 1
        await says(envelope())(reader, writer)

    async def run() -> None:
        async with stand_in(tmp_path / "opa.sock", count) as engine:
            await asyncio.gather(*(ask(engine) for _ in range(20)))

    asyncio.run(run())
    assert highest == 4


def test_every_decision_is_an_event_with_its_failure(tmp_path: Path) -> None:
    async def run() -> list[Any]:
        async with stand_in(tmp_path / "opa.sock", says(envelope())) as engine:
            await ask(engine)
            (tmp_path / "opa.sock").unlink()
            with pytest.raises(PolicyUnavailable):
                await ask(engine)
            return _events(engine)

    events = asyncio.run(run())
    assert all(isinstance(event, Decided) for event in events)
    assert [(event.entrypoint, event.failure) for event in events] == [
        ("access", ""),
        ("access", Reason.UNREACHABLE),
    ]


def test_the_wait_before_its_turn_is_told_apart_from_the_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four are in flight at a time, 0.1 s each, so the last four wait for the first four."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        await says(envelope())(reader, writer)

    async def run() -> list[Any]:
        async with stand_in(tmp_path / "opa.sock", slow) as engine:
            await asyncio.gather(*(ask(engine) for _ in range(8)))
            return _events(engine)

    first, last = (events := asyncio.run(run()))[:4], events[4:]
    assert all(event.waited_s < 0.05 <= event.seconds for event in first)
    assert all(0.08 < event.waited_s < event.seconds - 0.08 for event in last)


def test_a_question_whose_turn_never_came_has_waited_all_of_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)

    async def run() -> list[Any]:
        async with stand_in(tmp_path / "opa.sock", _hang) as engine:
            in_flight = [asyncio.create_task(ask(engine)) for _ in range(4)]
            await asyncio.sleep(0.05)
            waiting = asyncio.create_task(ask(engine))
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.gather(waiting, *in_flight, return_exceptions=True)
            return _events(engine)

    gave_up, *others = asyncio.run(run())
    assert (gave_up.failure, gave_up.waited_s) == ("cancelled", gave_up.seconds)
    assert all(event.failure == Reason.TIMEOUT and event.waited_s < event.seconds for event in others)


def _events(engine: Engine) -> list[Any]:
    recorder = engine._events
    assert isinstance(recorder, Recorder)
    return recorder.events
