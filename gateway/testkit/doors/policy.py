"""The policy door: the repository's Rego in a real OPA, over an edited registry; everything else is a fake."""

import shutil
import tempfile
from pathlib import Path

from adapters import policy as opa
from adapters.telemetry import Telemetry
from gateway.service.active import Active
from gateway.testkit.doors.registry_edits import EDITS
from gateway.testkit.doors.service import ServiceWorld, load
from gateway.testkit.registry_copy import EXAMPLE, copy_registry

POLICIES = EXAMPLE.parent / "policies"


class PolicyWorld(ServiceWorld):
    """Registry changes put another revision in force, as a reload does."""

    async def _put_in_force(self) -> Active:
        copies = Path(tempfile.mkdtemp(dir=self._folder))
        policies = copies / "policies"
        # The golden decisions belong to the registry as it is committed; an edit would contradict them.
        shutil.copytree(POLICIES, policies, ignore=shutil.ignore_patterns("golden"))
        snapshot = load(copy_registry(copies, self._edits))
        binary = opa.find()
        assert binary is not None, "there is no accepted OPA; run: gateway opa install"
        self._opa = await opa.start(snapshot=snapshot, policies=policies, opa=binary, events=Telemetry())
        return Active(snapshot, self._opa)

    def change_registry(self, change: str) -> None:
        async def swap() -> None:
            self._edits.extend(EDITS[change])
            earlier = self._opa
            self._in_force.swap(await self._put_in_force())
            await earlier.close()

        self._loop.call(swap())

    def close(self) -> None:
        self._loop.call(self._opa.close())
        super().close()
