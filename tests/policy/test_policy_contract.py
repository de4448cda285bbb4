"""The contract of Policy on the real one and on the fake."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from contract.policy_contract import Ends, PolicyContract
from msgspec.structs import replace
from policy_support import ACCESS, OPERATE, REPLAY, ROUTES, VISIBLE, running
from snapshots import snapshot

from adapters.policy import OpaPolicy
from gateway.domain.questions import Failed
from gateway.testkit.fakes.policy import ScriptedPolicy


class RealEnds:
    def __init__(self, policy: OpaPolicy) -> None:
        self.policy = policy
        self.access, self.routes, self.replay = ACCESS, ROUTES, REPLAY
        self.visible, self.operate = VISIBLE, OPERATE

    async def deny(self) -> None:
        self.access = replace(ACCESS, groups=("other",), alias="other")
        self.replay = replace(REPLAY, groups=("other",))
        self.visible = replace(VISIBLE, roles=("auditor",))
        self.operate = replace(OPERATE, roles=("auditor",))

    async def go_away(self) -> None:
        await self.policy.close()


class FakeEnds:
    def __init__(self) -> None:
        self.policy = ScriptedPolicy(snapshot())
        self.access, self.routes, self.replay = ACCESS, ROUTES, REPLAY
        self.visible, self.operate = VISIBLE, OPERATE

    async def deny(self) -> None:
        self.policy.operate_denied = True
        self.policy.failed = Failed(request=("alias",), source={"0": ("readable",)})

    async def go_away(self) -> None:
        self.policy.away = "unreachable"


class TestOpa(PolicyContract):
    @asynccontextmanager
    async def ends(self) -> AsyncIterator[Ends]:
        async with running() as policy:
            yield RealEnds(policy)


class TestFake(PolicyContract):
    @asynccontextmanager
    async def ends(self) -> AsyncIterator[Ends]:
        yield FakeEnds()
