"""What every Policy keeps, the fake and the one over OPA. A subclass provides the ends."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar
from uuid import UUID

import pytest

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import AccessQuestion, OperateQuestion, ReplayQuestion, RoutesQuestion, VisibleQuestion
from gateway.ports.policy import Decided, Policy

T = TypeVar("T")


class Ends(Protocol):
    """A policy, and questions whose answers are known."""

    policy: Policy
    access: AccessQuestion
    """Allowed, until ``deny``."""
    routes: RoutesQuestion
    """Served by at least one profile."""
    replay: ReplayQuestion
    """Allowed, until ``deny``."""
    visible: VisibleQuestion
    """At least two aliases, until ``deny``."""
    operate: OperateQuestion
    """Allowed, until ``deny``."""

    async def deny(self) -> None:
        """From now on all of them but ``routes`` are questions with the answer no."""

    async def go_away(self) -> None:
        """From now on nothing can be evaluated."""


class PolicyContract:
    """Inherit, and implement ``ends``."""

    ends: Callable[[], AbstractAsyncContextManager[Ends]]

    def _with_ends(self, use: Callable[[Ends], Awaitable[T]]) -> T:
        async def run() -> T:
            async with self.ends() as ends:
                return await use(ends)

        return asyncio.run(run())

    def test_an_allowed_request_has_a_class_and_nothing_failed(self) -> None:
        async def use(ends: Ends) -> None:
            answer = (await ends.policy.access(ends.access)).answer
            assert answer.allow is True
            assert answer.privacy_class
            assert not answer.failed.request
            assert not any(answer.failed.source.values())

        self._with_ends(use)

    def test_a_denied_request_has_no_class_and_says_why(self) -> None:
        async def use(ends: Ends) -> None:
            await ends.deny()
            answer = (await ends.policy.access(ends.access)).answer
            assert answer.allow is False
            assert answer.privacy_class == ""
            explained = [ends.policy.explain("request", check) for check in answer.failed.request]
            explained += [
                ends.policy.explain("source", check) for checks in answer.failed.source.values() for check in checks
            ]
            assert explained
            assert all(code.code and code.remedy for code in explained)

        self._with_ends(use)

    def test_profiles_that_may_serve_are_of_the_bundle_and_failed_nothing(self) -> None:
        async def use(ends: Ends) -> None:
            answer = (await ends.policy.routes(ends.routes)).answer
            assert answer.routes
            assert [answer.failed[profile] for profile in answer.routes] == [()] * len(answer.routes)

        self._with_ends(use)

    def test_a_saved_answer_is_shown_or_hidden(self) -> None:
        async def use(ends: Ends) -> None:
            assert (await ends.policy.replay(ends.replay)).answer.allow is True
            await ends.deny()
            assert (await ends.policy.replay(ends.replay)).answer.allow is False

        self._with_ends(use)

    def test_aliases_are_seen_in_alphabetical_order_or_not_at_all(self) -> None:
        async def use(ends: Ends) -> None:
            seen = (await ends.policy.visible(ends.visible)).answer
            assert len(seen.aliases) > 1
            assert (list(seen.aliases), seen.failed) == (sorted(seen.aliases), ())
            await ends.deny()
            hidden = (await ends.policy.visible(ends.visible)).answer
            assert hidden.aliases == ()
            assert all(ends.policy.explain("request", check).code for check in hidden.failed)
            assert hidden.failed

        self._with_ends(use)

    def test_who_may_administer_is_allowed_and_who_may_not_is_told_why(self) -> None:
        async def use(ends: Ends) -> None:
            allowed = (await ends.policy.operate(ends.operate)).answer
            assert (allowed.allow, allowed.failed) == (True, ())
            await ends.deny()
            denied = (await ends.policy.operate(ends.operate)).answer
            assert denied.allow is False
            assert all(ends.policy.explain("request", check).code for check in denied.failed)
            assert denied.failed

        self._with_ends(use)

    def test_a_decision_explains_each_check_that_failed_and_nothing_else(self) -> None:
        async def use(ends: Ends) -> None:
            assert [one.decision.failed for one in await _all(ends)] == [()] * 5
            await ends.deny()
            access, _, replay, visible, operate = await _all(ends)
            for decided in (access, replay):
                told = [("request", "", name) for name in decided.answer.failed.request]
                told += [("source", i, name) for i, names in decided.answer.failed.source.items() for name in names]
                _holds_explanation(ends.policy, decided, told)
            for decided in (visible, operate):
                _holds_explanation(ends.policy, decided, [("request", "", name) for name in decided.answer.failed])

        self._with_ends(use)

    def test_a_decision_names_its_question_its_entrypoint_and_the_revision(self) -> None:
        async def use(ends: Ends) -> None:
            decided = [*await _all(ends), await ends.policy.access(ends.access)]
            decisions = [one.decision for one in decided]
            entrypoints = ["access", "routes", "replay", "visible", "operate", "access"]
            assert [decision.entrypoint for decision in decisions] == entrypoints
            assert {decision.revision for decision in decisions} == {ends.policy.revision}
            assert len({decision.id for decision in decisions}) == len(decisions)
            assert {UUID(decision.id).version for decision in decisions} == {7}
            assert len({decision.question_digest for decision in decisions}) == 5
            assert decisions[0].question_digest == decisions[-1].question_digest

        self._with_ends(use)

    def test_without_an_evaluation_there_is_no_answer(self) -> None:
        async def use(ends: Ends) -> None:
            await ends.go_away()
            for asking in (
                lambda: ends.policy.access(ends.access),
                lambda: ends.policy.routes(ends.routes),
                lambda: ends.policy.replay(ends.replay),
                lambda: ends.policy.visible(ends.visible),
                lambda: ends.policy.operate(ends.operate),
            ):
                with pytest.raises(PolicyUnavailable) as unavailable:
                    await asking()
                assert unavailable.value.reason

        self._with_ends(use)


async def _all(ends: Ends) -> list[Decided[Any]]:
    """One decision of each entrypoint."""
    return [
        await ends.policy.access(ends.access),
        await ends.policy.routes(ends.routes),
        await ends.policy.replay(ends.replay),
        await ends.policy.visible(ends.visible),
        await ends.policy.operate(ends.operate),
    ]


def _holds_explanation(policy: Policy, decided: Decided[Any], told: list[tuple[str, str, str]]) -> None:
    """``told``: level, what the check is about, and name of each check that the answer names."""
    explained = [(failed.check, failed.about, failed.code) for failed in decided.decision.failed]
    assert explained == [(f"{level}/{name}", about, policy.explain(level, name).code) for level, about, name in told]
    assert explained
    for failed in decided.decision.failed:
        file, _, line = failed.place.rpartition(":")
        assert file.endswith(".rego")
        assert int(line) > 0
