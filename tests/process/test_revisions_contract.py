"""Revisions from files, with a real OPA for each, keep the contract."""

from pathlib import Path

import pytest
from contract.revisions_contract import Files, RevisionsContract

from adapters.clock import SystemClock
from adapters.telemetry import Telemetry
from gateway.bootstrap.revisions import FileRevisions
from gateway.settings import Settings
from gateway.testkit.process import ROOT
from gateway.testkit.registry_copy import copy_registry


class RealFiles:
    def __init__(self, folder: Path) -> None:
        self._tenant = copy_registry(folder) / "tenants" / "acme.yaml"
        settings = Settings(registry=str(folder / "registry"), policies=str(ROOT / "policies"))
        self.revisions = FileRevisions(settings, SystemClock(), Telemetry(), lambda: None)

    def edit(self) -> None:
        self._tenant.write_text(self._tenant.read_text().replace("title: ", "title: Another "))

    def spoil(self) -> None:
        self._tenant.write_text(self._tenant.read_text().replace("active: true", "active: perhaps"))

    def running(self) -> int:
        return len(self.revisions.opa_pids)

    async def close(self) -> None:
        pids = self.revisions.opa_pids
        await self.revisions.close()
        assert not any(map(is_running, pids))


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


class TestFileRevisions(RevisionsContract):
    @pytest.fixture
    def files(self, tmp_path: Path) -> Files:
        return RealFiles(tmp_path)
