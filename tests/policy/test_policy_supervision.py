"""OPA that cannot be started for a while, or hangs, is replaced; and where that breaks, somebody is told."""

import asyncio
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest
import uvloop
from policy_support import ACCESS, DRAFT, POLICIES, VISIBLE, Recorder, opa, running
from snapshots import snapshot

from adapters.policy import OpaPolicy, start
from adapters.policy.engine import Reason
from adapters.policy.opa import _ABOUT_NOTHING
from adapters.policy.pulse import Pulse
from gateway.domain.errors import PolicyUnavailable
from gateway.ports.events import Faulted


def _pid(policy: OpaPolicy) -> int:
    assert policy.child_pid is not None
    return policy.child_pid


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)


def test_a_child_that_cannot_be_started_for_a_while_is_started_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when connections have used up the descriptors of the process."""
    monkeypatch.setattr("adapters.policy.child._LONGEST_PAUSE_S", 0.1)

    async def run() -> tuple[list[str], bool]:
        recorder = Recorder()
        async with running(events=recorder) as policy:
            limits = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
            try:
                os.kill(_pid(policy), signal.SIGKILL)
                await asyncio.sleep(0.5)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            assert policy.child_pid is None
            assert not policy.is_up
            await _until(lambda: policy.is_up)
            allow = (await policy.access(ACCESS)).answer.allow
            return [event.kind for event in recorder.events if isinstance(event, Faulted)], allow

    kinds, allow = asyncio.run(run())
    assert kinds[0] == "ended"
    assert set(kinds[1:]) == {"OSError"}
    assert len(kinds) >= 3
    assert allow is True


def test_a_supervision_that_breaks_is_fatal_and_the_child_still_ends_with_the_policy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> tuple[list[Faulted], bool]:
        recorder, told = Recorder(), asyncio.Event()
        policy = await start(snapshot=snapshot(), policies=POLICIES, opa=opa(), events=recorder, on_fatal=told.set)
        async with asyncio.timeout(5):

            async def breaks(_: object) -> None:
                raise RuntimeError("can't start new thread")

            monkeypatch.setattr("adapters.policy.child.Child.start", breaks)
            os.kill(_pid(policy), signal.SIGKILL)
            await told.wait()
        await policy.close()
        return [event for event in recorder.events if isinstance(event, Faulted)], policy.files.path.exists()

    faults, is_left = asyncio.run(run())
    assert faults == [Faulted("policy.child", "ended"), Faulted("policy.child", "RuntimeError")]
    assert not is_left


@pytest.mark.parametrize("loop", [asyncio, uvloop])
def test_a_child_that_hangs_is_replaced_even_where_nobody_asks(loop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.policy.engine._DEADLINE_S", 0.3)
    monkeypatch.setattr("adapters.policy.pulse._PAUSE_S", 0.05)
    monkeypatch.setattr("adapters.policy.pulse._LONGEST_SILENCE_S", 0.6)

    async def run() -> list[Faulted]:
        recorder = Recorder()
        async with running(events=recorder) as policy:
            assert policy.is_up
            hung = _pid(policy)
            os.kill(hung, signal.SIGSTOP)
            await _until(lambda: not policy.is_up)
            assert _pid(policy) == hung
            await _until(lambda: policy.child_pid != hung and policy.is_up)
            assert (await policy.access(ACCESS)).answer.allow is True
            return [event for event in recorder.events if isinstance(event, Faulted)]

    assert loop.run(run()) == [Faulted("policy.child", "hung"), Faulted("policy.child", "ended")]


def test_decisions_that_time_out_tell_that_it_is_not_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.policy.engine._DEADLINE_S", 0.3)
    monkeypatch.setattr("adapters.policy.pulse._PAUSE_S", 60.0)

    async def run() -> None:
        async with running() as policy:
            await policy.access(ACCESS)
            first = _pid(policy)
            os.kill(first, signal.SIGSTOP)
            for _ in range(8):  # together: a moment of silence, and no sign of more
                asyncio.ensure_future(policy.access(DRAFT)).add_done_callback(lambda asked: asked.exception())
            with pytest.raises(PolicyUnavailable) as unavailable:
                await policy.access(ACCESS)
            assert unavailable.value.reason == Reason.TIMEOUT
            assert not policy.is_up
            os.kill(first, signal.SIGCONT)
            assert (await policy.access(ACCESS)).answer.allow is True
            assert policy.is_up
            assert _pid(policy) == first

    asyncio.run(run())


async def _healthy() -> None: ...


async def _asked_in_vain(_: str) -> None: ...


def _after(notes: list[tuple[float, Reason | None]], monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a pulse has ended OPA after these answers and failures, each at its second."""
    killed: list[float] = []

    pulse = Pulse(_healthy, _asked_in_vain, lambda: killed.append(0), Recorder())
    for at_s, failure in notes:
        monkeypatch.setattr(time, "monotonic", lambda at_s=at_s: at_s)
        pulse.note(failure)
    return len(killed)


@pytest.mark.parametrize(
    ("notes", "ended"),
    [
        ([(0, Reason.TIMEOUT), (2.9, Reason.TIMEOUT)], 0),
        ([(0, Reason.TIMEOUT), (3, Reason.TIMEOUT)], 1),
        ([(0, Reason.TIMEOUT), (1, None), (3, Reason.TIMEOUT)], 0),
        ([(0, Reason.TIMEOUT), (1, Reason.MALFORMED), (3, Reason.TIMEOUT)], 0),
        ([(0, Reason.TIMEOUT), (1, Reason.UNREACHABLE), (3, Reason.TIMEOUT)], 0),
        ([(0, Reason.TIMEOUT), (1, Reason.CLOSED), (3, Reason.TIMEOUT)], 1),
        ([(0, Reason.TIMEOUT), (3, Reason.TIMEOUT), (3, Reason.TIMEOUT), (5, Reason.TIMEOUT)], 1),
    ],
)
def test_only_a_silence_without_any_answer_ends_it(
    notes: list[tuple[float, Reason | None]], ended: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _after(notes, monkeypatch) == ended


def test_it_is_not_up_as_soon_as_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.policy.pulse._PAUSE_S", 60.0)
    monkeypatch.setattr("adapters.policy.child._FIRST_PAUSE_S", 0.5)

    async def run() -> bool:
        async with running() as policy:
            await policy.access(ACCESS)
            os.kill(_pid(policy), signal.SIGKILL)
            await _until(lambda: policy.child_pid is None)
            return policy.is_up

    assert asyncio.run(run()) is False


@pytest.mark.parametrize("failure", [Reason.UNDEFINED, Reason.FOREIGN_REVISION])
def test_opa_02_it_is_not_up_while_an_entrypoint_is_without_its_rules(failure: Reason) -> None:
    pulse = Pulse(_healthy, _asked_in_vain, lambda: None, Recorder())
    for entrypoint in ("access", "routes"):
        pulse.note(failure, entrypoint)
    pulse.note(None)  # a look at its health, which knows no rules
    pulse.note(None, "visible")
    assert not pulse.answers
    pulse.note(None, "access")
    assert not pulse.answers
    pulse.note(Reason.MALFORMED, "routes")
    assert not pulse.answers
    pulse.note(None, "routes")
    assert pulse.answers


@pytest.mark.parametrize("failure", [Reason.EVALUATION_FAILED, Reason.INCOHERENT, Reason.MALFORMED])
def test_a_question_that_spoils_its_own_answer_does_not_take_it_down(failure: Reason) -> None:
    """A caller could ask it again and again."""
    pulse = Pulse(_healthy, _asked_in_vain, lambda: None, Recorder())
    pulse.note(failure, "access")
    assert pulse.answers


def test_opa_02_without_a_rule_it_is_not_up_and_nobody_has_to_ask_for_it_to_come_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that is there for some questions alone, as a condition in a wrong place makes it."""
    monkeypatch.setattr("adapters.policy.pulse._PAUSE_S", 0.2)
    policies = Path(copytree(POLICIES, tmp_path / "policies"))
    rmtree(policies / "golden")
    rule = policies / "gateway" / "access" / "access.rego"
    rule.write_text(
        rule.read_text().replace("\nanswer := {", '\nanswer := _answer if input.tenant != "a"\n\n_answer := {')
    )

    async def run() -> None:
        async with running(policies) as policy:
            with pytest.raises(PolicyUnavailable) as unavailable:
                await policy.access(ACCESS)
            assert unavailable.value.reason == Reason.UNDEFINED
            assert not policy.is_up
            await _until(lambda: policy.is_up)

    asyncio.run(run())


def test_opa_02_where_a_rule_is_missing_it_stays_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.policy.pulse._PAUSE_S", 0.05)
    policies = Path(copytree(POLICIES, tmp_path / "policies"))
    rmtree(policies / "golden")
    rule = policies / "gateway" / "access" / "access.rego"
    rule.write_text(rule.read_text().replace("\nanswer := {", "\nanswers := {"))

    async def run() -> None:
        async with running(policies) as policy:
            with pytest.raises(PolicyUnavailable):
                await policy.access(ACCESS)
            for _ in range(10):
                await asyncio.sleep(0.1)
                assert not policy.is_up
            await policy.visible(VISIBLE)
            assert not policy.is_up

    asyncio.run(run())


def test_a_question_about_nothing_is_answered_with_no_by_every_entrypoint() -> None:
    """With which the pulse sees whether there are rules again."""

    async def run() -> None:
        async with running() as policy:
            for entrypoint, (question, _) in _ABOUT_NOTHING.items():
                answer = (await getattr(policy, entrypoint)(question)).answer
                assert not any(getattr(answer, part, ()) for part in ("allow", "routes", "aliases")), entrypoint

    asyncio.run(run())
