"""What every implementation of gateway/ports/revisions.py keeps to."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.principal import BUILT_IN_OPERATOR
from gateway.domain.questions import OperateQuestion
from gateway.ports.policy import Policy
from gateway.ports.revisions import Rejected, Revision, Revisions

QUESTION = OperateQuestion(
    tenant=BUILT_IN_OPERATOR.tenant, roles=BUILT_IN_OPERATOR.roles, area="registry", deed="change"
)


class Files(Protocol):
    """What the revisions are prepared from, and what is left of them."""

    revisions: Revisions

    def edit(self) -> None:
        """Change the registry so that it stays sound."""

    def spoil(self) -> None:
        """Break the registry."""

    def running(self) -> int:
        """Policies that still run."""

    async def close(self) -> None: ...


class RevisionsContract:
    """Subclasses give the fixture ``files``."""

    @pytest.fixture
    def files(self) -> Files:
        raise NotImplementedError

    def test_a_revision_is_a_registry_with_a_policy_that_answers(self, files: Files) -> None:
        async def story() -> None:
            revision = await prepared(files)
            assert (await revision.policy.operate(QUESTION)).answer.allow is True
            assert revision.policy.is_up
            assert "acme" in revision.snapshot.tenants

        told(files, story)

    def test_other_files_are_another_revision_and_the_earlier_goes_on(self, files: Files) -> None:
        async def story() -> None:
            first = await prepared(files)
            files.edit()
            second = await prepared(files)
            assert first.snapshot.digest != second.snapshot.digest
            assert first.policy.revision != second.policy.revision
            for revision in (first, second):
                decided = await revision.policy.operate(QUESTION)
                assert decided.decision.revision == revision.policy.revision
            assert files.running() == 2

        told(files, story)

    def test_the_same_files_are_the_same_revision_by_another_policy(self, files: Files) -> None:
        async def story() -> None:
            first, second = await prepared(files), await prepared(files)
            assert first.policy is not second.policy
            assert first.policy.revision == second.policy.revision
            await files.revisions.retire(first.policy)
            assert await answers(second.policy)

        told(files, story)

    def test_a_retired_policy_answers_nothing_and_leaves_nothing(self, files: Files) -> None:
        async def story() -> None:
            revision = await prepared(files)
            await files.revisions.retire(revision.policy)
            assert not await answers(revision.policy)
            assert files.running() == 0

        told(files, story)

    def test_retiring_twice_is_once(self, files: Files) -> None:
        async def story() -> None:
            revision = await prepared(files)
            for _ in range(2):
                await files.revisions.retire(revision.policy)
            assert files.running() == 0

        told(files, story)

    def test_broken_files_are_rejected_with_their_faults_and_nothing_runs(self, files: Files) -> None:
        async def story() -> None:
            files.spoil()
            rejected = await files.revisions.prepare()
            assert isinstance(rejected, Rejected)
            assert rejected.faults
            assert all(fault.file and fault.sentence for fault in rejected.faults)
            assert files.running() == 0

        told(files, story)


async def prepared(files: Files) -> Revision:
    revision = await files.revisions.prepare()
    assert isinstance(revision, Revision), revision
    return revision


async def answers(policy: Policy) -> bool:
    try:
        await policy.operate(QUESTION)
    except PolicyUnavailable:
        return False
    return True


def told(files: Files, story: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        try:
            await story()
        finally:
            await files.close()

    asyncio.run(whole())
