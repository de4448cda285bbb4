"""The command line in this process, as a person or a script calls it."""

import sys
from pathlib import Path

import pytest
from msgspec import Struct

from adapters.clock import SystemClock
from adapters.store import open_store
from adapters.telemetry import Telemetry
from gateway.cli.main import main
from gateway.testkit.registry_copy import EXAMPLE

POLICIES = EXAMPLE.parent / "policies"


class Said(Struct, frozen=True):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


class CommandLine:
    """``gateway`` with settings of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.data = folder / "data"
        self.set(GATEWAY_REGISTRY=EXAMPLE, GATEWAY_POLICIES=POLICIES, GATEWAY_DATA=self.data)

    def set(self, **variables: object) -> None:
        for name, value in variables.items():
            self._monkeypatch.setenv(name, str(value))

    def make_store(self) -> None:
        """What a first ``gateway serve`` leaves behind."""
        open_store(self.data, events=Telemetry(), clock=SystemClock(), standing=None, on_fatal=lambda: None).close()

    def __call__(self, *arguments: str) -> Said:
        self._monkeypatch.setattr(sys, "argv", ["gateway", *arguments])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self._capsys.readouterr()
        code = ended.value.code
        assert code is None or isinstance(code, int), code
        assert "Traceback" not in err
        return Said(code or 0, out, err)
