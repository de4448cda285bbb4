"""``gateway check`` on a copy of the example registry."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from adapters.registry import profile_digest
from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import EXAMPLE, PROFILE, Edit, copy_registry

AT = "2026-12-01T00:00:00Z"
ARCHITECTURE = "architectures/smollm2-135m.json"
_BLOCK = re.compile(r"^  capacity:\n(?:    .*\n)+", re.MULTILINE)


class Checked:
    """One registry, edited and then checked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._edits: list[Edit] = []
        self.faults: tuple[Fault, ...] = ()
        """What the last check told."""

    @property
    def profile_text(self) -> str:
        """The profile's file as it was checked."""
        return (self._folder / "registry" / PROFILE).read_text()

    def edit(self, *edits: Edit) -> None:
        """Edit the files before the next check."""
        self._edits.extend(edits)

    def measured(self, tokens: int, version: str, length: int) -> None:
        """The profile's capacity is measured, not computed."""
        (block,) = _BLOCK.findall((EXAMPLE / PROFILE).read_text())
        said = {
            "basis": "measured",
            "kv_tokens": tokens,
            "context": length,
            "engine_version": version,
            "device": "A machine with two cores",
            "workload": "Two answers of 256 tokens at once",
            "date": "2026-11-30",
            "by": "Robin Reyes",
        }
        lines = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in said.items())
        self.edit(Edit(PROFILE, block, f"  capacity:\n{lines}"))

    def check(self, *edits: Edit) -> None:
        """Copy, edit, approve again as far as that goes, and check."""
        self.edit(*edits)
        directory = copy_registry(self._folder, self._edits)
        assert isinstance(profile_digest(directory, "smollm2-135m"), str), "the edits spoil the file's shape"
        command = [sys.executable, "-m", "gateway", "check", "--at", AT, "--json"]
        environment = os.environ | {"GATEWAY_REGISTRY": str(directory)}
        told = subprocess.run(command, env=environment, capture_output=True, check=False)
        self.faults = msgspec.json.decode(told.stdout, type=tuple[Fault, ...])
        assert (told.returncode, told.stderr) == (1 if self.faults else 0, b"")
