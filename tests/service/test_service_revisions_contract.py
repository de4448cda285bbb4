"""The fake revisions keep the contract."""

import pytest
from contract.revisions_contract import Files, RevisionsContract
from msgspec.structs import replace
from service_support import example

from gateway.domain.fault import Fault
from gateway.testkit.fakes.revisions import FakeRevisions


class FakeFiles:
    def __init__(self) -> None:
        self.revisions = FakeRevisions(example())

    def edit(self) -> None:
        self.revisions.snapshot = replace(example(), digest="sha256:edited")

    def spoil(self) -> None:
        self.revisions.faults = [Fault(file="f", line=1, path="", sentence="It is broken.", remedy="Mend it.")]

    def running(self) -> int:
        return len(self.revisions.running)

    async def close(self) -> None:
        pass


class TestFakeRevisions(RevisionsContract):
    @pytest.fixture
    def files(self) -> Files:
        return FakeFiles()
