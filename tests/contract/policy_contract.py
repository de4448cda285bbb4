"""What every Policy keeps, the fake and the one over OPA. A subclass provides the ends."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

import pytest

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import AccessQuestion, ReplayQuestion, RoutesQuestion
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

    async def deny(self) -> None:
        """From now on ``access`` and ``replay`` are questions with the answer no."""

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

    def test_a_decision_names_its_question_its_entrypoint_and_the_revision(self) -> None:
        async def use(ends: Ends) -> None:
            decided: list[Decided[Any]] = [
                await ends.policy.access(ends.access),
                await ends.policy.routes(ends.routes),
                await ends.policy.replay(ends.replay),
                await ends.policy.access(ends.access),
            ]
            decisions = [one.decision for one in decided]
            assert [decision.entrypoint for decision in decisions] == ["access", "routes", "replay", "access"]
            assert {decision.revision for decision in decisions} == {ends.policy.revision}
            assert len({decision.id for decision in decisions}) == len(decisions)
            assert len({decision.question_digest for decision in decisions}) == 3
            assert decisions[0].question_digest == decisions[3].question_digest

        self._with_ends(use)

    def test_without_an_evaluation_there_is_no_answer(self) -> None:
        async def use(ends: Ends) -> None:
            await ends.go_away()
            for asking in (
                lambda: ends.policy.access(ends.access),
                lambda: ends.policy.routes(ends.routes),
                lambda: ends.policy.replay(ends.replay),
            ):
                with pytest.raises(PolicyUnavailable) as unavailable:
                    await asking()
                assert unavailable.value.reason

        self._with_ends(use)
